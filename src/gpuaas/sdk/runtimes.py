"""Managed runtime bundles: what is on offer, and what an allocation runs with."""

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Repeat, Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.runtimes import (
    AllocationRuntime,
    ApplyRuntimeBundle,
    ChangeRuntimeBundle,
    PublishRuntimeBundle,
    RuntimeAction,
    RuntimeBundle,
    RuntimeBundleDetail,
    StageRuntimeBundle,
    Staging,
    StagingDetail,
    StartedStagings,
)


class Runtimes(Noun[R_co]):
    @Listing
    def list(
        self, *, allocation_id: str | None = None, sku: str | None = None, limit: int | None = None
    ) -> Request[Page[RuntimeBundle]]:
        """With an allocation, or a SKU before there is one, each says whether it fits there and why not."""
        return get(path("runtime-bundles"), Page[RuntimeBundle], allocation_id=allocation_id, sku=sku, limit=limit)

    @Call
    def get(self, allocation_id: str) -> Request[AllocationRuntime]:
        """What is wanted and what is in force; raw compute when there is no bundle."""
        return get(path("allocations", allocation_id, "runtime-bundles"), AllocationRuntime)

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
        """Also switches. A slug is the newest supported version that fits, pinned from then on."""
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
        """Every file on the node is compared with its checksum, and what changed is put right."""
        return change(allocation_id, ApplyRuntimeBundle(action=RuntimeAction.REPAIR, reason=reason), idempotency_key)

    @Call
    def clear(
        self, allocation_id: str, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[AllocationRuntime]:
        """Back to raw compute."""
        return Request(
            method="DELETE",
            path=path("allocations", allocation_id, "runtime-bundles"),
            answer=AllocationRuntime,
            query={"reason": reason or None},
            repeat=Repeat.WITH_KEY,
            idempotency_key=idempotency_key,
        )


class AdminRuntimes(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[RuntimeBundle]]:
        return get(path("admin", "runtime-bundles"), Page[RuntimeBundle], limit=limit)

    @Call
    def get(self, id: str) -> Request[RuntimeBundleDetail]:
        return get(path("admin", "runtime-bundles", id), RuntimeBundleDetail)

    @Call
    def publish(self, bundle: PublishRuntimeBundle, *, idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        return post(path("admin", "runtime-bundles"), RuntimeBundle, bundle, key=idempotency_key)

    @Call
    def stage(self, id: str, *node_ids: str, idempotency_key: str | None = None) -> Request[StartedStagings]:
        """On these nodes; with none named, on every one that it fits."""
        body = StageRuntimeBundle(node_ids=[*node_ids])
        return post(path("admin", "runtime-bundles", id, "stage"), StartedStagings, body, key=idempotency_key)

    @Call
    def deprecate(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        return change_bundle(id, "deprecate", reason, idempotency_key)

    @Call
    def republish(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        return change_bundle(id, "republish", reason, idempotency_key)

    @Call
    def retire(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        return change_bundle(id, "retire", reason, idempotency_key)

    @Listing
    def nodes(self, id: str, *, limit: int | None = None) -> Request[Page[Staging]]:
        return get(path("admin", "runtime-bundles", id, "nodes"), Page[Staging], limit=limit)

    @Call
    def unstage(
        self, id: str, node_id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[Staging]:
        """Off the node, with proof; refused while it is in use there."""
        return Request(
            method="DELETE",
            path=path("admin", "runtime-bundles", id, "nodes", node_id),
            answer=Staging,
            query={"reason": reason},
            repeat=Repeat.WITH_KEY,
            idempotency_key=idempotency_key,
        )

    @Call
    def staging(self, id: str, node_id: str) -> Request[StagingDetail]:
        """Phase by phase, with the node's log lines."""
        return get(path("admin", "runtime-bundles", id, "nodes", node_id), StagingDetail)


def change(allocation_id: str, body: ApplyRuntimeBundle, key: str | None) -> Request[AllocationRuntime]:
    return post(path("allocations", allocation_id, "runtime-bundles"), AllocationRuntime, body, key=key)


def change_bundle(id: str, verb: str, reason: str, key: str | None) -> Request[RuntimeBundle]:
    return post(path("admin", "runtime-bundles", id, verb), RuntimeBundle, ChangeRuntimeBundle(reason=reason), key=key)
