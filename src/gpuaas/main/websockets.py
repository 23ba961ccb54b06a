"""WebSockets under uvicorn, faster for the most frequent messages: binary messages of one frame (core/frames.py).

Everything else on a socket (text, fragments, pings, closings, malformed frames) goes to the library, frame by frame,
so its state is that of a socket without the fast frames.
"""

from http import HTTPStatus
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import OPEN

from gpuaas.core import frames
from gpuaas.core.websockets import ADMIT

FINAL, CONTROL = 0x80, 0x08
FIRST_BYTES = 65_536  # the largest message before the application admits the other end; a hello has a few KiB
MOST_WAITING, LARGE = 4, 65_536  # untaken small messages before reading pauses; one larger message suffices


class QuickProtocol(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rest, self._needed = bytearray(), 0
        self._limit(min(FIRST_BYTES, self.config.ws_max_size))
        self._is_quick = False  # from the answered handshake until something arrives that only the library may handle
        self._is_early = False  # data came before the answer: the library may hold a part of it
        self._is_fragment = False

    def _limit(self, message_bytes: int) -> None:
        self._most = frames.MASK_BYTES + message_bytes
        self.conn.max_message_size = message_bytes

    def admit(self) -> None:
        """The application has authenticated the other end."""
        self._limit(self.config.ws_max_size)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            self.scope["extensions"][ADMIT] = {"admit": self.admit}  # the application runs later than this

    def data_received(self, data: bytes) -> None:
        if not self._is_quick:
            self._is_early = self.handshake_initiated
            super().data_received(data)
            return
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return
            data = bytes(self._rest)
            self._rest.clear()
        begin, size = 0, len(data)
        while begin < size:
            mask, end = frames.cut(data, begin)
            is_plain = self._is_plain(data, begin, end - mask)
            if end > size:
                self._keep(data[begin:], end - begin, is_plain=is_plain)
                return
            if is_plain:
                self._take(frames.unmasked(data, mask, end))
            else:
                self._leave(data[begin:end])
            begin = end

    def _is_plain(self, data: bytes, begin: int, length: int) -> bool:
        """Decided from the bytes that have arrived."""
        is_masked = len(data) == begin + 1 or data[begin + 1] & frames.MASKED
        is_message = data[begin] == frames.BINARY and not self._is_fragment
        return bool(is_message and is_masked and length <= self._most and self.conn.state is OPEN)

    def _keep(self, part: bytes, needed: int, *, is_plain: bool) -> None:
        """Keep a part until the rest arrives. The library checks a frame by its first bytes, so it gets other frames
        at once, and then everything that follows.
        """
        if is_plain:
            self._rest += part
            self._needed = needed
        else:
            self._is_quick = False
            super().data_received(part)

    def _take(self, data: bytes) -> None:
        self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        if not self.read_paused and (self.queue.qsize() >= MOST_WAITING or len(data) > LARGE):
            self.read_paused = True
            self.transport.pause_reading()

    def _leave(self, frame: bytes) -> None:
        if not frame[0] & CONTROL:
            self._is_fragment = not frame[0] & FINAL
        super().data_received(frame)

    async def send(self, message: Any) -> None:
        data = message.get("bytes")
        if not self._is_quick or data is None or self.close_sent:
            await super().send(message)
            if message["type"] == "websocket.accept":
                self._is_quick = not self._is_early
            return
        if not self.writable.is_set():
            await self.writable.wait()
        if self.disconnected or self.conn.state is not OPEN:
            raise ClientDisconnected
        self.transport.write(frames.plain(data))
