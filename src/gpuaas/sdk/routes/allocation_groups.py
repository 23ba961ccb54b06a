"""Routes of allocation groups. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.allocations import AllocationGroup, ReleaseAllocation


class AllocationGroupsRoutes(Resource[R_co]):
    @Call
    def get(self, id: str) -> Request[AllocationGroup]:
        """A group and its members."""
        return get(path("allocation-groups", id), AllocationGroup)

    @Call
    def release(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[AllocationGroup]:
        """Release every live member of the group."""
        body = ReleaseAllocation(reason=reason)
        return post(path("allocation-groups", id, "release"), AllocationGroup, body, key=idempotency_key)
