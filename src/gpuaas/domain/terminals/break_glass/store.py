"""SQL for break-glass access."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.store import KEYS
from gpuaas.wire.terminals import BreakGlass


class NewBreakGlass(Struct, frozen=True, kw_only=True):
    """In the order of the statement's parameters."""

    id: str
    tenant_id: str
    project_id: str
    allocation_id: str
    user_id: str
    email: str
    reason: str
    created_at: datetime
    expires_at: datetime


async def add(tx: Tx, new: NewBreakGlass) -> BreakGlass:
    return await tx.one(BreakGlass, ADD, *astuple(new))


async def live(tx: Tx, allocation_id: str, user_id: str) -> BreakGlass | None:
    """Access that was not ended; it may have expired."""
    sql = "select * from break_glass where allocation_id = $1 and user_id = $2 and ended_at is null"
    return await tx.maybe(BreakGlass, sql, allocation_id, user_id)


async def end(tx: Tx, allocation_id: str, user_id: str | None, *, by: str, now: datetime) -> list[BreakGlass]:
    """End the access of one operator, or of all (None); the terminal worker closes their terminals."""
    tx.hint(KEYS, allocation_id)
    return await tx.all(BreakGlass, END, allocation_id, user_id, by, now)


async def list_of_allocation(tx: Tx, allocation_id: str, paging: Paging) -> list[BreakGlass]:
    return await tx.all(BreakGlass, LIST, allocation_id, paging.before, paging.limit + 1)


ADD = """
    insert into break_glass
        (id, tenant_id, project_id, allocation_id, user_id, email, reason, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning *
"""
END = """
    update break_glass set ended_at = $4, ended_by = $3
    where allocation_id = $1 and ($2::text is null or user_id = $2) and ended_at is null returning *
"""
LIST = "select * from break_glass where allocation_id = $1 and id < $2 order by id desc limit $3"
