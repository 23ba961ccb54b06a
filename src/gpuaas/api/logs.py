"""Log lines that nodes sent, of an operation or of an allocation: as a page, or as a live tail."""

from functools import partial
from typing import Annotated, cast

from litestar import Router, get
from litestar.params import QueryParameter

from gpuaas.api.deps import AnyRequest, Cursor, Limit
from gpuaas.api.edge import token_of
from gpuaas.api.operations import readable
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.api.stream import BATCH, Follower, LastEventId, Resumed, resume, stream
from gpuaas.api.unit import admit
from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, ValidationError
from gpuaas.core.paging import Paging
from gpuaas.core.secrets import token_hash
from gpuaas.domain.allocations import commands
from gpuaas.domain.identity import store as identity
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.quotas.open_streams import OpenStream
from gpuaas.domain.streams import store as streams
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.store import LogsOf
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import LogLine

Follow = Annotated[
    bool,
    QueryParameter(name="follow", required=False, description="stay, and stream lines as server-sent events"),
]


@get("/operations/{id:str}/logs", responses=problems(NotFound, ValidationError, QuotaExceeded))
async def operation_logs(
    id: str,
    request: AnyRequest,
    services: Services,
    *,
    follow: Follow = False,
    limit: Limit = None,
    cursor: Cursor = None,
    last_event_id: LastEventId = None,
) -> Page[LogLine]:
    """The log lines of an operation, newest first. With `follow`: as server-sent events from the first line until the
    operation ends (`event: done`); resume with Last-Event-ID.
    """
    token = token_of(request.scope, services.public_url)
    async with services.api_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        operation = await readable(tx, caller, id)
        of = LogsOf(operation_id=id)
        if not follow:
            return await page(tx, of, Paging.of(limit, cursor))
        after = await resume(tx, last_event_id, store.START)
        held = await services.streams.open(tx, caller.user_id)
    return sent(follower(services, token, operation.project_id, of, after), held)


@get("/allocations/{id:str}/logs", responses=problems(NotFound, ValidationError, QuotaExceeded))
async def allocation_logs(
    id: str,
    request: AnyRequest,
    services: Services,
    *,
    follow: Follow = False,
    limit: Limit = None,
    cursor: Cursor = None,
    last_event_id: LastEventId = None,
) -> Page[LogLine]:
    """The log lines of an allocation's operations, newest first. With `follow`: as server-sent events without end."""
    token = token_of(request.scope, services.public_url)
    async with services.api_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        row = await commands.get(tx, caller, id)
        of = LogsOf(allocation_id=id)
        if not follow:
            return await page(tx, of, Paging.of(limit, cursor))
        after = await resume(tx, last_event_id, store.START)
        held = await services.streams.open(tx, caller.user_id)
    return sent(follower(services, token, row.project_id, of, after), held)


async def page(tx: Tx, of: LogsOf, paging: Paging) -> Page[LogLine]:
    return store.page_of(paging, await store.log_lines(tx, of, paging))


def follower(services: Services, token: str, project_id: str, of: LogsOf, after: Resumed) -> Follower[LogLine]:
    """From the first line. The stream of an operation ends with the operation; that of an allocation when the reader
    disconnects.
    """
    query = partial(streams.follow_lines, project_id, of, limit=BATCH)
    # EVENTS too, because the end of the operation and changes of project members are timeline entries.
    return Follower(services, token, project_id, after, query=query, topics=(store.EVENTS, store.LOGS))


def sent(follower: Follower[LogLine], held: OpenStream) -> Page[LogLine]:
    """The stream replaces the page of the contract, because the caller requested one."""
    return cast("Page[LogLine]", stream(follower, held))


ROUTER = Router("", tags=["operations"], route_handlers=[operation_logs, allocation_logs])
