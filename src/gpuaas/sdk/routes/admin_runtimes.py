"""Routes of admin runtimes. Generated from the OpenAPI description by `make sdk`; do not edit."""

from collections.abc import Iterable

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.runtimes import (
    ChangeRuntimeBundle,
    PublishRuntimeBundle,
    Recipe,
    RuntimeBundle,
    RuntimeBundleDetail,
    RuntimeFamily,
    StageRuntimeBundle,
    Staging,
    StagingDetail,
    StartedStagings,
    SupportLevel,
)


class AdminRuntimesRoutes(Resource[R_co]):
    @Call
    def deprecate(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        """Deprecate a bundle: its slug no longer selects it, but an exact version still does."""
        body = ChangeRuntimeBundle(reason=reason)
        return post(path("admin", "runtime-bundles", id, "deprecate"), RuntimeBundle, body, key=idempotency_key)

    @Call
    def get(self, id: str) -> Request[RuntimeBundleDetail]:
        """One bundle with its recipe: every package by version and checksum, and its check."""
        return get(path("admin", "runtime-bundles", id), RuntimeBundleDetail)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[RuntimeBundle]]:
        """The whole catalogue, including retired bundles."""
        return get(path("admin", "runtime-bundles"), Page[RuntimeBundle], limit=limit)

    @Listing
    def nodes(self, id: str, *, limit: int | None = None) -> Request[Page[Staging]]:
        """The nodes on which it is staged, being staged or failed, with the evidence of its check."""
        return get(path("admin", "runtime-bundles", id, "nodes"), Page[Staging], limit=limit)

    @Call
    def publish_recipe(
        self,
        *,
        product_name: str,
        slug: str,
        version: str,
        vendor: str,
        runtime_family: RuntimeFamily,
        recipe: Recipe,
        gpu_families: Iterable[str] = (),
        driver_min: str | None = None,
        driver_max: str | None = None,
        support_level: SupportLevel = SupportLevel.SUPPORTED,
        idempotency_key: str | None = None,
    ) -> Request[RuntimeBundle]:
        """Publish a bundle. A version never changes: nodes check the digest of its recipe."""
        body = PublishRuntimeBundle(
            product_name=product_name,
            slug=slug,
            version=version,
            vendor=vendor,
            runtime_family=runtime_family,
            recipe=recipe,
            gpu_families=[*gpu_families],
            driver_min=driver_min,
            driver_max=driver_max,
            support_level=support_level,
        )
        return post(path("admin", "runtime-bundles"), RuntimeBundle, body, key=idempotency_key)

    @Call
    def republish(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        """Undo a deprecation."""
        body = ChangeRuntimeBundle(reason=reason)
        return post(path("admin", "runtime-bundles", id, "republish"), RuntimeBundle, body, key=idempotency_key)

    @Call
    def retire(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[RuntimeBundle]:
        """Retire a bundle permanently: nobody can apply it; allocations that use it keep it."""
        body = ChangeRuntimeBundle(reason=reason)
        return post(path("admin", "runtime-bundles", id, "retire"), RuntimeBundle, body, key=idempotency_key)

    @Call
    def stage_on(
        self, id: str, *, node_ids: Iterable[str] = (), idempotency_key: str | None = None
    ) -> Request[StartedStagings]:
        """Stage a bundle on nodes, next to those already there; each staging names its operation."""
        body = StageRuntimeBundle(node_ids=[*node_ids])
        return post(path("admin", "runtime-bundles", id, "stage"), StartedStagings, body, key=idempotency_key)

    @Call
    def staging(self, id: str, node_id: str) -> Request[StagingDetail]:
        """One staging with its phases and the log lines of the node."""
        return get(path("admin", "runtime-bundles", id, "nodes", node_id), StagingDetail)

    @Call
    def unstage(
        self, id: str, node_id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[Staging]:
        """Remove a bundle from a node, which frees its disk; refused while an allocation there uses it or may roll
        back to it."""
        return delete(path("admin", "runtime-bundles", id, "nodes", node_id), Staging, idempotency_key, reason=reason)
