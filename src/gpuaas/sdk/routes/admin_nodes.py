"""Routes of admin nodes. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post, put
from gpuaas.wire.capacity import ChangeNode, CreateEnrolmentToken, EnrolmentToken, Node, SetOvercommit
from gpuaas.wire.common import Page


class AdminNodesRoutes(Resource[R_co]):
    @Call
    def create_enrolment_token(
        self, node_name: str, *, region: str = "local", ttl_seconds: int = 300, idempotency_key: str | None = None
    ) -> Request[EnrolmentToken]:
        """Create a single-use token that enrols one computer as a node."""
        body = CreateEnrolmentToken(node_name=node_name, region=region, ttl_seconds=ttl_seconds)
        return post(path("admin", "enrolment-tokens"), EnrolmentToken, body, key=idempotency_key)

    @Call
    def drain(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """Place nothing new on the node; what runs there keeps running."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "drain"), Node, body, key=idempotency_key)

    @Call
    def get(self, id: str) -> Request[Node]:
        """One node, with the facts that its agent reported."""
        return get(path("admin", "nodes", id), Node)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Node]]:
        """The nodes of the fleet."""
        return get(path("admin", "nodes"), Page[Node], limit=limit)

    @Call
    def lost(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """Declare an offline node permanently lost: everything alive on it fails."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "lost"), Node, body, key=idempotency_key)

    @Call
    def quarantine(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """Take the node out of service because of a fault."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "quarantine"), Node, body, key=idempotency_key)

    @Call
    def retire(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """Retire the node permanently; refused while it has claims or volumes on its disk."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "retire"), Node, body, key=idempotency_key)

    @Call
    def rotate_key(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[EnrolmentToken]:
        """Create a single-use token for a rotation of the node's key: `gpuaas agent rotate-key` on the node."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "rotate-key"), EnrolmentToken, body, key=idempotency_key)

    @Call
    def set_disk_overcommit(
        self, id: str, overcommit: float, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Node]:
        """Set how much disk the node sells for each GiB that it has. Above 1, it sells nothing while less than 10 %
        is free."""
        body = SetOvercommit(overcommit=overcommit, reason=reason)
        return put(path("admin", "nodes", id, "disk-overcommit"), Node, body, key=idempotency_key)

    @Call
    def undrain(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """End draining: the node takes new allocations again."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "undrain"), Node, body, key=idempotency_key)

    @Call
    def unquarantine(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Node]:
        """End the quarantine: the node takes new allocations again."""
        body = ChangeNode(reason=reason)
        return post(path("admin", "nodes", id, "unquarantine"), Node, body, key=idempotency_key)
