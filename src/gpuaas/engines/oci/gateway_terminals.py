"""Browser terminals for the agent: shells that the SSH gateway keeps, also while no agent runs."""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Iterable
from typing import Any, Protocol

from gpuaas.engines.base import EngineError, TerminalEnd
from gpuaas.engines.oci import gateway_protocol as protocol
from gpuaas.engines.oci.gateway_protocol import TerminalResult

PAUSE_SECONDS = 0.2


class Ask(Protocol):
    """`Gateway.ask`."""

    async def __call__(
        self,
        request: protocol.Request,
        kind: Any,
        *,
        descriptors: tuple[int, ...] = (),
        received: Any = None,
        seconds: float | None = 30.0,
    ) -> Any: ...


class GatewayTerminal:
    """An EngineTerminal. The gateway has the same terminal open, so that an agent that restarts finds it again."""

    def __init__(self, terminals: "GatewayTerminals", id: str, descriptor: int) -> None:
        self.id, self.descriptor = id, descriptor
        self._terminals = terminals
        os.set_blocking(descriptor, False)
        self._end: asyncio.Future[TerminalEnd] = asyncio.get_running_loop().create_future()
        self._watch = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        while not self._end.done():
            try:
                result: TerminalResult = await self._terminals.ask(
                    protocol.WaitTerminal(self.id), TerminalResult, seconds=None
                )
            except EngineError:
                await asyncio.sleep(PAUSE_SECONDS)  # there is a new gateway soon, and the shell lives on
                continue
            if not self._end.done():
                self._end.set_result(TerminalEnd(result.exit_code, result.reason))

    def resize(self, rows: int, cols: int) -> None:
        if self.descriptor >= 0:
            fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def ended(self) -> TerminalEnd:
        return await asyncio.shield(self._end)

    def close(self) -> None:
        """Hangs up: the gateway's own descriptor goes too."""
        self._watch.cancel()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
            self._terminals.closed(self)


class GatewayTerminals:
    """EngineTerminals of every environment of the node."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._open: dict[str, GatewayTerminal] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self, allocation_id: str, boot: int) -> GatewayTerminal:
        return await self._receive(protocol.OpenTerminal(allocation_id, boot))

    async def attach(self, terminal_id: str) -> GatewayTerminal:
        """One that an earlier agent opened."""
        return await self._receive(protocol.AttachTerminal(terminal_id))

    async def _receive(self, request: protocol.Request) -> GatewayTerminal:
        found: list[int] = []
        id: str = await self.ask(request, str, received=found.extend)
        if not found:
            raise EngineError("the SSH gateway gave no terminal", id)
        terminal = self._open[id] = GatewayTerminal(self, id, found[0])
        return terminal

    def closed(self, terminal: GatewayTerminal) -> None:
        self._open.pop(terminal.id, None)
        task = asyncio.create_task(self._close(terminal.id))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, id: str) -> None:
        try:
            await self.ask(protocol.CloseTerminal(id), None)
        except EngineError:
            return  # a gateway that is gone has let go of it; its shell is hung up with the last descriptor

    async def end_abandoned(self, ids: Iterable[str]) -> None:
        """Terminals of an agent that died: nobody can reach them any more."""
        for id in ids:
            if id not in self._open:
                await self._close(id)

    async def reconnected(self) -> None:
        """A gateway that was killed has lost its descriptors: the next one gets those of this agent."""
        for id, terminal in list(self._open.items()):
            try:
                await self.ask(protocol.AdoptTerminal(id), None, descriptors=(terminal.descriptor,))
            except EngineError:
                continue  # it has ended, which `ended` tells

    async def settle(self) -> None:
        """Wait until the gateway was told of every terminal that was closed."""
        await asyncio.gather(*self._closing, return_exceptions=True)
