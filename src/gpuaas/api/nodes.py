"""For agents, outside the public contract: enrolment and the link."""

import re

import structlog
from litestar import Router, post
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from gpuaas.api.links import Links
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.api.sockets import admit_of
from gpuaas.core.db import AWAY, RERUN, Tx
from gpuaas.domain.capacity import commands
from gpuaas.domain.capacity.commands import EnrolmentRefused
from gpuaas.domain.capacity.keys import RotationRefused, rotate_key
from gpuaas.domain.task_keys import store as task_keys
from gpuaas.wire.link import Enrol, Enrolled, RotatedKey, RotateKey
from gpuaas.wire.task_keys import Verifier

LINK = re.compile(r"/internal/v1/nodes/([^/]+)/link")
log = structlog.get_logger()


class AsgiSocket:
    """A WebSocket as the links want it: bytes only, and a plain error when it is gone."""

    __slots__ = ("_receive", "_send", "admit")

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send, self.admit = receive, send, admit_of(scope)

    async def accept(self) -> None:
        await self._receive()  # the connect; nothing may be sent before it
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
        return message.get("bytes") or b""  # text is no word of ours

    async def close(self, code: int, reason: str) -> None:
        try:
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
        except (OSError, RuntimeError):  # gone already
            log.debug("link.gone_before_close", code=code)


class LinkDoor:
    """Takes the nodes' links before Litestar does: of what it lays around a socket, thousands of links need nothing."""

    def __init__(self, app: ASGIApp, links: Links) -> None:
        self._app, self._links = app, links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.WEBSOCKET and (found := LINK.fullmatch(scope["path"])):
            scope["headers"] = []  # held as long as the link, and not asked for again
            await self._serve(AsgiSocket(scope, receive, send), found[1])
        else:
            await self._app(scope, receive, send)

    async def _serve(self, socket: AsgiSocket, node_id: str) -> None:
        """The node's one link; see wire/link.py."""
        try:
            await socket.accept()
            await self._links.serve(socket, node_id)
        except (*AWAY, *RERUN) as error:  # the node's end or the database; the node dials again
            log.info("link.ended", node=node_id, why=repr(error))
            await socket.close(1013, "try again")


@post("/nodes/enrol", status_code=200, responses=problems(EnrolmentRefused), security=[])
async def enrol(data: Enrol, services: Services) -> Enrolled:
    """A machine shows its single-use token and its key, and is a node from then on."""
    async with services.worker_db.write() as tx:
        node_id = await commands.enrol(tx, data, ids=services.ids, now=services.clock.now())
        verifiers = await first_verifiers(tx, node_id, services)
    return Enrolled(node_id=node_id, verifiers=verifiers)


@post("/nodes/rotate-key", status_code=200, responses=problems(RotationRefused), security=[])
async def rotate_node_key(data: RotateKey, services: Services) -> RotatedKey:
    """A node changes its key: it shows an operator's token and proves that it has both keys."""
    async with services.worker_db.write() as tx:
        node_id = await rotate_key(tx, data, now=services.clock.now())
        verifiers = await first_verifiers(tx, node_id, services)
    await services.links.cut(node_id, "the key was changed")
    return RotatedKey(node_id=node_id, verifiers=verifiers)


async def first_verifiers(tx: Tx, node_id: str, services: Services) -> list[Verifier]:
    """The current task key. The node trusts it because an operator's token brought it here."""
    await task_keys.lock(tx, shared=True)
    current = (await task_keys.generations(tx)).current
    await task_keys.accepted(tx, {node_id: current})
    return [services.task_keys.signer(current).verifier]


ROUTER = Router("/internal/v1", route_handlers=[enrol, rotate_node_key], include_in_schema=False)
