"""Errors that a caller can act on. Every exception that is not a Problem is a bug and is answered with 500."""

from typing import ClassVar, NamedTuple


class Problem(Exception):
    """An error that the caller can act on; api/problems.py renders it as RFC 9457 JSON."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "problem"

    def __init__(self, detail: str, **facts: object) -> None:
        super().__init__(detail)
        self.detail, self.facts = detail, facts


class NotFound(Problem):
    """The resource does not exist, or belongs to another tenant."""

    status, code = 404, "not_found"

    def __init__(self, noun: str) -> None:
        super().__init__(f"There is no such {noun.replace('_', ' ')}, or it is not yours to see.")
        self.noun = noun


class IllegalMove(Problem):
    status, code = 409, "illegal_move"

    def __init__(self, thing: str, here: str, there: str) -> None:
        super().__init__(f"The {thing} is {here} and cannot become {there}.", here=here, there=there)


class Conflict(Problem):
    status, code = 409, "conflict"


class Raced(Problem):
    """A concurrent request won; run this request again from the start."""

    status, code = 409, "conflict"


class StaleWrite(Raced):
    def __init__(self, noun: str) -> None:
        super().__init__(f"The {noun} changed meanwhile. Read it again and repeat the request.")


class ValidationError(Problem):
    status, code = 422, "validation_error"

    def __init__(self, detail: str, *, errors: dict[str, str] | None = None, **facts: object) -> None:
        super().__init__(detail, **facts)
        self.errors = errors or {}


class IdempotencyKeyReused(Problem):
    status, code = 422, "idempotency_key_reused"


class RequestInProgress(Problem):
    status, code = 409, "request_in_progress"


class TokenMissing(Problem):
    status, code = 401, "token_missing"


class TokenInvalid(Problem):
    status, code = 401, "token_invalid"


class TokenExpired(Problem):
    status, code = 401, "token_expired"


class Place(NamedTuple):
    """The owner of a resource."""

    tenant_id: str | None = None
    project_id: str | None = None


NOWHERE = Place()


class InsufficientPermissions(Problem):
    """The audit log of the project records the denied request; the response does not name the project."""

    status, code = 403, "insufficient_permissions"

    def __init__(self, detail: str, place: Place = NOWHERE, **facts: object) -> None:
        super().__init__(detail, **facts)
        self.place = place


class Suspended(Problem):
    """A suspended project or tenant is read-only; a suspended person has no access."""

    status, code = 403, "suspended"

    def __init__(self, what: str, reason: str = "") -> None:
        why = f": {reason}" if reason else ""
        super().__init__(
            f"An operator of the platform suspended {what}{why}. Nothing was deleted. Ask the operators to resume it.",
            suspended=what,
        )


class RateLimitExceeded(Problem):
    status, code = 429, "rate_limit_exceeded"

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many attempts. Try again in {retry_after} seconds.", retry_after=retry_after)
        self.retry_after = retry_after


class BodyTooLarge(Problem):
    status, code = 413, "body_too_large"
