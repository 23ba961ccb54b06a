"""Operations: long-running actions, with their phases and log lines."""

from typing import Annotated

from litestar import Router, get
from litestar.params import QueryParameter
from msgspec.structs import replace

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.launch.commands import ProjectRequired, choose_project
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.phases import phases, with_logs
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Operation

ProjectFilter = Annotated[str | None, QueryParameter(name="project_id", required=False, max_length=64)]
SubjectFilter = Annotated[str | None, QueryParameter(name="subject_id", required=False, max_length=64)]


async def readable(tx: Tx, caller: Caller, id: str) -> Operation:
    operation = await store.operation(tx, id)
    if not operation.project_id:  # work on a node belongs to no project; operators read it elsewhere
        raise NotFound("operation")
    try:
        await get_project(tx, caller, operation.project_id)
    except NotFound as error:
        raise NotFound("operation") from error
    return operation


@get("/operations", responses=problems(NotFound, ProjectRequired))
async def list_operations(
    context: Context,
    project_id: ProjectFilter = None,
    subject_id: SubjectFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[Operation]:
    """Running and past operations of a project; without phases."""
    paging = Paging.of(limit, cursor)
    project = await get_project(context.tx, context.caller, choose_project(context.caller, project_id))
    rows = await store.operations(context.tx, project.id, subject_id, paging)
    return paging.page(rows, lambda operation: operation.id)


@get("/operations/{id:str}", responses=problems(NotFound))
async def get_operation(id: str, context: Context) -> Operation:
    """One operation with its phases: start, end, duration, attempt, actor, and the last log lines of the node."""
    operation = await readable(context.tx, context.caller, id)
    told = phases(await store.operation_entries(context.tx, id), operation)
    return replace(operation, phases=with_logs(told, await store.log_excerpt(context.tx, id)))


ROUTER = Router("", tags=["operations"], route_handlers=[list_operations, get_operation])
