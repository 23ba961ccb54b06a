"""Live events: the timeline as server-sent events, resumable by id. A stream holds no database connection between
reads.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from litestar import Router, get
from litestar.params import HeaderParameter
from litestar.response import Stream
from litestar.response.base import ASGIResponse

from gpuaas.api.deps import AnyRequest
from gpuaas.api.edge import token_of
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.api.unit import admit
from gpuaas.core.db import AWAY, RERUN, Tx
from gpuaas.core.errors import NotFound, Problem, Suspended
from gpuaas.core.secrets import token_hash
from gpuaas.domain.allocations import commands
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.identity.store import Query
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.quotas.open_streams import OpenStream
from gpuaas.domain.streams import store as streams
from gpuaas.domain.streams.store import Look
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.store import Cursor
from gpuaas.wire.timeline import Entry

T = TypeVar("T", bound=msgspec.Struct)
KEEPALIVE_SECONDS = 4.0  # within the 10 s after which the SDK reconnects
# Entries wait behind an open transaction: read again soon, then less often, until it has ended.
LOOK_AGAIN_SECONDS = (0.01, 0.03, 0.1, 0.3)
BATCH = 200
LastEventId = Annotated[str | None, HeaderParameter(name="Last-Event-ID", required=False, max_length=60)]


# Sent first if the client's position is unknown: the client reads its data again, and the stream continues from now.
RESET = "event: reset\nid: {}\ndata: {{}}\n\n"


class Resumed(msgspec.Struct, frozen=True):
    """The start of a stream; reset if the client's position is newer than everything in this database."""

    cursor: Cursor
    is_reset: bool = False


async def resume(tx: Tx, last_event_id: str | None, start: Cursor | None = None) -> Resumed:
    """Start at the position that the client names, or else at `start`, or now. A position from a database that was
    lost, for example by a restore, is reset: waiting for it would hide every entry until then.
    """
    cursor = Cursor.parse(last_event_id or "")
    if cursor is None:
        return Resumed(start or await store.here(tx))
    if await store.is_ahead(tx, cursor):
        return Resumed(await store.here(tx), is_reset=True)
    return Resumed(cursor)


class Follower(Generic[T]):
    """One open stream. Every read checks its caller again. Changes of project members, revoked credentials and
    suspensions cause a read at once, so the stream ends with the permission.
    """

    keepalive_seconds = KEEPALIVE_SECONDS

    def __init__(
        self,
        services: Services,
        token: str,
        project_id: str,
        after: Resumed,
        *,
        query: Callable[[Cursor], Query[Look[T]]],
        topics: tuple[str, ...] = (store.EVENTS,),
    ) -> None:
        """`query` reads new items after a position; a hint on one of the topics wakes the stream."""
        self._services, self._token, self._query, self._topics = services, token, query, topics
        self._project_id, self._after, self._is_reset = project_id, after.cursor, after.is_reset
        self._wake = asyncio.Event()
        self._credentials: tuple[str, ...] = ()  # ids whose revocation concerns this stream
        self.held: OpenStream | None = None  # counts against its reader's quota until the stream ends

    def _hint(self, project_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        if project_id == self._project_id:
            self._wake.set()

    def _hint_credential(self, id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        if not self._credentials or id in self._credentials:  # the first read may still be running
            self._wake.set()

    def _end(self, *forget: Callable[[], None]) -> None:
        for each in forget:
            each()
        if self.held:
            self.held.close()

    async def events(self) -> AsyncGenerator[str, None]:
        hints = self._services.hints
        forget = [hints.on(topic, self._hint) for topic in self._topics]
        forget.append(hints.on(identity.CREDENTIALS, self._hint_credential))
        try:  # from here on, a reader may disconnect at any yield
            yield ": following\n\n"
            if self._is_reset:
                yield RESET.format(self._after)
            pauses: Iterator[float] = iter(())
            while True:
                self._wake.clear()
                look = await self._look()
                for each in look.in_order():
                    self._after = each.cursor
                    yield f"id: {each.cursor}\ndata: {msgspec.json.encode(each.item).decode()}\n\n"
                if len(look.found) == BATCH:
                    continue
                if look.is_over and not look.is_waiting:
                    yield "event: done\ndata: {}\n\n"
                    return
                pause = next(pauses, LOOK_AGAIN_SECONDS[-1]) if look.is_waiting else self.keepalive_seconds
                if await self._woken(pause):
                    pauses = iter(LOOK_AGAIN_SECONDS)
                elif not look.is_waiting:
                    yield ": still here\n\n"
        except (*AWAY, *RERUN):
            return  # the reader reconnects at its last position, here or at another replica
        except Problem:
            yield "event: end\ndata: {}\n\n"
        finally:
            self._end(*forget)

    async def _woken(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
            return True
        return False

    async def _look(self) -> Look[T]:
        """One statement without a transaction, because many streams read whenever something happens."""
        async with self._services.api_db.read("look of a stream") as tx:
            entry = await identity.enter(tx, token_hash(self._token), query=self._query(self._after))
        caller = admit(entry, self._services)
        self._credentials = (caller.credential_id, caller.user_id)
        if entry is None or entry.found is None:
            raise NotFound("project")
        caller.require(Permission.PROJECTS_READ, "project", entry.found)
        caller.require_active(entry.found)
        return entry.found


def entry_follower(
    services: Services, token: str, project_id: str, subject_id: str | None, after: Resumed
) -> Follower[Entry]:
    """The timeline of a project, or of one subject in it."""
    query = partial(streams.follow_entries, project_id, subject_id, limit=BATCH)
    return Follower(services, token, project_id, after, query=query)


class EventStream(Stream):
    """Sets the media type also on routes that otherwise answer JSON."""

    def to_asgi_response(self, *args: Any, **kwargs: Any) -> ASGIResponse:
        return super().to_asgi_response(*args, **{**kwargs, "media_type": "text/event-stream"})


def stream(follower: Follower[T], held: OpenStream) -> Stream:
    follower.held = held
    headers = {"X-Accel-Buffering": "no"}
    return EventStream(follower.events(), media_type="text/event-stream", headers=headers)


@get(
    "/projects/{project_id:str}/events",
    responses=problems(NotFound, QuotaExceeded, Suspended),
    media_type="text/event-stream",
)
async def project_events(
    project_id: str, request: AnyRequest, services: Services, last_event_id: LastEventId = None
) -> Stream:
    """The events of a project as they happen; resume with Last-Event-ID."""
    token = token_of(request.scope, services.public_url)
    async with services.api_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        caller.require_active(await get_project(tx, caller, project_id))
        after = await resume(tx, last_event_id)
        held = await services.streams.open(tx, caller.user_id)
    return stream(entry_follower(services, token, project_id, None, after), held)


@get(
    "/allocations/{id:str}/events",
    responses=problems(NotFound, QuotaExceeded, Suspended),
    media_type="text/event-stream",
)
async def allocation_events(
    id: str, request: AnyRequest, services: Services, last_event_id: LastEventId = None
) -> Stream:
    """The timeline of an allocation from its beginning, then as it happens; resume with Last-Event-ID."""
    token = token_of(request.scope, services.public_url)
    async with services.api_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        row = await commands.get(tx, caller, id)
        after = await resume(tx, last_event_id, store.START)
        caller.require_active(row)
        held = await services.streams.open(tx, caller.user_id)
    return stream(entry_follower(services, token, row.project_id, id, after), held)


ROUTER: Any = Router("", tags=["events"], route_handlers=[project_events, allocation_events])
