"""An API on a real socket that replies as a test says, and records its requests."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from gpuaas.wire.common import FieldError, Page, ProblemDocument
from gpuaas.wire.timeline import Entry

BASE = "/api/v1"


@dataclass(frozen=True)
class Answer:
    value: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass(frozen=True)
class HangUp:
    """The connection breaks before an answer."""


@dataclass(frozen=True)
class Events:
    """A stream of these bytes; then it ends, breaks in the middle of a chunk, or stays open in silence."""

    chunks: tuple[bytes, ...] = ()
    then: str = "end"


Reply = Answer | HangUp | Events


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def key(self) -> str | None:
        return self.headers.get("x-idempotency-key")


def page(*items: object, next_cursor: str | None = None) -> Answer:
    return Answer(Page(items=[*items], next_cursor=next_cursor))


def problem(
    status: int,
    code: str,
    detail: str = "It cannot be done.",
    *,
    headers: dict[str, str] | None = None,
    errors: list[FieldError] | None = None,
    facts: dict[str, object] | None = None,
) -> Answer:
    document = ProblemDocument(
        type=f"/problems/{code}",
        title=code,
        status=status,
        detail=detail,
        code=code,
        correlation_id="corr-7",
        errors=errors or [],
        facts=facts or {},
    )
    return Answer(document, status, headers or {})


def event(entry: Entry, id: str | None = None) -> bytes:
    return b"id: %s\ndata: %s\n\n" % ((id or str(entry.id)).encode(), msgspec.json.encode(entry))


class FakeApi:
    """Each route has a queue of replies; the last one is repeated."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.url = ""
        self.closing = threading.Event()
        self._replies: dict[tuple[str, str], list[Reply]] = {}
        self._lock = threading.Lock()

    def on(self, method: str, path: str, *replies: Reply) -> None:
        with self._lock:
            self._replies[method, BASE + path] = [*replies]

    def reply_to(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            queue = self._replies.get((seen.method, seen.path))
            if not queue:
                return problem(404, "route_not_found", f"The test told nothing about {seen.method} {seen.path}.")
            return queue.pop(0) if len(queue) > 1 else queue[0]

    def asked(self, method: str, path: str) -> list[Seen]:
        with self._lock:
            return [one for one in self.seen if (one.method, one.path) == (method, BASE + path)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    api: FakeApi

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve(self) -> None:
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        seen = Seen(
            self.command,
            url.path,
            dict(parse_qsl(url.query)),
            {name.lower(): value for name, value in self.headers.items()},
            json.loads(body) if body else None,
        )
        match self.api.reply_to(seen):
            case Answer() as answer:
                self.send_answer(answer)
            case HangUp():
                self.close_connection = True
            case Events() as events:
                self.send_events(events)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve  # noqa: N815 - the library's names

    def send_answer(self, answer: Answer) -> None:
        body = answer.raw if answer.raw is not None else msgspec.json.encode(answer.value)
        if answer.status == 204:
            body = b""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_events(self, events: Events) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in events.chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if events.then == "stay":
            self.api.closing.wait()
        elif events.then == "end":
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running_api() -> Iterator[FakeApi]:
    api = FakeApi()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"api": api}))
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        api.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
