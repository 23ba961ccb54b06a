"""Projects."""

from datetime import datetime

from litestar import Router, get, post

from gpuaas.api.problems import problems
from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.identity import commands, store
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import LEADING
from gpuaas.wire.common import Page
from gpuaas.wire.identity import CreateProject, Project


@get("/projects")
async def list_projects(tx: Tx, caller: Caller, paging: Paging) -> Page[Project]:
    """The projects you can reach."""
    led = [tenant for tenant, role in caller.tenants.items() if role in LEADING]
    return paging.page(await store.projects(tx, list(caller.projects), led, paging), lambda project: project.id)


@post("/projects", responses=problems(Conflict, NotFound, InsufficientPermissions))
async def create_project(data: CreateProject, tx: Tx, caller: Caller, ids: Ids, now: datetime) -> Project:
    """Make a project in your tenant; you own it."""
    return await commands.create_project(tx, caller, data, ids=ids, now=now)


@get("/projects/{project_id:str}", responses=problems(NotFound))
async def get_project(project_id: str, tx: Tx, caller: Caller) -> Project:
    """One project."""
    return await commands.get_project(tx, caller, project_id)


ROUTER = Router("", tags=["projects"], route_handlers=[list_projects, create_project, get_project])
