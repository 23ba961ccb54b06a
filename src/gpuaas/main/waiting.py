"""Serves a replica that starts while the database has trouble: it answers, reports that it is not ready, and waits."""

import asyncio

import msgspec
import uvicorn
from litestar.enums import ScopeType
from litestar.types import Receive, Scope, Send

from gpuaas.api.health import problem
from gpuaas.api.problems import DatabaseAway, reply_to
from gpuaas.api.replies import Reply
from gpuaas.core.db import AWAY
from gpuaas.core.health import Health
from gpuaas.core.migrate import migrate
from gpuaas.core.trouble import Reason

LOOP = "start"


class WaitingApp:
    """Serves requests before the database is usable."""

    def __init__(self, health: Health) -> None:
        self._health = health

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.WEBSOCKET:
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "try again"})
            return
        for message in self._answer(scope["path"]).messages():
            await send(message)

    def _answer(self, path: str) -> Reply:
        failure = self._health.failing.get(LOOP)
        reason = failure.reason if failure and failure.reason else Reason.UNREACHABLE
        if path == "/healthz":
            return Reply(200, msgspec.json.encode({"status": "ok"}))
        if path == "/readyz":
            told = {"status": "degraded", "links": 0, "problems": [problem(reason)], "notices": []}
            return Reply(503, msgspec.json.encode(told))
        return reply_to(DatabaseAway(reason))


async def until_usable(dsn: str, health: Health, waiting: uvicorn.Server) -> None:
    """Migrate; while that is not possible, let `waiting` answer."""
    serving: asyncio.Task[None] | None = None
    try:
        while True:
            try:
                await migrate(dsn)
            except AWAY as error:
                pause = health.failed(LOOP, error)
            else:
                return
            serving = serving or asyncio.create_task(waiting.serve())
            await asyncio.wait([serving], timeout=pause)
            if serving.done():
                raise SystemExit(1)  # stopped, or the port is taken
    finally:
        if serving is not None:
            waiting.should_exit = True
            await serving
