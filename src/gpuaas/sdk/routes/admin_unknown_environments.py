"""Routes of admin unknown environments. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.common import Page
from gpuaas.wire.unknown_environments import AdoptEnvironment, RemoveUnknownEnvironment, UnknownEnvironment


class AdminUnknownEnvironmentsRoutes(Resource[R_co]):
    @Call
    def adopt(
        self,
        node_id: str,
        environment_id: str,
        *,
        reason: str,
        holder_id: str | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Allocation]:
        """Restore the allocation that the ownership record names, on the same slots, port and host key, and the
        attachments of volumes that the database contains."""
        body = AdoptEnvironment(reason=reason, holder_id=holder_id, name=name)
        return post(
            path("admin", "nodes", node_id, "unknown-environments", environment_id, "adopt"),
            Allocation,
            body,
            key=idempotency_key,
        )

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[UnknownEnvironment]]:
        """Every unknown environment of the fleet; each holds its devices."""
        return get(path("admin", "unknown-environments"), Page[UnknownEnvironment], limit=limit)

    @Listing
    def list_of_node(self, node_id: str, *, limit: int | None = None) -> Request[Page[UnknownEnvironment]]:
        """The unknown environments of one node."""
        return get(path("admin", "nodes", node_id, "unknown-environments"), Page[UnknownEnvironment], limit=limit)

    @Call
    def remove(
        self, node_id: str, environment_id: str, *, confirm: str, reason: str, idempotency_key: str | None = None
    ) -> Request[UnknownEnvironment]:
        """Make the node destroy the environment, with proof; it keeps its devices until then."""
        body = RemoveUnknownEnvironment(confirm=confirm, reason=reason)
        return post(
            path("admin", "nodes", node_id, "unknown-environments", environment_id, "remove"),
            UnknownEnvironment,
            body,
            key=idempotency_key,
        )
