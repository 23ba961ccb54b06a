"""Relays bytes between a browser's socket and an agent's stream, with backpressure in both directions."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from gpuaas.core.websockets import GONE, MessageSocket
from gpuaas.links.streams.terminal_recorder import Recorder
from gpuaas.wire.terminals import (
    ENDED,
    TAKEN_OVER,
    UNREACHABLE,
    UNREADABLE,
    WINDOW,
    Confirm,
    Error,
    Exit,
    FromBrowser,
    Session,
    Shown,
    from_agent,
    from_browser,
)

CONFIRMED_BYTES = WINDOW // 8  # relayed before they are confirmed to the agent
Message = dict[str, Any]


@dataclass(frozen=True)
class Ending:
    """Why a relay ended. If `is_final`, the terminal has ended too; otherwise the browser left or the stream broke."""

    code: int
    reason: str = ""
    exit_code: int | None = None
    is_final: bool = False
    is_told: bool = True


DETACHED = Ending(1000, is_told=False)


class TerminalRelay:
    def __init__(
        self,
        browser: MessageSocket,
        stream: MessageSocket,
        *,
        offset: int,
        recorder: Recorder | None,
        most_recorded: int,
        on_use: Callable[[], object],
    ) -> None:
        self._browser, self._stream, self._recorder = browser, stream, recorder
        self._offset, self._most_recorded, self._on_use = offset, most_recorded, on_use
        self._begin, self._drawn_to, self._drawn = offset, -1, asyncio.Event()
        self._cut: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()

    def end(self, ending: Ending) -> None:
        if not self._cut.done():
            self._cut.set_result(ending)

    async def run(self, said: Session) -> Ending:
        """Relay until one side ends or `end` is called. All relayed output is recorded before this returns."""
        await self._browser.send_json(said)
        recording = asyncio.create_task(self._recorder.run()) if self._recorder else None
        both = {asyncio.create_task(self._show()), asyncio.create_task(self._type())}
        try:
            done, _ = await asyncio.wait({*both, self._cut}, return_when=asyncio.FIRST_COMPLETED)
            # The shell may end at the same time as the browser leaves: then the end of the shell counts.
            return max((task.result() for task in done), key=lambda ending: ending.is_final)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            if self._recorder and recording:
                self._recorder.finish()
                await recording

    async def part(self, ending: Ending) -> None:
        if not ending.is_told:
            return
        if ending.exit_code is not None:
            await self._browser.send_json(Exit(code=ending.exit_code))
        else:
            await self._browser.send_json(Error(reason=ending.reason, reattach=ending.code == UNREACHABLE))
        await self._browser.close(ending.code, ending.reason[:100])

    async def _show(self) -> Ending:
        """From the agent to the browser. A browser that does not read stops this, and the shell with it."""
        receive, send, recorder = self._stream.receive, self._browser.send, self._recorder
        confirmed = self._offset
        while True:
            message: Message = await receive()
            data = message.get("bytes")
            if data is None:
                return self._read_last(message)
            if recorder is not None:
                await recorder.add(self._offset, data)
                if recorder.length > self._most_recorded:
                    return Ending(ENDED, "its recording is full", is_final=True)
            try:
                await send({"type": "websocket.send", "bytes": data})
            except GONE:
                return DETACHED
            self._offset += len(data)
            self._on_use()
            if self._drawn_to >= 0:
                await self._keep_pace()
            if self._offset - confirmed >= CONFIRMED_BYTES:
                confirmed = self._offset
                await self._stream.send_json(Confirm(offset=confirmed))

    async def _keep_pace(self) -> None:
        """A page cannot stop reading its socket and would buffer everything: send at most one window more than it has
        drawn.
        """
        while self._offset - self._drawn_to >= WINDOW:
            self._drawn.clear()
            await self._drawn.wait()

    def _read_last(self, message: Message) -> Ending:
        if message["type"] == "websocket.disconnect":
            if message.get("code") == TAKEN_OVER:
                return Ending(TAKEN_OVER, "this terminal was opened in another window")
            return Ending(UNREACHABLE, "the connection to the node was lost")
        try:
            said = from_agent.decode(message.get("text") or "")
        except (msgspec.DecodeError, RecursionError):
            return Ending(UNREACHABLE, "the node sent an invalid message")
        if isinstance(said, Exit):
            return Ending(1000, f"the shell ended with code {said.code}", exit_code=said.code, is_final=True)
        return Ending(ENDED, said.reason if isinstance(said, Error) else "it began twice", is_final=True)

    async def _type(self) -> Ending:
        """From the browser to the agent."""
        receive, send = self._browser.receive, self._stream.send
        while True:
            message: Message = await receive()
            if message["type"] == "websocket.disconnect":
                return DETACHED
            data = message.get("bytes")
            try:
                if data is None:
                    await self._hear(from_browser.decode(message.get("text") or ""))
                elif data:
                    await send({"type": "websocket.send", "bytes": data})
                    self._on_use()
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                return Ending(UNREADABLE, "a control message could not be read")
            except GONE:
                return Ending(UNREACHABLE, "the connection to the node was lost")

    async def _hear(self, said: FromBrowser) -> None:
        if isinstance(said, Shown):
            self._drawn_to = max(self._drawn_to, self._begin + said.bytes)
            self._drawn.set()
            return
        if self._recorder:
            self._recorder.resize(said.cols, said.rows)
        await self._stream.send_json(said)
