"""Operators: operations of the whole fleet, including staging."""

from typing import Annotated

from litestar import Router, get
from litestar.params import QueryParameter
from msgspec.structs import replace

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.phases import phases, with_logs
from gpuaas.domain.timeline.store import OperationFilter
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Operation, OperationStatus

StatusFilter = Annotated[OperationStatus | None, QueryParameter(name="status", required=False)]
KindFilter = Annotated[
    str | None, QueryParameter(name="kind", required=False, max_length=64, description="such as create or attach")
]
NodeFilter = Annotated[str | None, QueryParameter(name="node_id", required=False, max_length=64)]
ProjectFilter = Annotated[str | None, QueryParameter(name="project_id", required=False, max_length=64)]
SubjectFilter = Annotated[str | None, QueryParameter(name="subject_id", required=False, max_length=64)]


@get("/admin/operations", responses=problems(InsufficientPermissions))
async def list_fleet_operations(
    context: Context,
    *,
    status: StatusFilter = None,
    kind: KindFilter = None,
    node_id: NodeFilter = None,
    project_id: ProjectFilter = None,
    subject_id: SubjectFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[Operation]:
    """Running and past operations of the whole fleet, newest first; without phases."""
    context.caller.require_platform(Permission.FLEET_READ)
    paging = Paging.of(limit, cursor)
    wanted = OperationFilter(status=status, kind=kind, node_id=node_id, project_id=project_id, subject_id=subject_id)
    rows = await store.fleet_operations(context.tx, wanted, paging)
    return paging.page(rows, lambda operation: operation.id)


@get("/admin/operations/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def get_fleet_operation(id: str, context: Context) -> Operation:
    """Any operation with its phases, and the last log lines of the node in each."""
    context.caller.require_platform(Permission.FLEET_READ)
    operation = await store.operation(context.tx, id)
    told = phases(await store.operation_entries(context.tx, id), operation)
    return replace(operation, phases=with_logs(told, await store.log_excerpt(context.tx, id)))


ROUTER = Router("", tags=["platform"], route_handlers=[list_fleet_operations, get_fleet_operation])
