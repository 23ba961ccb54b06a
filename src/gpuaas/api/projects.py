"""Projects and their timelines."""

from litestar import Router, get, patch, post

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity import commands, store
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.timeline import store as timeline
from gpuaas.wire.common import Page
from gpuaas.wire.identity import ChangeProject, CreateProject, Project
from gpuaas.wire.timeline import Entry


@get("/projects")
async def list_projects(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Project]:
    """The projects that you can access."""
    paging = Paging.of(limit, cursor)
    caller = context.caller
    led = [tenant for tenant in caller.tenants if Permission.PROJECTS_READ in caller.permissions_in_tenant(tenant)]
    rows = await store.projects(context.tx, list(caller.projects), led, paging)
    return paging.page([commands.project_view(row, caller) for row in rows], lambda project: project.id)


@post("/projects", responses=problems(Conflict, QuotaExceeded, NotFound, InsufficientPermissions))
async def create_project(data: CreateProject, context: Context) -> Project:
    """Create a project in your tenant; you become its owner."""
    return await commands.create_project(context.tx, context.caller, data, ids=context.ids, now=context.now)


@get("/projects/{project_id:str}", responses=problems(NotFound))
async def get_project(project_id: str, context: Context) -> Project:
    """One project."""
    return commands.project_view(await commands.get_project(context.tx, context.caller, project_id), context.caller)


@get("/projects/{project_id:str}/timeline", responses=problems(NotFound))
async def project_timeline(
    project_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[Entry]:
    """The timeline of the project, newest first; the events stream sends new entries."""
    paging = Paging.of(limit, cursor)
    await commands.get_project(context.tx, context.caller, project_id)
    return timeline.page_of(paging, await timeline.recent(context.tx, project_id, paging))


@patch("/projects/{project_id:str}", responses=problems(NotFound, InsufficientPermissions))
async def change_project(project_id: str, data: ChangeProject, context: Context) -> Project:
    """Change settings of the project, such as recording of terminals."""
    return await commands.change_project(context.tx, context.caller, project_id, data, now=context.now)


ROUTER = Router(
    "",
    tags=["projects"],
    route_handlers=[list_projects, create_project, get_project, change_project, project_timeline],
)
