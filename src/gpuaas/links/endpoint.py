"""The ASGI endpoints of agents: the node link, and streams.

They bypass Litestar, because thousands of links do not need its per-socket objects.
"""

import re

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from gpuaas.core.db import AWAY, RERUN
from gpuaas.core.websockets import MessageSocket, accept, admit_of
from gpuaas.links.server import LinkServer
from gpuaas.links.streams.server import StreamServer
from gpuaas.wire.streams import STREAM_SUBPROTOCOL

LINK = re.compile(r"/internal/v1/nodes/([^/]+)/link")
STREAM = re.compile(r"/internal/v1/streams/([^/]+)")
log = structlog.get_logger()


class LinkSocket:
    """A WebSocket as the link server needs it: bytes only, and a plain error when it is closed."""

    __slots__ = ("_receive", "_send", "admit")

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send, self.admit = receive, send, admit_of(scope)

    async def accept(self) -> None:
        await self._receive()  # the connect message; nothing may be sent before it
        await self._send({"type": "websocket.accept", "subprotocol": None, "headers": []})

    async def send(self, data: bytes) -> None:
        try:
            await self._send({"type": "websocket.send", "bytes": data, "text": None})
        except OSError as error:
            raise ConnectionResetError("the node's link is gone") from error

    async def receive(self) -> bytes:
        message = await self._receive()
        if message["type"] != "websocket.receive":
            raise ConnectionResetError("the node's link is gone")
        return message.get("bytes") or b""  # the protocol has no text messages

    async def close(self, code: int, reason: str) -> None:
        try:
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
        except (OSError, RuntimeError):  # already closed
            log.debug("link.gone_before_close", code=code)


class AgentEndpoints:
    """Serves connections of agents, and passes every other request to `app`."""

    def __init__(self, app: ASGIApp, links: LinkServer, streams: StreamServer) -> None:
        self._app, self._links, self._streams = app, links, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.WEBSOCKET:
            await self._app(scope, receive, send)
        elif found := LINK.fullmatch(scope["path"]):
            scope["headers"] = []  # would be kept as long as the link, and is not needed again
            await self._serve_link(LinkSocket(scope, receive, send), found[1])
        elif found := STREAM.fullmatch(scope["path"]):
            secret = await accept(receive, send, list(scope.get("subprotocols", [])), STREAM_SUBPROTOCOL)
            await self._streams.serve(MessageSocket(receive, send, admit_of(scope)), found[1], secret)
        else:
            await self._app(scope, receive, send)

    async def _serve_link(self, socket: LinkSocket, node_id: str) -> None:
        """Serve the one link of a node; see wire/link.py."""
        try:
            await socket.accept()
            await self._links.serve(socket, node_id)
        except (*AWAY, *RERUN) as error:  # the node's end or the database; the node connects again
            log.info("link.ended", node=node_id, why=repr(error))
            await socket.close(1013, "try again")
