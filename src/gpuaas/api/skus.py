"""SKUs, and where a request would be placed."""

from litestar import Router, get, post
from msgspec.structs import replace

from gpuaas.api.deps import Context
from gpuaas.api.problems import problems
from gpuaas.core.errors import NotFound
from gpuaas.domain.capacity import commands
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.quotas.commands import of_project
from gpuaas.domain.skus import store
from gpuaas.wire.capacity import AskPlacement, Placement, Sku
from gpuaas.wire.common import Page
from gpuaas.wire.environments import Confinement


@get("/skus")
async def list_skus(context: Context) -> Page[Sku]:
    """The SKUs with their prices and current availability."""
    return Page(items=await _shown(context, await store.list_sold(context.tx)))


@get("/skus/{sku:str}", responses=problems(NotFound))
async def get_sku(sku: str, context: Context) -> Sku:
    """One SKU."""
    return (await _shown(context, [await store.get(context.tx, sku)]))[0]


async def _shown(context: Context, rows: list[store.SkuRow]) -> list[Sku]:
    found = await store.confinements(context.tx)
    return [
        _confined(sku, {init: one for init, one in found.items() if any(init == size.init for size in sku.sizes)})
        for sku in commands.with_availability(rows, context.services.index.fleet)
    ]


def _confined(sku: Sku, found: dict[str, Confinement | None]) -> Sku:
    return replace(
        sku,
        confinement={init: one for init, one in found.items() if one is not None},
        confinement_differs=sorted(init for init, one in found.items() if one is None),
    )


@post("/placement/explain", status_code=200, responses=problems(NotFound))
async def explain_placement(data: AskPlacement, context: Context) -> Placement:
    """Where a request would be placed; or why it cannot be, and what would fit. With a project, also its remaining
    quota.
    """
    project = await get_project(context.tx, context.caller, data.project_id) if data.project_id else None
    answer = await commands.explain_placement(context.tx, data, context.services.index)
    return replace(answer, quota=(await of_project(context.tx, project)).lines) if project else answer


ROUTER = Router("", tags=["capacity"], route_handlers=[list_skus, get_sku, explain_placement])
