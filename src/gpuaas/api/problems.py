"""Turns every error into an RFC 9457 document: the product's own problems, Litestar's, and bugs."""

import re

import asyncpg
import msgspec
import structlog
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi.datastructures import ResponseSpec

from gpuaas.api.replies import Reply
from gpuaas.core.errors import (
    InsufficientPermissions,
    NotFound,
    Problem,
    Raced,
    RateLimitExceeded,
    Suspended,
    ValidationError,
)
from gpuaas.core.logs import correlation_id
from gpuaas.core.trouble import RERUN, Reason, reason_of
from gpuaas.domain.capacity.disks.store import SQLSTATE as DISK_SOLD
from gpuaas.domain.quotas.commands import is_refusal, refused
from gpuaas.domain.suspensions.commands import SQLSTATE as SUSPENDED
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
RETRY_SECONDS = 1
WHAT_IS_WRONG = {
    Reason.READ_ONLY: "The database accepts no changes now.",
    Reason.DISK_FULL: "The disk of the database is full.",
    Reason.TOO_MANY_CONNECTIONS: "The database has no free connection now.",
    Reason.POOL_EXHAUSTED: "This server has no free database connection now.",
    Reason.SLOW: "The database did not answer in time.",
}
MISSING = re.compile(r"Missing required (?P<place>\w+) parameter '(?P<name>[^']+)'")
log = structlog.get_logger()


class RouteNotFound(Problem):
    status, code = 404, "route_not_found"


class MethodNotAllowed(Problem):
    status, code = 405, "method_not_allowed"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This URL accepts only {allowed}.")
        self.allowed = allowed


class UnsupportedMediaType(Problem):
    status, code = 415, "unsupported_media_type"

    def __init__(self) -> None:
        super().__init__("Send the body as JSON, with the header `Content-Type: application/json`.")


class InternalError(Problem):
    status, code = 500, "internal_error"

    def __init__(self) -> None:
        super().__init__("Internal error. Try again; if it persists, report the correlation id to an operator.")


class DatabaseAway(Problem):
    status, code = 503, "database_unavailable"

    def __init__(self, reason: Reason) -> None:
        said = WHAT_IS_WRONG.get(reason, "The database does not answer now.")
        super().__init__(f"{said} Nothing was changed; try again in a few seconds.", reason=reason)


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


def reply_to(problem: Problem) -> Reply:
    return Reply(problem.status, msgspec.json.encode(document(problem)), MEDIA_TYPE, headers_of(problem))


def headers_of(problem: Problem) -> dict[str, str]:
    """The headers that RFC 9110 requires for a status."""
    match problem:
        case RateLimitExceeded():
            return {"Retry-After": str(problem.retry_after)}
        case DatabaseAway() | OutcomeUnknown():
            return {"Retry-After": str(RETRY_SECONDS)}
        case MethodNotAllowed():
            return {"Allow": problem.allowed}
        case Problem(status=401):
            return {"WWW-Authenticate": "Bearer"}
        case _:
            return {}


def refusal(error: Exception, path: str) -> Problem:
    """The problem that the caller receives for an error; internal details go to the log."""
    match error:
        case _ if problem := ours(error):
            return problem
        case HTTPException(status_code=status) if status < 500:  # noqa: PLR2004
            return from_litestar(error)
        case asyncpg.InsufficientPrivilegeError():
            # The database refused what the API's own checks allowed: no harm was done, but a check is missing.
            log.error("request.fenced", path=path, error=str(error))
            return InsufficientPermissions("You do not have permission to do this. Ask an admin of the project.")
        case _ if isinstance(error, RERUN):
            log.info("request.deadlocked", path=path, error=repr(error))
            return Raced("Another request was changing the same resources. Try again.")
        case _ if reason := reason_of(error):
            log.warning("request.database_away", path=path, reason=reason, error=repr(error))
            return DatabaseAway(reason)
        case _:
            log.error("request.failed", path=path, exc_info=error)
            return InternalError()


def ours(error: Exception) -> Problem | None:
    """One of the product's own problems, also if the database raised it."""
    if isinstance(error, asyncpg.PostgresError) and is_refusal(error):
        return refused(error)
    if isinstance(error, asyncpg.PostgresError) and error.sqlstate == DISK_SOLD:
        return Raced("The disk of this node was just sold. Try again.")
    if isinstance(error, asyncpg.PostgresError) and error.sqlstate == SUSPENDED:
        return Suspended("the tenant, the project or your account")
    return error if isinstance(error, Problem) else None


def from_litestar(error: HTTPException) -> Problem:
    """Litestar's errors, with the product's texts."""
    if isinstance(error, ValidationException) or error.status_code == 400:  # noqa: PLR2004 - a body that is not JSON
        return from_validation(error)
    if error.status_code == 404:  # noqa: PLR2004
        return RouteNotFound("This URL does not exist. See /api/v1/openapi.json.")
    if error.status_code == 405:  # noqa: PLR2004
        return MethodNotAllowed((error.headers or {}).get("allow", ""))
    return ValidationError(str(error.detail))


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


class OutcomeUnknown(Problem):
    status, code = 503, "outcome_unknown"

    def __init__(self) -> None:
        super().__init__(
            "The connection to the database broke during the commit, so the outcome is unknown. "
            "Repeat the request with the same idempotency key."
        )


def problems(*kinds: type[Problem]) -> dict[int, ResponseSpec]:
    """The errors of a route, for the contract."""
    by_status: dict[int, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(kind.status, []).append(kind.code)
    return {
        status: ResponseSpec(
            ProblemDocument, generate_examples=False, media_type=MEDIA_TYPE, description=", ".join(sorted(set(codes)))
        )
        for status, codes in by_status.items()
    }
