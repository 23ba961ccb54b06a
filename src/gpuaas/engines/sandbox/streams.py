"""Descriptors of processes inside, read and written by the agent's loop without ever holding much in memory."""

import asyncio
import os
import socket
from collections.abc import Callable

CHUNK = 65_536


async def readable(descriptor: int, seconds: float | None = None) -> None:
    """Wait until there is something to read, or raise TimeoutError."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, tell)
    try:
        async with asyncio.timeout(seconds):
            await ready
    finally:
        loop.remove_reader(descriptor)


class Reader:
    """Feeds what a descriptor gives to `on_data`, then calls `on_end` once; pausing it holds the writer inside back."""

    def __init__(self, descriptor: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()
        self._descriptor, self._on_data, self._on_end = descriptor, on_data, on_end
        self._is_reading = False
        self.resume()

    def resume(self) -> None:
        if self._descriptor >= 0 and not self._is_reading:
            self._is_reading = True
            self._loop.add_reader(self._descriptor, self._read)

    def pause(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            self.pause()
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # EIO: the last process let go of its terminal
            data = b""
        if data:
            self._on_data(data)
        else:
            self.close()
            self._on_end()


class Writer:
    """Writes to a descriptor; says when it is full and when there is room again."""

    def __init__(self, descriptor: int, on_full: Callable[[], None], on_room: Callable[[], None]) -> None:
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()
        self._descriptor, self._on_full, self._on_room = descriptor, on_full, on_room
        self._waiting = bytearray()
        self._is_ending = False

    def write(self, data: bytes) -> None:
        if self._descriptor < 0 or self._is_ending:
            return
        if self._waiting:
            self._waiting += data
            return
        written = self._put(data)
        if written < len(data) and self._descriptor >= 0:
            self._waiting += data[written:]
            self._loop.add_writer(self._descriptor, self._flush)
            self._on_full()

    def end(self) -> None:
        """No more will come: close once all is written."""
        self._is_ending = True
        if not self._waiting:
            self.close()

    def close(self) -> None:
        if self._descriptor >= 0:
            if self._waiting:
                self._loop.remove_writer(self._descriptor)
                self._waiting.clear()
            self._let_go(self._descriptor)
            self._descriptor = -1

    def _let_go(self, descriptor: int) -> None:
        os.close(descriptor)

    def _put(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self._descriptor, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:  # nobody reads there any more
            self.close()
            return len(data)

    def _flush(self) -> None:
        written = self._put(self._waiting)
        if self._descriptor < 0:
            self._on_room()
            return
        del self._waiting[:written]
        if not self._waiting:
            self._loop.remove_writer(self._descriptor)
            if self._is_ending:
                self.close()
            else:
                self._on_room()


class SocketWriter(Writer):
    """The other half of a socket stays open for reading."""

    def _let_go(self, descriptor: int) -> None:
        with socket.socket(fileno=descriptor) as connection:
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                return  # the far side was faster
