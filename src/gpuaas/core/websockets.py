"""A WebSocket as an ASGI application has it, and the extension with which our server lifts its first limit."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from gpuaas.core.traces import nothing

ADMIT = "gpuaas.admit"  # the extension of our WebSocket protocol; main/websockets.py
FAREWELL_SECONDS = 1.0
GONE = (OSError, RuntimeError)  # what sending raises when the other end is gone


def admit_of(scope: Mapping[str, Any]) -> Callable[[], None]:
    """The call that lifts the limit on a socket's messages, made when the other end has proved its identity."""
    extensions: dict[str, Any] = scope.get("extensions") or {}
    admit: Callable[[], None] = extensions.get(ADMIT, {}).get("admit", nothing)
    return admit


class MessageSocket:
    """An accepted WebSocket. `receive` and `send` are those of ASGI: nothing between a message and the loop."""

    __slots__ = ("admit", "receive", "send")

    def __init__(
        self,
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
        admit: Callable[[], None] = nothing,
    ) -> None:
        self.receive, self.send, self.admit = receive, send, admit

    async def send_json(self, message: msgspec.Struct) -> None:
        """Best effort: the other end may not read any more."""
        with suppress(*GONE):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.send({"type": "websocket.send", "text": msgspec.json.encode(message).decode()})

    async def close(self, code: int, reason: str) -> None:
        with suppress(*GONE):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.send({"type": "websocket.close", "code": code, "reason": reason})


async def accept(
    receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]], offered: list[str], subprotocol: str
) -> str:
    """Accept the socket. The answer is what was offered beside the subprotocol: a token, or nothing that is one."""
    await receive()
    chosen = subprotocol if subprotocol in offered else None
    await send({"type": "websocket.accept", "subprotocol": chosen, "headers": []})
    return next((word for word in offered if word != subprotocol), "") if chosen else ""
