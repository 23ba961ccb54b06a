"""Break-glass access of operators to one allocation."""

from litestar import Router, delete, get, post

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound, RateLimitExceeded
from gpuaas.core.paging import Paging
from gpuaas.domain.terminals.break_glass import commands
from gpuaas.wire.common import Page
from gpuaas.wire.terminals import BreakGlass, BreakGlassOpened, OpenBreakGlass

OPEN = problems(NotFound, InsufficientPermissions, Conflict, RateLimitExceeded)


@post("/admin/allocations/{id:str}/break-glass", status_code=201, responses=OPEN, opt={"ignores_key": True})
async def open_break_glass(id: str, data: OpenBreakGlass, context: Context) -> BreakGlassOpened:
    """Open a recorded terminal on another person's allocation. Its people see who, why and until when, and may end
    it.
    """
    services = context.services
    url = f"ws{services.public_url.removeprefix('http')}/api/v1/terminal/{id}"
    return await commands.open_access(context.tx, context.caller, id, data, url=url, ids=context.ids, now=context.now)


@delete("/admin/allocations/{id:str}/break-glass", responses=problems(NotFound, InsufficientPermissions))
async def end_break_glass(id: str, context: Context) -> None:
    """End all break-glass access to this allocation; its terminals are closed."""
    await commands.end_access(context.tx, context.caller, id, now=context.now)


@get("/allocations/{id:str}/break-glass", responses=problems(NotFound))
async def list_break_glass(id: str, context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[BreakGlass]:
    """The operators who had or have access to this allocation, with their reasons."""
    paging = Paging.of(limit, cursor)
    found = await commands.listed(context.tx, context.caller, id, paging)
    return paging.page(found, lambda access: access.id)


@delete("/allocations/{id:str}/break-glass", responses=problems(NotFound, InsufficientPermissions))
async def refuse_break_glass(id: str, context: Context) -> None:
    """End all access of operators to this allocation; their terminals are closed."""
    await commands.end_by_people(context.tx, context.caller, id, now=context.now)


ROUTER = Router(
    "",
    tags=["break-glass"],
    route_handlers=[open_break_glass, end_break_glass, list_break_glass, refuse_break_glass],
)
