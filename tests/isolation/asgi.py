"""Requests put to the application as a server would, without a client's kindness: any bytes, and streams cut short."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from litestar.types import ASGIApp


@dataclass(frozen=True)
class Answer:
    """As sent. Of a stream, what came first."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        return dict(self.headers).get(name, "")

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request, ready to be sent as often as wanted."""

    method: str
    target: str
    token: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    address: str = "10.9.0.1"

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        given = {"host": "gpuaas.test", **self.headers}
        if self.token:
            given["authorization"] = f"Bearer {self.token}"
        if self.body and "content-type" not in given:
            given["content-type"] = "application/json"
        return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]

    @property
    def scope(self) -> dict[str, Any]:
        parts = urlsplit(self.target)
        return {
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "path": unquote(parts.path, errors="surrogateescape"),
            "raw_path": parts.path.encode("latin-1", "replace"),
            "query_string": parts.query.encode("latin-1", "replace"),
            "root_path": "",
            "headers": self.raw_headers,
            "client": (self.address, 40_000),
            "server": ("gpuaas.test", 80),
            "extensions": {},
        }


async def send(app: ASGIApp, ask: Ask) -> Answer:
    """The whole answer; or, of an endless one, its head and first piece, and then we hang up."""
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    inbox.put_nowait({"type": "http.request", "body": ask.body, "more_body": False})
    head: dict[str, Any] = {}
    pieces: list[bytes] = []

    async def receive() -> Any:
        return await inbox.get()

    async def on_message(message: Any) -> None:
        if message["type"] == "http.response.start":
            head.update(message)
        elif message["type"] == "http.response.body":
            pieces.append(message.get("body", b""))
            inbox.put_nowait({"type": "http.disconnect"})

    scope: Any = {**ask.scope, "type": "http", "method": ask.method}
    await app(scope, receive, on_message)
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head["headers"])
    body = pieces[0] if "event-stream" in dict(headers).get("content-type", "") else b"".join(pieces)
    return Answer(head["status"], headers, body)


class Socket:
    """The other end of one WebSocket."""

    def __init__(
        self,
        app: ASGIApp,
        target: str,
        token: str = "",
        *,
        subprotocols: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._inbox.put_nowait({"type": "websocket.connect"})
        ask = Ask(method="GET", target=target, token=token, headers=headers or {})
        scope: Any = {**ask.scope, "type": "websocket", "scheme": "ws", "subprotocols": [*subprotocols]}
        self._running = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self) -> Any:
        return await self._inbox.get()

    async def _send(self, message: Any) -> None:
        self._outbox.put_nowait(message)

    async def next(self) -> dict[str, Any]:
        """The next message; the end of the application, should it end without closing, is told as one."""
        getting = asyncio.ensure_future(self._outbox.get())
        await asyncio.wait({getting, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        getting.cancel()
        self._running.result()
        return {"type": "ended"}

    def say(self, message: bytes | str) -> None:
        kind = "bytes" if isinstance(message, bytes) else "text"
        self._inbox.put_nowait({"type": "websocket.receive", kind: message})

    async def hang_up(self) -> None:
        self._inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await asyncio.wait({self._running})
        self._running.result()
