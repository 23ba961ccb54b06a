"""Every refusal as an RFC 9457 document: from our own problems, from Litestar's, and from bugs."""

import re
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import Send

from gpuaas.core.errors import InsufficientPermissions, NotFound, Problem, Raced, RateLimitExceeded, ValidationError
from gpuaas.core.logs import correlation_id
from gpuaas.wire.common import FieldError, ProblemDocument

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "No such method here",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Invalid request",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available",
}
MISSING = re.compile(r"Missing required (?P<place>\w+) parameter '(?P<name>[^']+)'")
AnyRequest = Request[Any, Any, Any]


class RouteNotFound(Problem):
    status, code = 404, "route_not_found"


class MethodNotAllowed(Problem):
    status, code = 405, "method_not_allowed"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This address takes {allowed}.")
        self.allowed = allowed


class UnsupportedMediaType(Problem):
    status, code = 415, "unsupported_media_type"

    def __init__(self) -> None:
        super().__init__("Send the body as JSON, with the header `Content-Type: application/json`.")


class InternalError(Problem):
    status, code = 500, "internal_error"

    def __init__(self) -> None:
        super().__init__("This is our fault. Try again; if it stays, tell us the correlation id.")


class DatabaseAway(Problem):
    status, code = 503, "database_unavailable"

    def __init__(self) -> None:
        super().__init__("The database does not answer now. Nothing was changed; try again in a few seconds.")


def document(problem: Problem) -> ProblemDocument:
    code = f"{problem.noun}_not_found" if isinstance(problem, NotFound) else problem.code
    errors = problem.errors if isinstance(problem, ValidationError) else {}
    return ProblemDocument(
        type=f"urn:gpuaas:problem:{code}",
        title=TITLES.get(problem.status, "Problem"),
        status=problem.status,
        detail=problem.detail,
        code=code,
        correlation_id=correlation_id.get(),
        errors=[FieldError(field=field, message=message) for field, message in errors.items()],
        facts=msgspec.to_builtins(problem.facts),
    )


def on_problem(request: AnyRequest, problem: Problem) -> Response[bytes]:
    """And tell the request's unit of work what it must know of it."""
    unit = request.scope.get("state", {}).get("unit")
    if unit is not None:
        unit.raced = isinstance(problem, Raced)
        unit.denied = problem if isinstance(problem, InsufficientPermissions) else None
    body = msgspec.json.encode(document(problem))
    return Response(body, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers_of(problem))


def headers_of(problem: Problem) -> dict[str, str]:
    """What RFC 9110 asks for with a status."""
    match problem:
        case RateLimitExceeded():
            return {"Retry-After": str(problem.retry_after)}
        case MethodNotAllowed():
            return {"Allow": problem.allowed}
        case Problem(status=401):
            return {"WWW-Authenticate": "Bearer"}
        case _:
            return {}


def on_http_exception(request: AnyRequest, error: HTTPException) -> Response[bytes]:
    """Litestar's own refusals, in our words."""
    problem: Problem
    if isinstance(error, ValidationException) or error.status_code == 400:  # noqa: PLR2004 - a body that is not JSON
        problem = from_validation(error)
    elif error.status_code == 404:  # noqa: PLR2004
        problem = RouteNotFound("There is nothing at this address. See /api/v1/openapi.json.")
    elif error.status_code == 405:  # noqa: PLR2004
        problem = MethodNotAllowed((error.headers or {}).get("allow", ""))
    elif error.status_code < 500:  # noqa: PLR2004
        problem = ValidationError(str(error.detail))
    else:
        return on_bug(request, error)
    return on_problem(request, problem)


def from_validation(error: HTTPException) -> ValidationError:
    fields: dict[str, str] = {}
    for extra in error.extra if isinstance(error.extra, list) else []:
        if isinstance(extra, dict):
            fields[str(extra.get("key") or "body")] = str(extra.get("message", "invalid"))
    if missing := MISSING.match(str(error.detail)):
        fields = {missing["name"]: f"this {missing['place']} parameter is needed"}
    if not fields:
        message = re.sub(r"^Validation failed for .*?$", "", str(error.detail)) or "cannot be read"
        fields = {"body": message}
    field, message = next(iter(fields.items()))
    return ValidationError(f"The request is not valid: {field}: {message}.", errors=fields)


def on_bug(request: AnyRequest, error: Exception) -> Response[bytes]:
    structlog.get_logger().exception("request.failed", path=request.scope["path"], exc_info=error)
    return on_problem(request, InternalError())


def on_fenced(request: AnyRequest, error: Exception) -> Response[bytes]:
    """The database refused what our own checks let through: nobody was harmed, but a check is missing."""
    structlog.get_logger().error("request.fenced", path=request.scope["path"], error=str(error))
    return on_problem(request, InsufficientPermissions("You may not do this. Ask an admin of the project for it."))


def on_database_away(request: AnyRequest, error: Exception) -> Response[bytes]:
    structlog.get_logger().warning("request.database_away", path=request.scope["path"], error=repr(error))
    return on_problem(request, DatabaseAway())


def on_raced(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Two requests held what each other wanted: one of them runs again."""
    structlog.get_logger().info("request.deadlocked", path=request.scope["path"], error=repr(error))
    return on_problem(request, Raced("Somebody else was changing the same things. Try again."))


class OutcomeUnknown(Problem):
    status, code = 503, "outcome_unknown"

    def __init__(self) -> None:
        super().__init__(
            "The database was cut off while the change was being kept, or not. "
            "Repeat the request with the same idempotency key."
        )


async def send_problem(send: Send, problem: Problem) -> None:
    """For the edge, where there is no request object yet."""
    body = msgspec.json.encode(document(problem))
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-correlation-id", correlation_id.get().encode()),
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def problems(*kinds: type[Problem]) -> dict[int, ResponseSpec]:
    """The refusals of a route, for its contract."""
    by_status: dict[int, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(kind.status, []).append(kind.code)
    return {
        status: ResponseSpec(
            ProblemDocument, generate_examples=False, media_type=MEDIA_TYPE, description=", ".join(sorted(set(codes)))
        )
        for status, codes in by_status.items()
    }
