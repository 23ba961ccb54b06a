"""Checks of a request before routing, and the token that a request presents."""

import json
import re
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from litestar.types import HTTPScope, Receive, WebSocketScope

from gpuaas.api.problems import UnsupportedMediaType
from gpuaas.core.errors import BodyTooLarge, Problem, TokenMissing, ValidationError

BODY_LIMIT = 1 << 20
TARGET_LIMIT = 2000
KEY_LIMIT = 200
# More lists and objects than any valid request has, and few enough that nesting cannot exceed the parser's limit.
MOST_BRACKETS = 800
COOKIE = "gpuaas_session"
CSRF_HEADER = b"x-gpuaas-request"
KEY_HEADER = b"x-idempotency-key"
PROJECT_HEADER = b"x-project-id"
Headers = Mapping[bytes, bytes]
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_CORRELATION = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
KEY = re.compile(rb"[!-~]{1,%d}" % KEY_LIMIT)


class CsrfRefused(Problem):
    status, code = 403, "csrf_refused"

    def __init__(self) -> None:
        super().__init__(
            "A change with a session cookie must come from the console, with the header X-GPUaaS-Request. "
            "Scripts use a token."
        )


def correlation_of(headers: Headers) -> str | None:
    """The client's own id, if it is well-formed, so that the logs of client and server can be matched."""
    given = headers.get(b"x-correlation-id")
    return given.decode() if given and OWN_CORRELATION.fullmatch(given) else None


async def read_body(scope: HTTPScope, headers: Headers, receive: Receive) -> bytes | None:
    """Read and check the body; None if the client has disconnected. Raises a Problem for a request that is refused."""
    check_target(scope)
    check_key(headers)
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message["body"]
        more = message["more_body"]
        if len(body) > BODY_LIMIT:
            raise BodyTooLarge("A request body can have at most 1 MiB.")
    if body:
        check_body(headers, body)
    return body


def check_target(scope: HTTPScope) -> None:
    raw = scope.get("raw_path", b"") + b"?" + scope.get("query_string", b"")
    if len(raw) > TARGET_LIMIT:
        raise ValidationError(f"A URL can have at most {TARGET_LIMIT} characters. Shorten it.")
    if b"\x00" in raw or b"%00" in raw:
        raise ValidationError("A URL cannot contain the character NUL. Remove it.")
    try:
        scope["path"].encode()
    except UnicodeEncodeError as error:
        raise ValidationError("A URL must be UTF-8. Encode it again.") from error


def check_key(headers: Headers) -> None:
    key = headers.get(KEY_HEADER)
    if key is not None and not KEY.fullmatch(key):
        why = f"1 to {KEY_LIMIT} visible ASCII characters"
        raise ValidationError(f"An idempotency key must be {why}. Use a UUID.", errors={"X-Idempotency-Key": why})


def check_body(headers: Headers, body: bytes) -> None:
    """Bodies that are not JSON are left to the decoder of the route's type, which reports the position of the error."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise UnsupportedMediaType
    if b"\x00" in body or b"\\u0000" in body:
        raise ValidationError("Text cannot contain the character NUL. Remove it.")
    if body.count(b"{") + body.count(b"[") > MOST_BRACKETS:
        raise ValidationError(f"A body can contain at most {MOST_BRACKETS} lists and objects. Send smaller requests.")
    try:
        json.loads(body.decode(), object_pairs_hook=check_names)
    except UnicodeDecodeError as error:
        raise ValidationError("A body must be UTF-8. Encode it again.") from error
    except ValueError:
        return


def check_names(pairs: list[tuple[str, object]]) -> None:
    """Duplicate names are refused, because two parsers may choose different values."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ValidationError(f"The field {name} is given twice. Give it once.", errors={name: "given twice"})
        seen.add(name)


def is_own_origin(origin: str, scope: HTTPScope | WebSocketScope, host: str, public_url: str) -> bool:
    """Whether scheme, host and port are those of GPUAAS_URL, or of the address at which this request arrived.

    A page of the same host with another scheme is not accepted: over http, anybody on the network path can write one.
    """
    asked, public = urlsplit(origin), urlsplit(public_url)
    if not asked.netloc:
        return False
    if asked.netloc == public.netloc:
        return asked.scheme == public.scheme
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    return (asked.scheme, asked.netloc) == (scheme, host)


def token_of(scope: HTTPScope, public_url: str, headers: Headers | None = None) -> str:
    """From the Authorization header, or from the session cookie if the request provably comes from a page of this
    server.
    """
    headers = dict(scope["headers"]) if headers is None else headers
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer" and token:
        return token.decode("latin-1").strip()
    try:
        cookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE)
    except CookieError:
        cookie = None
    if cookie is None:
        raise TokenMissing("Log in, and send the token as `Authorization: Bearer …`.")
    if scope["method"] not in SAFE_METHODS:
        origin, host = (headers.get(name, b"").decode("latin-1") for name in (b"origin", b"host"))
        if CSRF_HEADER not in headers or not is_own_origin(origin, scope, host, public_url):
            raise CsrfRefused
    return cookie.value
