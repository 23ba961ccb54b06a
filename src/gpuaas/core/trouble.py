"""Classifies database errors: which mean that the database is unavailable, and for which reason.

These errors pass without a change to our code. They degrade the service: requests are answered with 503, background
loops wait and retry, readiness shows the reason. Every other error of the driver is a defect of this program.
"""

from enum import StrEnum

import asyncpg

from gpuaas.core.clock import ClockUnknown


class Reason(StrEnum):
    UNREACHABLE = "unreachable"  # refused, cut, starting, stopping or failing over
    READ_ONLY = "read_only"  # a standby, an old primary, or set read-only by an operator
    DISK_FULL = "disk_full"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    POOL_EXHAUSTED = "pool_exhausted"  # all connections of the pool are in use
    SLOW = "slow"  # a response timed out
    LOGIN_REFUSED = "login_refused"
    FAILING = "failing"  # the server reports an internal, input/output or memory error
    CLOCK_UNKNOWN = "clock_unknown"  # the database time was not measured yet


class PoolExhausted(TimeoutError):
    """No connection of the pool became free in time."""


# In order: the first class that matches names the reason.
REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (PoolExhausted, Reason.POOL_EXHAUSTED),
    (ClockUnknown, Reason.CLOCK_UNKNOWN),
    (asyncpg.ReadOnlySQLTransactionError, Reason.READ_ONLY),
    (asyncpg.DiskFullError, Reason.DISK_FULL),
    (asyncpg.TooManyConnectionsError, Reason.TOO_MANY_CONNECTIONS),
    (asyncpg.InsufficientResourcesError, Reason.FAILING),
    (asyncpg.QueryCanceledError, Reason.SLOW),
    (asyncpg.OperatorInterventionError, Reason.UNREACHABLE),  # shutdown, crash, start, database dropped, idle too long
    (asyncpg.PostgresConnectionError, Reason.UNREACHABLE),
    (asyncpg.IdleInTransactionSessionTimeoutError, Reason.SLOW),
    (asyncpg.TransactionTimeoutError, Reason.SLOW),
    (asyncpg.InvalidAuthorizationSpecificationError, Reason.LOGIN_REFUSED),
    (asyncpg.InvalidCatalogNameError, Reason.UNREACHABLE),  # the database is being restored
    (asyncpg.PostgresSystemError, Reason.FAILING),
    (asyncpg.InternalServerError, Reason.FAILING),
    (asyncpg.InternalClientError, Reason.UNREACHABLE),  # the connection closed between two statements
    (asyncpg.InterfaceError, Reason.UNREACHABLE),
    (TimeoutError, Reason.SLOW),
    (OSError, Reason.UNREACHABLE),
)
AWAY = tuple(kind for kind, _ in REASONS)
# Two transactions conflicted, or a statement was prepared before a migration: a retry succeeds.
RERUN = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.InvalidCachedStatementError,
)
# No write succeeds while these last; a slow statement may be an exception.
HARD = frozenset(Reason) - {Reason.SLOW, Reason.POOL_EXHAUSTED}


def reason_of(error: BaseException | None) -> Reason | None:
    """The reason, or None for other errors. The driver's DataError is also an InterfaceError, but is our defect."""
    if isinstance(error, ValueError):
        return None
    return next((reason for kind, reason in REASONS if isinstance(error, kind)), None)


def is_away(error: BaseException | None) -> bool:
    return reason_of(error) is not None
