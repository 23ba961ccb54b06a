"""Operators: the catalogue of runtime bundles, and the nodes on which each is staged."""

from litestar import Router, delete, get, post

from gpuaas.api.deps import Context, Cursor, Limit, Reason
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, IllegalMove, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.runtimes import catalog, store
from gpuaas.domain.runtimes.compatibility import BundleIncompatible
from gpuaas.wire.common import Page
from gpuaas.wire.runtimes import (
    BundleState,
    ChangeRuntimeBundle,
    PublishRuntimeBundle,
    RuntimeBundle,
    RuntimeBundleDetail,
    StageRuntimeBundle,
    Staging,
    StagingDetail,
    StartedStagings,
)

READ = problems(NotFound, InsufficientPermissions)
CHANGE = problems(NotFound, InsufficientPermissions, IllegalMove, Conflict)


@get("/admin/runtime-bundles", responses=problems(InsufficientPermissions))
async def list_all_runtime_bundles(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[RuntimeBundle]:
    """The whole catalogue, including retired bundles."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    rows = await store.bundles(context.tx, paging=paging)
    return paging.page([row.view() for row in rows], lambda bundle: bundle.id)


@post("/admin/runtime-bundles", responses=problems(InsufficientPermissions, Conflict))
async def publish_runtime_bundle(data: PublishRuntimeBundle, context: Context) -> RuntimeBundle:
    """Publish a bundle. A version never changes: nodes check the digest of its recipe."""
    return await catalog.publish(context.tx, context.caller, data, ids=context.ids, now=context.now)


@get("/admin/runtime-bundles/{id:str}", responses=READ)
async def get_runtime_bundle(id: str, context: Context) -> RuntimeBundleDetail:
    """One bundle with its recipe: every package by version and checksum, and its check."""
    return await catalog.detail(context.tx, context.caller, id)


@post(
    "/admin/runtime-bundles/{id:str}/stage",
    status_code=202,
    responses=problems(NotFound, InsufficientPermissions, Conflict, BundleIncompatible),
)
async def stage_runtime_bundle(id: str, data: StageRuntimeBundle, context: Context) -> StartedStagings:
    """Stage a bundle on nodes, next to those already there; each staging names its operation."""
    begun = await catalog.stage(context.tx, context.caller, id, data, ids=context.ids, now=context.now)
    return StartedStagings(stagings=begun)


@post("/admin/runtime-bundles/{id:str}/deprecate", status_code=200, responses=CHANGE)
async def deprecate_runtime_bundle(id: str, data: ChangeRuntimeBundle, context: Context) -> RuntimeBundle:
    """Deprecate a bundle: its slug no longer selects it, but an exact version still does."""
    return await catalog.change(
        context.tx, context.caller, id, BundleState.DEPRECATED, reason=data.reason, now=context.now
    )


@post("/admin/runtime-bundles/{id:str}/republish", status_code=200, responses=CHANGE)
async def republish_runtime_bundle(id: str, data: ChangeRuntimeBundle, context: Context) -> RuntimeBundle:
    """Undo a deprecation."""
    return await catalog.change(
        context.tx, context.caller, id, BundleState.PUBLISHED, reason=data.reason, now=context.now
    )


@post("/admin/runtime-bundles/{id:str}/retire", status_code=200, responses=CHANGE)
async def retire_runtime_bundle(id: str, data: ChangeRuntimeBundle, context: Context) -> RuntimeBundle:
    """Retire a bundle permanently: nobody can apply it; allocations that use it keep it."""
    return await catalog.change(
        context.tx, context.caller, id, BundleState.RETIRED, reason=data.reason, now=context.now
    )


@get("/admin/runtime-bundles/{id:str}/nodes", responses=READ)
async def list_stagings(id: str, context: Context) -> Page[Staging]:
    """The nodes on which it is staged, being staged or failed, with the evidence of its check."""
    return Page(items=await catalog.stagings(context.tx, context.caller, id))


@get("/admin/runtime-bundles/{id:str}/nodes/{node_id:str}", responses=READ)
async def get_staging(id: str, node_id: str, context: Context) -> StagingDetail:
    """One staging with its phases and the log lines of the node."""
    return await catalog.staging(context.tx, context.caller, id, node_id)


@delete(
    "/admin/runtime-bundles/{id:str}/nodes/{node_id:str}",
    status_code=202,
    responses=problems(NotFound, InsufficientPermissions, Conflict, catalog.BundleInUse),
)
async def unstage_runtime_bundle(id: str, node_id: str, context: Context, reason: Reason = None) -> Staging:
    """Remove a bundle from a node, which frees its disk; refused while an allocation there uses it or may roll back
    to it.
    """
    return await catalog.unstage(
        context.tx, context.caller, id, node_id, reason=reason or "", ids=context.ids, now=context.now
    )


ROUTER = Router(
    "",
    tags=["platform"],
    route_handlers=[
        list_all_runtime_bundles,
        publish_runtime_bundle,
        get_runtime_bundle,
        stage_runtime_bundle,
        deprecate_runtime_bundle,
        republish_runtime_bundle,
        retire_runtime_bundle,
        list_stagings,
        get_staging,
        unstage_runtime_bundle,
    ],
)
