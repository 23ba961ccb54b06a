"""Projects."""

from litestar import Router, get, post

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity import commands, store
from gpuaas.domain.identity.permissions import LEADING, Permission
from gpuaas.domain.timeline.store import audit_of_project
from gpuaas.wire.common import Page
from gpuaas.wire.identity import CreateProject, Project
from gpuaas.wire.timeline import AuditRow


@get("/projects")
async def list_projects(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Project]:
    """The projects you can reach."""
    paging = Paging.of(limit, cursor)
    led = [tenant for tenant, role in context.caller.tenants.items() if role in LEADING]
    return paging.page(
        await store.projects(context.tx, list(context.caller.projects), led, paging), lambda project: project.id
    )


@post("/projects", responses=problems(Conflict, NotFound, InsufficientPermissions))
async def create_project(data: CreateProject, context: Context) -> Project:
    """Make a project in your tenant; you own it."""
    return await commands.create_project(context.tx, context.caller, data, ids=context.ids, now=context.now)


@get("/projects/{project_id:str}", responses=problems(NotFound))
async def get_project(project_id: str, context: Context) -> Project:
    """One project."""
    return await commands.get_project(context.tx, context.caller, project_id)


@get("/projects/{project_id:str}/audit", responses=problems(NotFound, InsufficientPermissions))
async def project_audit(
    project_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[AuditRow]:
    """Who did what in the project, newest first."""
    paging = Paging.of(limit, cursor)
    project = await store.project(context.tx, project_id)
    context.caller.require(Permission.AUDIT_READ, "project", project)
    return paging.page(await audit_of_project(context.tx, project_id, paging), lambda row: str(row.id))


ROUTER = Router("", tags=["projects"], route_handlers=[list_projects, create_project, get_project, project_audit])
