"""The part that both clients share: the address of the API, requests to bytes, and answers to values."""

import secrets
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar, cast

import httpx
import msgspec

from gpuaas.sdk.errors import ApiError, InsecureUrl, UnreadableAnswer
from gpuaas.sdk.requests import Repeat, Request
from gpuaas.sdk.retries import Retries
from gpuaas.wire.addresses import is_loopback
from gpuaas.wire.common import ProblemDocument

T = TypeVar("T")
BASE = "/api/v1"


def new_key() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a client behaves; the defaults suit a program that talks to one GPUaaS."""

    retries: Retries = field(default_factory=Retries)
    timeout: float = 30.0  # for one answer, not for a whole wait
    silence: float = 10.0  # an event stream quieter than this is not trusted: look, and open it again
    allow_plain_http: bool = False
    user_agent: str = "gpuaas-python"
    new_key: Callable[[], str] = new_key


class Exchange:
    """Turns requests into httpx requests and httpx answers into values or `ApiError`."""

    def __init__(self, url: str, token: str | None, options: Options) -> None:
        self.url = httpx.URL(url.rstrip("/"))
        check_url(self.url, allow_plain_http=options.allow_plain_http)
        self.options = options
        self._token = token

    @property
    def trust_env(self) -> bool:
        """A loopback address is never reached through a proxy."""
        return not is_loopback(self.url.host)

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """Over plain http no certificate is ever read, and loading the world's authorities takes a while.

        The empty context trusts nobody: it would fail closed if it were ever used.
        """
        return True if self.url.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def prepare(self, request: Request[T]) -> httpx.Request:
        """Called once per request, not per attempt: all attempts carry one idempotency key."""
        headers = {"Accept": "application/json", "User-Agent": self.options.user_agent}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if request.repeat is Repeat.WITH_KEY:
            headers["X-Idempotency-Key"] = request.idempotency_key or self.options.new_key()
        body = None
        if request.body is not None:
            headers["Content-Type"] = "application/json"
            body = msgspec.json.encode(request.body)
        query = {name: query_value(value) for name, value in request.query.items() if value is not None}
        url = f"{self.url}{BASE}{request.path}"
        # A request built by hand carries its own time limits, or it would wait forever.
        extensions = {"timeout": self._limits(self.options.timeout)}
        return httpx.Request(
            request.method, url, headers=headers, content=body, params=query or None, extensions=extensions
        )

    def prepare_stream(self, request: Request[T], last_id: str | None) -> httpx.Request:
        sent = self.prepare(request)
        sent.headers["Accept"] = "text/event-stream"
        sent.headers["Cache-Control"] = "no-store"
        if last_id is not None:
            sent.headers["Last-Event-ID"] = last_id
        sent.extensions["timeout"] = self._limits(self.options.silence)
        return sent

    def _limits(self, read: float) -> dict[str, float | None]:
        return httpx.Timeout(self.options.timeout, connect=min(self.options.timeout, 5.0), read=read).as_dict()


def query_value(value: str | float | date) -> str | float:
    return value.isoformat() if isinstance(value, date) else value


def read(request: Request[T], response: httpx.Response) -> T:
    if not response.is_success:
        raise ApiError(problem_of(response))
    if request.answer is bytes:  # asked for as it is
        return cast("T", response.content)
    try:
        return msgspec.json.decode(response.content or b"null", type=request.answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableAnswer(
            f"{request.method} {request.path} was answered with something this SDK cannot read: {error}",
            correlation_id=response.headers.get("X-Correlation-ID", ""),
        ) from error


def problem_of(response: httpx.Response) -> ProblemDocument:
    """The problem document; or one made of what there is, when a proxy answered in the API's place."""
    try:
        return msgspec.json.decode(response.content, type=ProblemDocument)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ProblemDocument(
            type="about:blank",
            title=response.reason_phrase or "Unexpected answer",
            status=response.status_code,
            detail=f"{response.request.url.host} answered {response.status_code} {response.reason_phrase}".strip(),
            code="unexpected_answer",
            correlation_id=response.headers.get("X-Correlation-ID", ""),
        )


def check_url(url: httpx.URL, *, allow_plain_http: bool) -> None:
    if url.scheme not in {"http", "https"} or not url.host:
        raise InsecureUrl(f"{url} is not an address of a GPUaaS; write it like https://gpuaas.example.com.")
    if url.scheme == "http" and not is_loopback(url.host) and not allow_plain_http:
        raise InsecureUrl(f"{url} would send your token in clear text over a network. Use https.")
