"""Routes of admin allocations. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, once, path, post
from gpuaas.wire.allocations import (
    Allocation,
    FleetFilter,
    ForceCleanup,
    InspectedAllocation,
    ReleaseAllocation,
    Status,
)
from gpuaas.wire.common import Page
from gpuaas.wire.terminals import BreakGlassOpened, OpenBreakGlass


class AdminAllocationsRoutes(Resource[R_co]):
    @Call
    def break_glass(
        self, id: str, *, reason: str, minutes: int = 60, session_id: str | None = None
    ) -> Request[BreakGlassOpened]:
        """Open a recorded terminal on another person's allocation. Its people see who, why and until when, and may
        end it."""
        body = OpenBreakGlass(reason=reason, minutes=minutes, session_id=session_id)
        return once(post(path("admin", "allocations", id, "break-glass"), BreakGlassOpened, body))

    @Call
    def end_break_glass(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """End all break-glass access to this allocation; its terminals are closed."""
        return delete(path("admin", "allocations", id, "break-glass"), type(None), idempotency_key)

    @Call
    def force_cleanup(
        self, id: str, *, runtime_verified_absent: bool, reason: str, idempotency_key: str | None = None
    ) -> Request[Allocation]:
        """Confirm a cleanup that a node cannot prove."""
        body = ForceCleanup(runtime_verified_absent=runtime_verified_absent, reason=reason)
        return post(path("admin", "allocations", id, "force-cleanup"), Allocation, body, key=idempotency_key)

    @Call
    def force_release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Allocation]:
        """Release the allocation of any project; its timeline shows that an operator did it."""
        body = ReleaseAllocation(reason=reason)
        return post(path("admin", "allocations", id, "force-release"), Allocation, body, key=idempotency_key)

    @Call
    def inspect(self, id: str) -> Request[InspectedAllocation]:
        """One allocation with its complete timeline, node tasks and proofs."""
        return get(path("admin", "allocations", id), InspectedAllocation)

    @Listing
    def list(
        self,
        *,
        status: Status | None = None,
        node_id: str | None = None,
        only: FleetFilter | None = None,
        limit: int | None = None,
    ) -> Request[Page[Allocation]]:
        """Every allocation of the platform; `?only=unsettled` finds those that are stuck or in transition."""
        return get(
            path("admin", "allocations"), Page[Allocation], status=status, node_id=node_id, only=only, limit=limit
        )
