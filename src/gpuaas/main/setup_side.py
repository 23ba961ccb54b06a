"""The supervisor's side of the setup process."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from gpuaas.cli.complaints import Complaint
from gpuaas.main.up_messages import Event, MakeToken, NodeIs, Order, SetUp, TokenMade, encode, events

LOOK_SECONDS = 0.1
LONGEST_LINE = 1 << 20


class SetupSide:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, wanted: SetUp) -> "SetupSide":
        made = cls(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "gpuaas.main.up_setup", str(os.getpid())),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
                start_new_session=True,  # Ctrl-C is for the supervisor
            )
        )
        await made._order(wanted)
        return made

    async def event(self, check: Callable[[], None]) -> Event | None:
        """The next event, or None at the end; `check` raises if there is nothing to wait for."""
        assert self._process.stdout is not None  # noqa: S101 (it was asked for)
        reading = asyncio.create_task(self._process.stdout.readline())
        try:
            while not reading.done():
                check()
                await asyncio.wait({reading}, timeout=LOOK_SECONDS)
        finally:
            reading.cancel()
        line = reading.result()
        return events.decode(line) if line else None

    async def token(self, check: Callable[[], None]) -> str:
        await self._order(MakeToken())
        event = await self.event(check)
        if not isinstance(event, TokenMade):
            raise Complaint("the setup process made no token", next_step="start again")
        return event.token

    async def tell_node(self, node_id: str) -> None:
        await self._order(NodeIs(node_id))

    async def end(self) -> None:
        with suppress(ProcessLookupError):  # it has already ended
            if self._process.returncode is None:
                self._process.terminate()
        await self._process.wait()

    async def _order(self, order: Order) -> None:
        assert self._process.stdin is not None  # noqa: S101 (it was asked for)
        with suppress(BrokenPipeError, ConnectionResetError):  # the end of its events shows it
            self._process.stdin.write(encode(order))
            await self._process.stdin.drain()
