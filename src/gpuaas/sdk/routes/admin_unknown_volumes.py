"""Routes of admin unknown volumes. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.storage import Volume
from gpuaas.wire.unknown_volumes import AdoptVolume, RemoveVolume, UnknownVolume


class AdminUnknownVolumesRoutes(Resource[R_co]):
    @Call
    def adopt(
        self, node_id: str, volume_id: str, *, reason: str, name: str | None = None, idempotency_key: str | None = None
    ) -> Request[Volume]:
        """Restore the volume that the ownership record names, with its data."""
        body = AdoptVolume(reason=reason, name=name)
        return post(
            path("admin", "nodes", node_id, "unknown-volumes", volume_id, "adopt"), Volume, body, key=idempotency_key
        )

    @Call
    def get(self, node_id: str, volume_id: str) -> Request[UnknownVolume]:
        """One unknown volume; after its removal with the proof."""
        return get(path("admin", "nodes", node_id, "unknown-volumes", volume_id), UnknownVolume)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[UnknownVolume]]:
        """Every unknown volume of the fleet, a shared one once; their data is kept."""
        return get(path("admin", "unknown-volumes"), Page[UnknownVolume], limit=limit)

    @Listing
    def list_of_node(self, node_id: str, *, limit: int | None = None) -> Request[Page[UnknownVolume]]:
        """The unknown volumes that one node sees, including shared ones."""
        return get(path("admin", "nodes", node_id, "unknown-volumes"), Page[UnknownVolume], limit=limit)

    @Call
    def remove(
        self, node_id: str, volume_id: str, *, confirm: str, reason: str, idempotency_key: str | None = None
    ) -> Request[UnknownVolume]:
        """Make a node that sees the volume erase its data, with proof; the volume is never created again."""
        body = RemoveVolume(confirm=confirm, reason=reason)
        return post(
            path("admin", "nodes", node_id, "unknown-volumes", volume_id, "remove"),
            UnknownVolume,
            body,
            key=idempotency_key,
        )
