"""One terminal of an engine, used as an agent would, until its shell ends."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

from gpuaas.engines.base import EngineTerminal, EngineTerminals
from tests.patience import PATIENCE_SECONDS

Conversation = tuple[str, int | None, str]


async def converse(terminals: EngineTerminals, allocation_id: str, boot: int, typed: str) -> Conversation:
    """All it showed, its exit code, and why it was ended if it was not the shell's doing. The window is 40 by 132."""
    terminal = await terminals.open(allocation_id, boot, "term_conversation")
    ending = asyncio.ensure_future(terminal.ended())
    shown = bytearray()
    try:
        terminal.resize(40, 132)
        os.write(terminal.descriptor, typed.encode())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not ending.done():
                await asyncio.sleep(0.01)
                take(terminal.descriptor, shown)
        end = await ending
        take(terminal.descriptor, shown)
        return shown.decode(errors="replace"), end.exit_code, end.reason
    finally:
        ending.cancel()
        terminal.close()


def take(descriptor: int, shown: bytearray) -> None:
    try:
        while data := os.read(descriptor, 65_536):
            shown += data
    except OSError:
        return  # nothing more now, or ever


class RemoteTerminals:
    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    async def open(self, allocation_id: str, boot: int, name: str) -> EngineTerminal:
        raise NotImplementedError(f"{name} of {allocation_id} at boot {boot} is in another process")

    async def take_over(self) -> list[tuple[str, str, EngineTerminal]]:
        raise NotImplementedError("they are in another process")

    async def converse(self, allocation_id: str, boot: int, typed: str) -> Conversation:
        shown, code, reason = await self._ask("converse", [allocation_id, boot, typed])
        return str(shown), code, str(reason)
