"""The edge: what is refused before anything looks at it, and who a request says it is."""

import re
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from litestar.types import HTTPScope, Receive, Send

from gpuaas.api.problems import send_problem
from gpuaas.core.errors import BodyTooLarge, Problem, TokenMissing, ValidationError
from gpuaas.core.ids import Ids

BODY_LIMIT = 1 << 20
COOKIE = "gpuaas_session"
CSRF_HEADER = b"x-gpuaas-request"
OWN_CORRELATION = re.compile(rb"[A-Za-z0-9_.-]{1,64}")


class CsrfRefused(Problem):
    status, code = 403, "csrf_refused"

    def __init__(self) -> None:
        super().__init__(
            "A change by session cookie must come from our own page, with the header X-GPUaaS-Request. "
            "Scripts use a token."
        )


class Edge:
    def __init__(self, ids: Ids) -> None:
        self._ids = ids

    def correlate(self, scope: HTTPScope) -> str:
        """The caller's own id if it is a plain one, so that both logs can be read side by side."""
        given = dict(scope["headers"]).get(b"x-correlation-id", b"")
        return given.decode() if OWN_CORRELATION.fullmatch(given) else self._ids.new("req")

    async def read(self, scope: HTTPScope, receive: Receive, send: Send) -> bytes | None:
        """The body; or None when the request was refused here."""
        problem: Problem | None = None
        body = bytearray()
        try:
            self._check_target(scope)
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                body += message["body"]
                more = message["more_body"]
                if len(body) > BODY_LIMIT:
                    raise BodyTooLarge("A request body may have 1 MiB at most.")
            if b"\x00" in body or b"\\u0000" in body:
                raise ValidationError("Text may not hold the character NUL.")
        except Problem as refused:
            problem = refused
        if problem is None:
            return bytes(body)
        await send_problem(send, problem)
        return None

    def _check_target(self, scope: HTTPScope) -> None:
        raw = scope.get("raw_path", b"") + b"?" + scope.get("query_string", b"")
        if b"\x00" in raw or b"%00" in raw:
            raise ValidationError("An address may not hold the character NUL.")
        try:
            scope["path"].encode()
        except UnicodeEncodeError as error:
            raise ValidationError("An address must be UTF-8.") from error


def token_of(scope: HTTPScope) -> str:
    """From the Authorization header; or from the session cookie, if the request provably comes from our own page."""
    headers = dict(scope["headers"])
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer" and token:
        return token.decode("latin-1").strip()
    try:
        cookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE)
    except CookieError:
        cookie = None
    if cookie is None:
        raise TokenMissing("Log in, and send the token as `Authorization: Bearer …`.")
    if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
        origin = urlsplit(headers.get(b"origin", b"").decode("latin-1")).netloc
        if CSRF_HEADER not in headers or not origin or origin != headers.get(b"host", b"").decode("latin-1"):
            raise CsrfRefused
    return cookie.value
