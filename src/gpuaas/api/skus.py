"""What can be had, and where a request would go."""

from litestar import Router, get, post

from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.domain.capacity import commands, store
from gpuaas.domain.identity.callers import Caller
from gpuaas.wire.capacity import AskPlacement, Placement, Sku
from gpuaas.wire.common import Page


@get("/skus")
async def list_skus(tx: Tx, caller: Caller, services: Services) -> Page[Sku]:  # noqa: ARG001 - signed-in callers only
    """What is sold, with its price and how much of it is free now."""
    return Page(items=commands.with_availability(await store.skus(tx), services.index.free()))


@get("/skus/{sku:str}", responses=problems(NotFound))
async def get_sku(sku: str, tx: Tx, caller: Caller, services: Services) -> Sku:  # noqa: ARG001 - as above
    """One SKU."""
    return commands.with_availability([await store.sku(tx, sku)], services.index.free())[0]


@post("/placement/explain", status_code=200, responses=problems(NotFound))
async def explain_placement(data: AskPlacement, tx: Tx, caller: Caller) -> Placement:  # noqa: ARG001 - as above
    """Where a would-be request would go; or why not, and what would fit."""
    return await commands.explain_placement(tx, data)


ROUTER = Router("", tags=["capacity"], route_handlers=[list_skus, get_sku, explain_placement])
