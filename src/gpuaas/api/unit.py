"""One request, one transaction: opened when first needed, committed before the response is sent, or rolled back.

The response is held until the commit, so that nobody receives a result that was rolled back. Its bytes are stored
with the idempotency key in the same transaction. A request that lost a race runs again from the start.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import asyncpg
import structlog
from litestar.enums import ScopeType
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from msgspec.json import Encoder

from gpuaas.api.edge import KEY_HEADER, PROJECT_HEADER, SAFE_METHODS, Headers, correlation_of, read_body, token_of
from gpuaas.api.problems import OutcomeUnknown, refusal, reply_to
from gpuaas.api.replies import Reply
from gpuaas.api.services import Services
from gpuaas.core.db import AWAY, RERUN, Tx
from gpuaas.core.errors import (
    InsufficientPermissions,
    Problem,
    Raced,
    RequestInProgress,
    Suspended,
    TokenExpired,
    TokenInvalid,
)
from gpuaas.core.idempotency import Idempotency, Kept, Stored, request_hash
from gpuaas.core.logs import correlation_id
from gpuaas.core.secrets import token_hash
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.store import Entry, Key, Query
from gpuaas.domain.timeline.store import audit_denial

T = TypeVar("T")
TRIES = 8
NDJSON = b"application/x-ndjson"
STREAMED = (b"text/event-stream", b"application/x-asciicast", NDJSON)
# A copy in a browser or proxy would outlive the session that received it.
ALWAYS_SAID = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
JSON = Encoder()
log = structlog.get_logger()


class Replay(Exception):
    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self.stored = stored


class Unit:
    """The resources of one request."""

    def __init__(self, services: Services, scope: HTTPScope, headers: Headers, body: bytes) -> None:
        self.services, self._scope, self.headers, self.body = services, scope, headers, body
        is_operators = scope["path"].startswith("/api/v1/admin/")
        self._db = services.operator_db if is_operators else services.api_db
        self._tx: Tx | None = None
        self._caller: Caller | None = None
        self._key: Idempotency | None = None
        self.raced = False
        self.denied: InsufficientPermissions | None = None

    async def enter(self) -> tuple[Tx, Caller]:
        """The caller and their transaction, in which row-level security limits the rows."""
        tx, caller, _ = await self.enter_and_find(None)
        return tx, caller

    async def enter_and_find(self, query: Query[T] | None) -> tuple[Tx, Caller, T | None]:
        """Like `enter`; also runs a first query in the same statement."""
        hashed, key = token_hash(token_of(self._scope, self.services.public_url, self.headers)), self._key_given()
        tx = self._tx = await self._db.begin(self._route)
        try:
            entry = await identity.enter(tx, hashed, key=key, query=query)
        except asyncpg.LockNotAvailableError as error:
            raise RequestInProgress(
                "The first request with this idempotency key is still running. Repeat this one in a few seconds."
            ) from error
        caller = self._caller = admit(entry, self.services)
        if key and entry and entry.kept:
            self._begin_idempotency(caller, key, entry.kept)
        return tx, caller, entry.found if entry else None

    async def read(self, query: Query[T]) -> tuple[Caller, T | None]:
        """Authenticate and read in one autocommitted statement, without the cost of a transaction."""
        hashed = token_hash(token_of(self._scope, self.services.public_url, self.headers))
        async with self._db.read(self._route) as tx:
            entry = await identity.enter(tx, hashed, query=query)
        return admit(entry, self.services), entry.found if entry else None

    @property
    def _route(self) -> str:
        return f"{self._scope['method']} {name_of(self._scope)}"

    def _option(self, name: str) -> bool:
        handler: Any = self._scope.get("route_handler")
        return handler is not None and bool(handler.opt.get(name))

    def _key_given(self) -> Key | None:
        key, method = self.headers.get(KEY_HEADER), self._scope["method"]
        if key is None or method in SAFE_METHODS or self._option("ignores_key"):
            return None
        return Key(f"{method} {self._scope['path']}", key.decode("latin-1"))

    def _begin_idempotency(self, caller: Caller, key: Key, kept: Kept) -> None:
        asked = self.body + self.headers.get(PROJECT_HEADER, b"") + self._holder(caller) + self._scope["query_string"]
        hashed = request_hash(self._scope["method"], self._scope["path"], asked)
        use = Idempotency(caller.user_id, key.route, key.key, hashed)
        if stored := use.answer(kept, self.services.master):
            raise Replay(stored)
        self._key = use

    def _holder(self, caller: Caller) -> bytes:
        """A secret is shown again only to the token that received it first."""
        return caller.credential_id.encode() if self._option("shows_secret") else b""

    def refuse(self, error: Exception) -> Reply:
        """The response to an error; a `Replay` becomes the stored response."""
        if isinstance(error, Replay):
            return Reply(error.stored.status, error.stored.body, headers={"Idempotency-Replayed": "true"})
        problem = refusal(error, self._scope["path"])
        self.raced = isinstance(problem, Raced)
        self.denied = problem if isinstance(problem, InsufficientPermissions) else None
        return reply_to(problem)

    async def commit(self, status: int, body: bytes) -> None:
        tx, self._tx = self._tx, None
        if tx is None:
            return
        if self._key:
            seal = self.services.master if self._option("shows_secret") else None
            try:
                await self._key.keep(tx, Stored(status, body), seal_with=seal)
            except BaseException as error:
                await self._db.roll_back(tx, error)
                raise
        await self._db.commit(tx)

    async def roll_back(self, error: BaseException | None = None) -> None:
        tx, self._tx = self._tx, None
        if tx is not None:
            await self._db.roll_back(tx, error)

    async def tell_denial(self) -> None:
        """Uses a new transaction, because that of the request was rolled back."""
        if self.denied is None or self._caller is None:
            return
        action = str(self.denied.facts.get("permission") or self.denied.code)
        target = f"{self._scope['method']} {self._scope['path']}"[:200]
        actor, now = self._caller.actor, self.services.clock.now()
        async with self.services.worker_db.write() as tx:
            await audit_denial(tx, self.denied.place, actor=actor, action=action, target=target, at=now)


def admit(entry: Entry[T] | None, services: Services) -> Caller:
    """The caller of a token; raises if the token is invalid or the caller suspended."""
    if entry is None:
        raise TokenInvalid("This token is unknown or was revoked. Log in again.")
    if entry.entered.expires_at <= services.clock.now():
        raise TokenExpired("This token has expired. Log in again.")
    if entry.entered.suspension is not None:
        raise Suspended("your account", entry.entered.suspension)
    return entry.entered.caller(services.caller_type)


@dataclass(frozen=True)
class Direct:
    """A route answered without Litestar. It receives the path after its prefix, and returns None if Litestar should
    answer.
    """

    route: HTTPRouteHandler
    answer: Callable[[Unit, str], Awaitable[object]]


def name_of(scope: HTTPScope) -> str:
    """The name of the handler, of which there are as many as routes; `nowhere` without one."""
    handler: Any = scope.get("route_handler")
    return str(handler.handler_name) if handler else "nowhere"


class UnitMiddleware:
    """The outermost layer: edge checks, correlation id, and the unit of work of every HTTP request."""

    def __init__(
        self, app: ASGIApp, services: Services, direct: Mapping[tuple[str, str], Direct] | None = None
    ) -> None:
        self._app, self._services, self._direct = app, services, direct or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.WEBSOCKET:
            await self._app(scope, receive, send)
            return
        headers, began = dict(scope["headers"]), perf_counter()
        reset = correlation_id.set(correlation_of(headers) or self._services.ids.new("req"))
        end_span = self._services.api_db.traces.begin("request", method=scope["method"], path=scope["path"])
        try:
            answer = await self._run(scope, headers, receive, send)
            await answer.flush()
            self._count(scope, answer, perf_counter() - began)
        finally:
            end_span()
            correlation_id.reset(reset)

    def _count(self, scope: HTTPScope, answer: "Answer", seconds: float) -> None:
        route = name_of(scope)
        self._services.traffic.saw(scope["method"], route, answer.status, None if answer.streamed else seconds)

    async def _run(self, scope: HTTPScope, headers: Headers, receive: Receive, send: Send) -> "Answer":
        answer = Answer(send)
        try:
            body = await read_body(scope, headers, receive)
        except Problem as problem:
            answer.hold(reply_to(problem))
            return answer
        if body is None:
            return answer
        before = dict(scope.get("state", {}))
        for attempt in range(TRIES):
            unit, answer = Unit(self._services, scope, headers, body), Answer(send)
            scope["state"] = {**before, "unit": unit}  # fresh: Litestar notes there that it has answered
            await self._attempt(unit, answer, scope, receive)
            if not (unit.raced and attempt + 1 < TRIES):
                break
            log.info("request.raced", path=scope["path"], attempt=attempt)
            self._services.traffic.lost_a_race(name_of(scope))
        with suppress(*AWAY, *RERUN):  # the refusal stands, audited or not
            await unit.tell_denial()
        return answer

    async def _attempt(self, unit: Unit, answer: "Answer", scope: HTTPScope, receive: Receive) -> None:
        try:
            reply = await self._answer_directly(unit, scope)
            if reply:
                answer.hold(reply)
            else:
                await self._app(scope, replay(unit.body, receive), answer.send)
            if answer.streamed:
                return
            if answer.ok:
                await self._commit(unit, answer)
            else:
                await unit.roll_back()
        except BaseException as error:
            await unit.roll_back(error)
            raise

    async def _answer_directly(self, unit: Unit, scope: HTTPScope) -> Reply | None:
        method, path = scope["method"], scope["path"]
        head, slash, rest = path.rpartition("/")
        direct = self._direct.get((method, path)) or self._direct.get((method, head + slash))
        if direct is None:
            return None
        scope["route_handler"] = direct.route
        try:
            answer = await direct.answer(unit, rest)
        except Exception as error:  # noqa: BLE001 # house: broad-except because Litestar, which it replaces, does
            return unit.refuse(error)
        return None if answer is None else Reply(direct.route.status_code, JSON.encode(answer))

    async def _commit(self, unit: Unit, answer: "Answer") -> None:
        try:
            await unit.commit(answer.status, answer.body)
        except Raced as error:
            answer.hold(unit.refuse(error))
        except AWAY as error:
            log.warning("request.commit_cut", error=repr(error))
            answer.hold(reply_to(OutcomeUnknown()))
        except asyncpg.PostgresError as error:  # a deferred constraint failed: the database rolled back
            answer.hold(unit.refuse(error))


class Answer:
    """A response that is held until the commit; a stream is sent directly."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._messages: list[Message] = []
        self.streamed = False
        self.status = 500

    def hold(self, reply: Reply) -> None:
        self._messages, self.status = reply.messages(), reply.status

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            kinds = (value for name, value in message["headers"] if name == b"content-type")
            self.streamed = any(kind.startswith(STREAMED) for kind in kinds)
        self._messages.append(message)
        if self.streamed:
            await self.flush()

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300  # noqa: PLR2004 - what 2xx means

    @property
    def body(self) -> bytes:
        return b"".join(m.get("body", b"") for m in self._messages if m["type"] == "http.response.body")

    async def flush(self) -> None:
        for message in self._messages:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *ALWAYS_SAID, (b"x-correlation-id", correlation_id.get().encode())]
                message = {**message, "headers": headers}  # noqa: PLW2901
            await self._send(message)
        self._messages.clear()


def replay(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever the client really sends, such as a disconnect."""
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
