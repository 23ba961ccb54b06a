"""Limits of the HTTP front end: what one connection may cost before its request is complete.

uvicorn limits neither the size of a request's head nor the time it takes, and httptools copies an unfinished header
at every read: one connection with an endless header stalls the event loop. This subclass counts bytes and headers
while the head is incomplete, and `Waiting` closes connections that take too long or are too many.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

SWEEP_SECONDS = 1.0
log = structlog.get_logger()
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, kw_only=True)
class FrontEndLimits:
    """Requests of the console and the CLI have heads of about 1 KiB; a browser's cookies may add some."""

    head_bytes: int = 16_384  # request line and headers
    url_bytes: int = 4_096  # api/edge.py refuses more than 2,000 with a problem document
    header_count: int = 64
    framing_bytes: int = 65_536  # chunk sizes, extensions and trailers, beyond the size of the body
    pipelined: int = 16  # requests that wait behind another one on the same connection
    head_seconds: float = 10.0  # from the connection, or the last response, to the end of the headers
    request_seconds: float = 30.0  # the same, to the end of the body
    waiting_per_source: int = 256  # connections of one address without a complete request
    waiting: int = 4_096  # of all addresses
    grace_seconds: float = 1.0  # a connection over the limit of its address is closed when it is older than this


class Refused(Exception):
    """Raised in a parser callback; the connection receives `status` and is closed."""


class Waiting:
    """Connections without a complete request, oldest first. One timer serves all of them."""

    def __init__(self, limits: FrontEndLimits, trusted: Sequence[Network] = ()) -> None:
        self._limits, self._trusted = limits, trusted
        self._since: dict[LimitedProtocol, float] = {}
        self._by_source: dict[str, dict[LimitedProtocol, float]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: "LimitedProtocol") -> None:
        now = connection.loop.time()
        self._since[connection] = now
        if (source := connection.source) is not None:
            mine = self._by_source.setdefault(source, {})
            mine[connection] = now
            if len(mine) > self._limits.waiting_per_source:
                self._close_oldest(mine, now - self._limits.grace_seconds)
        if len(self._since) > self._limits.waiting:
            self._close_oldest(self._since, now)
        if self._timer is None:
            self._timer = connection.loop.call_later(SWEEP_SECONDS, self._sweep, connection.loop)

    def discard(self, connection: "LimitedProtocol") -> None:
        if self._since.pop(connection, None) is None or (source := connection.source) is None:
            return
        mine = self._by_source[source]
        del mine[connection]
        if not mine:
            del self._by_source[source]

    def is_trusted(self, address: str) -> bool:
        """A proxy's connections carry requests of many people, so the limit per address does not apply."""
        try:
            return any(ip_address(address) in network for network in self._trusted)
        except ValueError:
            return False

    def _close_oldest(self, connections: "dict[LimitedProtocol, float]", before: float) -> None:
        oldest, since = next(iter(connections.items()))
        if since <= before:
            oldest.give_up("too many connections wait for their request")

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection, since in list(self._since.items()):
            if since > now - min(self._limits.head_seconds, self._limits.request_seconds):
                break
            limit = self._limits.request_seconds if connection.has_head else self._limits.head_seconds
            if since <= now - limit and not connection.is_paused:
                connection.give_up("the request took too long")
        self._timer = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._since else None


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits; `limited` sets them."""

    limits: FrontEndLimits
    waiting: Waiting

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.source: str | None = None  # None: no limit per address
        self.has_head = False
        self._completed = False  # a message ended in the data that is being parsed
        self._head_bytes = self._url_bytes = self._header_bytes = self._framing = self._body_bytes = 0
        self._refusal = (400, "Invalid HTTP request received.")

    @property
    def is_paused(self) -> bool:
        return self.flow.read_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self.source = None if self.waiting.is_trusted(address) else address
        self.waiting.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.waiting.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        had_head, self._completed = self.has_head, False
        super().data_received(data)
        if self.transport.is_closing() or self._completed:
            return
        if had_head and self.has_head:
            self._framing += len(data)
            if self._framing - self._body_bytes > self.limits.framing_bytes + self._body_bytes:
                self._refuse(413, "The framing of the request body is too large.")
        elif not self.has_head:
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.head_bytes:
                self._refuse(431, "The request line and headers are too large.")

    def handle_websocket_upgrade(self) -> None:
        self.waiting.discard(self)
        super().handle_websocket_upgrade()

    # Parser callbacks: an exception in one reaches uvicorn as a parser error, which it answers by send_400_response.

    def on_message_begin(self) -> None:
        self._url_bytes = self._header_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._url_bytes += len(url)
        if self._url_bytes > self.limits.url_bytes:
            self._stop(414, "The URL is too long.")
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        too_many = not self.has_head and len(self.headers) >= self.limits.header_count
        if too_many or self._header_bytes > self.limits.head_bytes:
            self._stop(431, "The request line and headers are too large.")
        if not self.has_head:  # ignore trailers
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= self.limits.pipelined:
            self._stop(400, "Too many pipelined requests.")
        self.has_head = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.has_head, self._completed = False, True
        self._head_bytes = self._framing = self._body_bytes = 0
        self.waiting.discard(self)
        super().on_message_complete()
        if (cycle := self._cycle()) and cycle.response_complete:  # answered before its body had arrived
            self.waiting.add(self)

    def on_response_complete(self) -> None:
        is_busy = bool(self.pipeline)
        super().on_response_complete()
        if not self.transport.is_closing() and (self.has_head or not is_busy):
            self.waiting.discard(self)
            self.waiting.add(self)

    # Refusals

    def give_up(self, why: str) -> None:
        log.info("http.connection_closed", why=why, source=self.source or "proxy")
        if self.has_head or self._head_bytes:
            self._refuse(408, "The request took too long.")
        else:
            self.waiting.discard(self)
            self.transport.close()

    def _stop(self, status: int, message: str) -> None:
        self._refusal = (status, message)
        raise Refused(message)

    def _refuse(self, status: int, message: str) -> None:
        self._refusal = (status, message)
        self.send_400_response(message)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - the refusal is more exact
        self.waiting.discard(self)
        if self._is_answerable():
            status, message = self._refusal
            head = (
                f"HTTP/1.1 {status} {PHRASES[status]}\r\ncontent-type: text/plain; charset=utf-8\r\n"
                f"content-length: {len(message)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write((head + message).encode())
        self.transport.close()

    def _is_answerable(self) -> bool:
        """False while the response to an earlier request on this connection is pending."""
        cycle = self._cycle()
        if cycle is None or cycle.response_complete:
            return True
        return self.has_head and not self.pipeline and not cycle.response_started

    def _cycle(self) -> RequestResponseCycle | None:
        return self.cycle


PHRASES = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Content Too Large",
    414: "URI Too Long",
    431: "Request Header Fields Too Large",
}


def limited(limits: FrontEndLimits, trusted: Sequence[Network] = ()) -> type[LimitedProtocol]:
    """The protocol class of one server, with its waiting connections."""
    fields = {"limits": limits, "waiting": Waiting(limits, trusted)}
    return type("BoundLimitedProtocol", (LimitedProtocol,), fields)
