"""Browser terminals for the agent: shells kept by the SSH gateway, even while no agent runs."""

import asyncio
import fcntl
import os
import struct
import termios
from typing import Any, Protocol

from gpuaas.engines.base import EngineError, EngineTerminal, TerminalEnd
from gpuaas.engines.oci import gateway_protocol as protocol
from gpuaas.engines.oci.gateway_protocol import TERMINAL_DESCRIPTORS, TerminalResult, TerminalState

PAUSE_SECONDS = 0.2


class Ask(Protocol):
    """`GatewayClient.ask`."""

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
    """An EngineTerminal. The gateway keeps the same descriptors open for the next agent."""

    def __init__(self, terminals: "GatewayTerminals", id: str, descriptors: list[int]) -> None:
        self.id = id
        self.descriptor, self.memory = descriptors
        self._terminals = terminals
        os.set_blocking(self.descriptor, False)
        self._end: asyncio.Future[TerminalEnd] = asyncio.get_running_loop().create_future()
        self._watch = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        while not self._end.done():
            try:
                result: TerminalResult = await self._terminals.ask(
                    protocol.WaitTerminal(self.id), TerminalResult, seconds=None
                )
            except EngineError:
                await asyncio.sleep(PAUSE_SECONDS)  # a new gateway starts soon, and the shell continues
                continue
            if not self._end.done():
                self._end.set_result(TerminalEnd(result.exit_code, result.reason))

    def resize(self, rows: int, cols: int) -> None:
        if self.descriptor >= 0:
            fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def ended(self) -> TerminalEnd:
        return await asyncio.shield(self._end)

    def close(self) -> None:
        """Hang up; the gateway closes its descriptor too."""
        if self._let_go():
            self._terminals.closed(self.id)

    def leave(self) -> None:
        if self._let_go():
            self._terminals.left(self.id)

    def _let_go(self) -> bool:
        self._watch.cancel()
        if self.descriptor < 0:
            return False
        os.close(self.descriptor)
        os.close(self.memory)
        self.descriptor = self.memory = -1
        return True


class GatewayTerminals:
    """EngineTerminals of all environments of the node."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._open: dict[str, GatewayTerminal] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self, allocation_id: str, boot: int, name: str) -> GatewayTerminal:
        return await self._receive(protocol.OpenTerminal(allocation_id, boot, name))

    async def listed(self) -> list[TerminalState]:
        found: list[TerminalState] = await self.ask(protocol.ListTerminals(), list[TerminalState])
        return found

    async def take_over(self) -> list[tuple[str, str, EngineTerminal]]:
        """Attach; a terminal that cannot be attached is ended."""
        found: list[tuple[str, str, EngineTerminal]] = []
        for state in await self.listed():
            if state.id in self._open:
                continue
            try:
                terminal = await self.attach(state.id)
            except EngineError:
                await self._close(state.id)
                continue
            if state.name:
                found.append((state.name, state.allocation_id, terminal))
            else:
                terminal.close()  # a gateway of an earlier release stored no name
        return found

    async def attach(self, terminal_id: str) -> GatewayTerminal:
        """Attach to a terminal of a previous agent."""
        return await self._receive(protocol.AttachTerminal(terminal_id))

    async def _receive(self, request: protocol.Request) -> GatewayTerminal:
        found: list[int] = []
        id: str = await self.ask(request, str, received=found.extend)
        if len(found) != TERMINAL_DESCRIPTORS:
            for descriptor in found:
                os.close(descriptor)
            raise EngineError("the SSH gateway gave no terminal", id)
        terminal = self._open[id] = GatewayTerminal(self, id, found)
        return terminal

    def left(self, id: str) -> None:
        self._open.pop(id, None)

    def closed(self, id: str) -> None:
        self._open.pop(id, None)
        task = asyncio.create_task(self._close(id))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close(self, id: str) -> None:
        try:
            await self.ask(protocol.CloseTerminal(id), None)
        except EngineError:
            return  # an ended gateway has closed it; the kernel hangs up the shell with the last descriptor

    async def reconnected(self) -> None:
        """Give descriptors to the next gateway after a killed one has lost them."""
        for id, terminal in list(self._open.items()):
            try:
                await self.ask(protocol.AdoptTerminal(id), None, descriptors=(terminal.descriptor, terminal.memory))
            except EngineError:
                continue  # it has ended; `ended` reports that

    async def settle(self) -> None:
        """Wait until the gateway has received all closes."""
        await asyncio.gather(*self._closing, return_exceptions=True)
