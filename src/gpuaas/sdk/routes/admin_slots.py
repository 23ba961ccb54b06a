"""Routes of admin slots. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.capacity import ChangeSlot, Slot
from gpuaas.wire.common import Page


class AdminSlotsRoutes(Resource[R_co]):
    @Call
    def approve(
        self, node_id: str, index: int, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Slot]:
        """Approve the slot for sale."""
        body = ChangeSlot(reason=reason)
        return post(path("admin", "nodes", node_id, "slots", index, "approve"), Slot, body, key=idempotency_key)

    @Call
    def disable(
        self, node_id: str, index: int, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Slot]:
        """Take the slot out of service; its current allocation keeps it."""
        body = ChangeSlot(reason=reason)
        return post(path("admin", "nodes", node_id, "slots", index, "disable"), Slot, body, key=idempotency_key)

    @Call
    def enable(
        self, node_id: str, index: int, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Slot]:
        """Put the slot back into service."""
        body = ChangeSlot(reason=reason)
        return post(path("admin", "nodes", node_id, "slots", index, "enable"), Slot, body, key=idempotency_key)

    @Listing
    def list(self, node_id: str, *, limit: int | None = None) -> Request[Page[Slot]]:
        """The node's slots: candidates, approved, claimed, blocked."""
        return get(path("admin", "nodes", node_id, "slots"), Page[Slot], limit=limit)
