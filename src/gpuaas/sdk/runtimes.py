"""Managed runtime bundles: one method for each thing that a bundle's routes can be asked for."""

from gpuaas.sdk.methods import Call, R_co
from gpuaas.sdk.requests import Request, path, post
from gpuaas.sdk.routes.admin_runtimes import AdminRuntimesRoutes
from gpuaas.sdk.routes.runtimes import RuntimesRoutes
from gpuaas.wire.runtimes import (
    AllocationRuntime,
    ApplyRuntimeBundle,
    PublishRuntimeBundle,
    RuntimeAction,
    RuntimeBundle,
    StageRuntimeBundle,
    StartedStagings,
)


class Runtimes(RuntimesRoutes[R_co]):
    @Call
    def apply(
        self,
        allocation_id: str,
        slug: str | None = None,
        *,
        bundle_id: str | None = None,
        version: str | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[AllocationRuntime]:
        """Also switches. A slug selects the newest supported version that fits; the allocation keeps that version."""
        body = ApplyRuntimeBundle(runtime_bundle_slug=slug, runtime_bundle_id=bundle_id, version=version, reason=reason)
        return change(allocation_id, body, idempotency_key)

    @Call
    def upgrade(
        self, allocation_id: str, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[AllocationRuntime]:
        return change(allocation_id, ApplyRuntimeBundle(action=RuntimeAction.UPGRADE, reason=reason), idempotency_key)

    @Call
    def roll_back(
        self, allocation_id: str, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[AllocationRuntime]:
        """To the bundle that was in force before."""
        return change(allocation_id, ApplyRuntimeBundle(action=RuntimeAction.ROLL_BACK, reason=reason), idempotency_key)

    @Call
    def repair(
        self, allocation_id: str, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[AllocationRuntime]:
        """Compare every file on the node with its checksum, and replace those that differ."""
        return change(allocation_id, ApplyRuntimeBundle(action=RuntimeAction.REPAIR, reason=reason), idempotency_key)


class AdminRuntimes(AdminRuntimesRoutes[R_co]):
    @Call
    def publish(self, bundle: PublishRuntimeBundle, *, idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        """Publish a bundle that was read from a file; see `gpuaas.sdk.recipes`."""
        return post(path("admin", "runtime-bundles"), RuntimeBundle, bundle, key=idempotency_key)

    @Call
    def stage(self, id: str, *node_ids: str, idempotency_key: str | None = None) -> Request[StartedStagings]:
        """On these nodes; with none named, on every node that it fits."""
        body = StageRuntimeBundle(node_ids=[*node_ids])
        return post(path("admin", "runtime-bundles", id, "stage"), StartedStagings, body, key=idempotency_key)


def change(allocation_id: str, body: ApplyRuntimeBundle, key: str | None) -> Request[AllocationRuntime]:
    return post(path("allocations", allocation_id, "runtime-bundles"), AllocationRuntime, body, key=key)
