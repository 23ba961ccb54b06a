"""Runtime bundles: the catalogue, and the runtime of an allocation."""

from typing import Annotated

from litestar import Router, delete, get, post
from litestar.params import QueryParameter

from gpuaas.api.deps import Context, Cursor, Limit, Reason
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.runtimes import commands, store
from gpuaas.domain.runtimes.compatibility import BundleIncompatible
from gpuaas.wire.common import Page
from gpuaas.wire.runtimes import AllocationRuntime, ApplyRuntimeBundle, RuntimeBundle

AllocationFilter = Annotated[str | None, QueryParameter(name="allocation_id", required=False, max_length=64)]
SkuFilter = Annotated[str | None, QueryParameter(name="sku", required=False, max_length=64)]


@get("/runtime-bundles", responses=problems(NotFound))
async def list_runtime_bundles(
    context: Context,
    *,
    allocation_id: AllocationFilter = None,
    sku: SkuFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[RuntimeBundle]:
    """Available bundles, newest first. With an allocation, or with a SKU before one exists, each has its
    compatibility and the reason.
    """
    paging = Paging.of(limit, cursor)
    rows = await store.bundles(context.tx, paging=paging)
    page = paging.page(rows, lambda row: row.id)
    nodes, image = None, None
    if allocation_id:
        node_id, image = await commands.place_of(context.tx, context.caller, allocation_id)
        nodes = [node_id]
    elif sku:
        nodes = await commands.nodes_of_sku(context.tx, sku, context.services.index)
    shown = await commands.show_bundles(context.tx, page.items, nodes, image)
    return Page(items=shown, next_cursor=page.next_cursor)


@get("/allocations/{id:str}/runtime-bundles", responses=problems(NotFound))
async def get_allocation_runtime(id: str, context: Context) -> AllocationRuntime:
    """The desired runtime, the active one with its time, and the target of a roll back. Managed bundles are supported
    and observed; environments installed by hand over SSH are allowed but not platform-managed.
    """
    return await commands.get(context.tx, context.caller, id)


@post(
    "/allocations/{id:str}/runtime-bundles",
    status_code=202,
    responses=problems(NotFound, InsufficientPermissions, Conflict, BundleIncompatible),
)
async def apply_runtime_bundle(id: str, data: ApplyRuntimeBundle, context: Context) -> AllocationRuntime:
    """Apply or switch a bundle, or upgrade, roll back or repair the current one. No restart; running programs keep
    their version.
    """
    return await commands.apply(context.tx, context.caller, id, data, ids=context.ids, now=context.now)


@delete(
    "/allocations/{id:str}/runtime-bundles",
    status_code=202,
    responses=problems(NotFound, InsufficientPermissions, Conflict),
)
async def clear_allocation_runtime(id: str, context: Context, reason: Reason = None) -> AllocationRuntime:
    """Remove the runtime."""
    return await commands.clear(context.tx, context.caller, id, reason=reason or "", ids=context.ids, now=context.now)


ROUTER = Router(
    "",
    tags=["runtimes"],
    route_handlers=[
        list_runtime_bundles,
        get_allocation_runtime,
        apply_runtime_bundle,
        clear_allocation_runtime,
    ],
)
