"""One terminal of this node. It outlives the streams that show it, until it ends or is detached for too long.

Output is kept until the server confirms it, and a window of older output is kept for a reattach: a broken stream
loses nothing, and a client that attaches again sees the last screen. The agent does not read a terminal with too much
unconfirmed output, so programs inside block, and memory is bounded. If the engine keeps terminals, the next agent
takes them over with all of that.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

from gpuaas.agent.scrollback import PTY, READ, Scrollback
from gpuaas.agent.streams.kinds import StreamSocket
from gpuaas.engines.base import EngineTerminal
from gpuaas.wire.link import EndedTerminal
from gpuaas.wire.terminals import WINDOW, Begin, Confirm, Error, Exit, Resize, TerminalTarget, to_agent

SENT = 65_536  # bytes at a time
NOBODY = "it was detached for too long"


class Terminal:
    def __init__(self, *, id: str, allocation_id: str, shell: EngineTerminal, on_news: Callable[[], None]) -> None:
        self.id, self.allocation_id = id, allocation_id
        self._shell, self._on_news = shell, on_news
        self._loop = asyncio.get_running_loop()
        self._kept = Scrollback(shell.memory)
        self._sent = 0
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._is_reading = False
        self._viewer: asyncio.Task[None] | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.end: EndedTerminal | None = None
        self._watch = asyncio.create_task(self._wait())
        self._read_on()

    @property
    def is_attached(self) -> bool:
        return self._viewer is not None

    # The shell's side

    async def _wait(self) -> None:
        end = await self._shell.ended()
        while end.exit_code is not None and (self._is_full or self._read()):  # its last output
            self._room.clear()
            if self._is_full:
                await self._room.wait()
        self.finish(end.reason or f"the shell ended with code {end.exit_code}", end.exit_code)

    def finish(self, reason: str, exit_code: int | None = None) -> None:
        if self.end is not None:
            return
        self.end = EndedTerminal(id=self.id, reason=reason, exit_code=exit_code)
        self._pause()
        self._watch.cancel()
        self._shell.close()
        self._news.set()
        self._on_news()

    def leave(self) -> None:
        """Release the terminal. If the engine keeps terminals, the next agent finds it as it is now."""
        self._pause()
        self._watch.cancel()
        if self.end is None:
            self._shell.leave()
        self.forget()

    def _read_on(self) -> None:
        if not self._is_reading and self.end is None:
            self._is_reading = True
            self._loop.add_reader(self._shell.descriptor, self._read)

    def _pause(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._shell.descriptor)

    def _read(self) -> bool:
        """Returns whether there was output. A pty returns at most one buffer per read, and larger messages are
        faster, so this reads until a read returns less than a buffer; the event loop reports later output.
        """
        found = 0
        while found < READ:
            try:
                count = self._kept.read_from(self._shell.descriptor)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:  # EIO: the last process closed its terminal
                count = 0
            if not count:
                self._pause()
                break
            found += count
            if count < PTY:
                break
        if found:
            self._news.set()
            self._trim()
        return found > 0

    @property
    def _needed(self) -> int:
        """The offset of the first byte that must be kept."""
        return min(self._kept.confirmed, self._sent) if self.is_attached else self._kept.confirmed

    @property
    def _is_full(self) -> bool:
        return self._kept.end - self._needed >= WINDOW

    def _trim(self) -> None:
        self._kept.trim(self._needed)
        if self._is_full:
            self._pause()

    async def _write(self, data: bytes) -> None:
        while data and self.end is None:
            try:
                data = data[os.write(self._shell.descriptor, data) :]
                if self._is_reading:
                    self._read()  # the echo of the terminal is already available
            except (BlockingIOError, InterruptedError):
                await writable(self._shell.descriptor)
            except OSError:
                return  # no process reads the terminal

    # Streams

    async def show(self, stream: StreamSocket, target: TerminalTarget) -> None:
        """Show the terminal on this stream only, until it breaks, another stream takes over, or the end was sent."""
        if self._viewer is not None:
            self._viewer.cancel()
        self._stop_timer("detached")
        self._sent = self._kept.first
        begin = Begin(offset=self._sent, resumed=not target.is_new)
        self._viewer = mine = asyncio.create_task(self._send(stream, begin))  # replaces an earlier viewer
        hearing = asyncio.create_task(self._hear(stream))
        self._on_news()
        try:
            await asyncio.wait({mine, hearing}, return_when=asyncio.FIRST_COMPLETED)
            if mine.cancelled():
                await stream.close(4409, "opened elsewhere")
        finally:
            for task in (mine, hearing):
                task.cancel()
            await asyncio.gather(mine, hearing, return_exceptions=True)
            if self._viewer is mine:
                self._viewer = None
                self._start_timer("detached", target.detached_seconds, NOBODY)
                self._on_news()

    async def _send(self, stream: StreamSocket, begin: Begin) -> None:
        await stream.send(msgspec.json.encode(begin).decode())
        while True:
            if self._sent < self._kept.end:
                data = self._kept.part(self._sent, SENT)
                self._sent += len(data)
                await stream.send(data)
            elif self.end is not None:
                end = self.end
                last = Error(reason=end.reason) if end.exit_code is None else Exit(code=end.exit_code)
                await stream.send(msgspec.json.encode(last).decode())
                return
            else:
                self._news.clear()
                await self._news.wait()

    async def _hear(self, stream: StreamSocket) -> None:
        while True:
            message = await stream.recv()
            if isinstance(message, bytes):
                await self._write(message)
                continue
            match to_agent.decode(message):
                case Resize(cols=cols, rows=rows) if self.end is None:
                    self._shell.resize(rows, cols)
                case Confirm(offset=offset):
                    self._kept.confirm(offset)
                    self._trim()
                    if not self._is_full:
                        self._room.set()
                        self._read_on()

    def limit(self, target: TerminalTarget) -> None:
        self._kept.keep_limits(self._loop.time() + target.seconds_left, target.detached_seconds)
        self._limit(target.seconds_left)

    def _limit(self, seconds: float) -> None:
        self._start_timer("life", seconds, "it reached the longest life that a terminal may have")

    def resume(self) -> None:
        """An earlier agent opened the terminal, and no stream shows it yet."""
        ends, detached_seconds = self._kept.limits()
        self._limit(max(0.0, ends - self._loop.time()))
        self._start_timer("detached", detached_seconds, NOBODY)

    def _start_timer(self, name: str, seconds: float, reason: str) -> None:
        self._stop_timer(name)
        self._timers[name] = self._loop.call_later(seconds, self.finish, reason)

    def _stop_timer(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()

    @property
    def is_over(self) -> bool:
        """Ended, and no stream has to send the end any more."""
        return self.end is not None and not self.is_attached

    def forget(self) -> None:
        """Free timers and memory."""
        for name in list(self._timers):
            self._stop_timer(name)
        self._kept.close()


async def writable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_writer(descriptor, tell)
    try:
        await ready
    finally:
        with suppress(ValueError, OSError):  # closed in the meantime
            loop.remove_writer(descriptor)
