"""Routes of runtimes. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.runtimes import AllocationRuntime, ApplyRuntimeBundle, RuntimeAction, RuntimeBundle


class RuntimesRoutes(Resource[R_co]):
    @Call
    def change(
        self,
        allocation_id: str,
        *,
        action: RuntimeAction = RuntimeAction.APPLY,
        runtime_bundle_slug: str | None = None,
        runtime_bundle_id: str | None = None,
        version: str | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[AllocationRuntime]:
        """Apply or switch a bundle, or upgrade, roll back or repair the current one. No restart; running programs
        keep their version."""
        body = ApplyRuntimeBundle(
            action=action,
            runtime_bundle_slug=runtime_bundle_slug,
            runtime_bundle_id=runtime_bundle_id,
            version=version,
            reason=reason,
        )
        return post(path("allocations", allocation_id, "runtime-bundles"), AllocationRuntime, body, key=idempotency_key)

    @Call
    def clear(
        self, allocation_id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[AllocationRuntime]:
        """Remove the runtime."""
        return delete(
            path("allocations", allocation_id, "runtime-bundles"), AllocationRuntime, idempotency_key, reason=reason
        )

    @Call
    def get(self, allocation_id: str) -> Request[AllocationRuntime]:
        """The desired runtime, the active one with its time, and the target of a roll back. Managed bundles are
        supported and observed; environments installed by hand over SSH are allowed but not platform-managed."""
        return get(path("allocations", allocation_id, "runtime-bundles"), AllocationRuntime)

    @Listing
    def list(
        self, *, allocation_id: str | None = None, sku: str | None = None, limit: int | None = None
    ) -> Request[Page[RuntimeBundle]]:
        """Available bundles, newest first. With an allocation, or with a SKU before one exists, each has its
        compatibility and the reason."""
        return get(path("runtime-bundles"), Page[RuntimeBundle], allocation_id=allocation_id, sku=sku, limit=limit)
