"""For agents, outside the public contract: enrolment and the link."""

from contextlib import suppress
from typing import Any

from litestar import Router, WebSocket, post, websocket
from litestar.exceptions import WebSocketDisconnect

from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.domain.capacity import commands
from gpuaas.domain.capacity.commands import EnrolmentRefused
from gpuaas.wire.link import Enrol, Enrolled

AnySocket = WebSocket[Any, Any, Any]


class LitestarSocket:
    """A WebSocket as the links want it: bytes only, and a plain error when it is gone."""

    def __init__(self, socket: AnySocket) -> None:
        self._socket = socket

    async def send(self, data: bytes) -> None:
        try:
            await self._socket.send_bytes(data)
        except WebSocketDisconnect as error:
            raise ConnectionResetError("the node's link is gone") from error

    async def receive(self) -> bytes:
        try:
            return await self._socket.receive_bytes()
        except WebSocketDisconnect as error:
            raise ConnectionResetError("the node's link is gone") from error

    async def close(self, code: int, reason: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):  # gone already
            await self._socket.close(code=code, reason=reason)


@post("/nodes/enrol", status_code=200, responses=problems(EnrolmentRefused), security=[])
async def enrol(data: Enrol, services: Services) -> Enrolled:
    """A machine shows its single-use token and its key, and is a node from then on."""
    async with services.worker_db.write() as tx:
        node_id = await commands.enrol(tx, data, ids=services.ids, now=services.clock.now())
    return Enrolled(node_id=node_id, verifiers=[services.signer.verifier])


@websocket("/nodes/{node_id:str}/link")
async def link(socket: AnySocket, node_id: str) -> None:
    """The node's one link; see wire/link.py."""
    services: Services = socket.app.state.services
    await socket.accept()
    with suppress(ConnectionResetError):
        await services.links.serve(LitestarSocket(socket), node_id)


ROUTER = Router("/internal/v1", route_handlers=[enrol, link], include_in_schema=False)
