"""Projects, what happened in them, and who did it."""

from typing import Annotated

from litestar import Router, get, patch, post
from litestar.params import QueryParameter

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound, ValidationError
from gpuaas.core.paging import Paging
from gpuaas.domain.identity import commands, store
from gpuaas.domain.identity.permissions import LEADING, Permission
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.timeline import store as timeline
from gpuaas.domain.timeline.store import AuditFilter
from gpuaas.wire.common import Moment, Page
from gpuaas.wire.identity import ChangeProject, CreateProject, Project
from gpuaas.wire.timeline import AuditResult, AuditRow, Entry

ActorFilter = Annotated[str | None, QueryParameter(name="actor", required=False, max_length=64, description="an id")]
ActionFilter = Annotated[
    str | None, QueryParameter(name="action", required=False, max_length=64, description="how it begins")
]
ResultFilter = Annotated[AuditResult | None, QueryParameter(name="result", required=False)]
Since = Annotated[Moment | None, QueryParameter(name="since", required=False, description="that moment included")]
Until = Annotated[Moment | None, QueryParameter(name="until", required=False, description="that moment left out")]


@get("/projects")
async def list_projects(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Project]:
    """The projects you can reach."""
    paging = Paging.of(limit, cursor)
    led = [tenant for tenant, role in context.caller.tenants.items() if role in LEADING]
    return paging.page(
        await store.projects(context.tx, list(context.caller.projects), led, paging), lambda project: project.id
    )


@post("/projects", responses=problems(Conflict, QuotaExceeded, NotFound, InsufficientPermissions))
async def create_project(data: CreateProject, context: Context) -> Project:
    """Make a project in your tenant; you own it."""
    return await commands.create_project(context.tx, context.caller, data, ids=context.ids, now=context.now)


@get("/projects/{project_id:str}", responses=problems(NotFound))
async def get_project(project_id: str, context: Context) -> Project:
    """One project."""
    return await commands.get_project(context.tx, context.caller, project_id)


@get("/projects/{project_id:str}/timeline", responses=problems(NotFound))
async def project_timeline(
    project_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[Entry]:
    """What happened to anything in the project, newest first; the events stream tells what comes next."""
    paging = Paging.of(limit, cursor)
    await commands.get_project(context.tx, context.caller, project_id)
    return timeline.entry_page(paging, await timeline.recent(context.tx, project_id, paging))


@patch("/projects/{project_id:str}", responses=problems(NotFound, InsufficientPermissions))
async def change_project(project_id: str, data: ChangeProject, context: Context) -> Project:
    """Change what holds for the whole project, such as that terminals on its machines are recorded."""
    return await commands.change_project(context.tx, context.caller, project_id, data, now=context.now)


def check_zones(**moments: Moment | None) -> None:
    """Of what stands in an address nobody asks the type's own rule."""
    for name, at in moments.items():
        if at is not None and at.tzinfo is None:
            why = "a time with its zone, as in 2030-01-01T00:00:00Z"
            raise ValidationError(f"Give {name} as {why}.", errors={name: why})


@get("/projects/{project_id:str}/audit", responses=problems(NotFound, InsufficientPermissions))
async def project_audit(
    project_id: str,
    context: Context,
    *,
    actor: ActorFilter = None,
    action: ActionFilter = None,
    result: ResultFilter = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[AuditRow]:
    """Who did what in the project, or was refused, newest first."""
    paging = Paging.of(limit, cursor)
    check_zones(since=since, until=until)
    project = await store.project(context.tx, project_id)
    context.caller.require(Permission.AUDIT_READ, "project", project)
    wanted = AuditFilter(actor=actor, action=action, result=result, since=since, until=until)
    rows = await timeline.audit_of_project(context.tx, project_id, wanted, paging)
    return paging.page(rows, lambda row: str(row.id))


ROUTER = Router(
    "",
    tags=["projects"],
    route_handlers=[list_projects, create_project, get_project, change_project, project_timeline, project_audit],
)
