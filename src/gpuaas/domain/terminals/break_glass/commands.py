"""Break-glass access: an operator opens a terminal on another person's allocation, visible to that person."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict
from gpuaas.core.ids import Ids
from gpuaas.core.outbox import publish
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.authority import Action, authorize, readable
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.terminals import commands as terminals
from gpuaas.domain.terminals.break_glass import store
from gpuaas.domain.terminals.break_glass.store import NewBreakGlass
from gpuaas.domain.timeline.store import NewEntry, audit, record
from gpuaas.wire.allocations import Status
from gpuaas.wire.terminals import BreakGlass, BreakGlassOpened, OpenBreakGlass
from gpuaas.wire.timeline import Outcome


async def open_access(
    tx: Tx, caller: Caller, id: str, data: OpenBreakGlass, *, url: str, ids: Ids, now: datetime
) -> BreakGlassOpened:
    """Issue a ticket for one recorded terminal. While the access is open, another request issues another ticket."""
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await allocations.get(tx, id)
    if row.status is not Status.ACTIVE:
        raise Conflict(f"The allocation is {row.status}. A terminal needs an active allocation.", status=row.status)
    access = await store.live(tx, id, caller.user_id)
    if access is None or access.expires_at <= now:
        await _end(tx, row, caller.user_id, by=caller.actor, now=now)
        access = await _add(tx, caller, row, data, ids=ids, now=now)
    recorded = await terminals.check_session(tx, caller, row, data.session_id) if data.session_id else True
    token = await terminals.issue_ticket(
        tx, caller, row, url=url, session_id=data.session_id, recorded=recorded, now=now
    )
    return BreakGlassOpened(access=access, terminal=token)


async def _add(
    tx: Tx, caller: Caller, row: AllocationRow, data: OpenBreakGlass, *, ids: Ids, now: datetime
) -> BreakGlass:
    new = NewBreakGlass(
        id=ids.new("glass"),
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        allocation_id=row.id,
        user_id=caller.user_id,
        email=caller.email,
        reason=data.reason,
        created_at=now,
        expires_at=now + timedelta(minutes=data.minutes),
    )
    access = await store.add(tx, new)
    facts = {"break_glass": access.id, "email": caller.email, "reason": data.reason, "until": access.expires_at}
    note = f"operator {caller.email}: {data.reason}"
    await _tell(tx, row, "break_glass_opened", note, actor=caller.actor, facts=facts, now=now)
    await publish(tx, "allocation.break_glass", {"allocation_id": row.id, "project_id": row.project_id, **facts})
    return access


async def end_access(tx: Tx, caller: Caller, id: str, *, now: datetime) -> None:
    """End the break-glass access of all operators to this allocation. A repeated request changes nothing."""
    caller.require_platform(Permission.FLEET_OPERATE)
    await _end(tx, await allocations.get(tx, id), None, by=caller.actor, now=now)


async def end_by_people(tx: Tx, caller: Caller, id: str, *, now: datetime) -> None:
    """For people who may end connections to the allocation: ends all access, also without an open terminal."""
    row = await authorize(tx, caller, id, Action.END_CONNECTION)
    await _end(tx, row, None, by=caller.actor, now=now)


async def end_of_person(tx: Tx, row: AllocationRow, user_id: str, *, by: str, now: datetime) -> None:
    """Ending an operator's connection also ends the access: a new access needs a new reason."""
    await _end(tx, row, user_id, by=by, now=now)


async def _end(tx: Tx, row: AllocationRow, user_id: str | None, *, by: str, now: datetime) -> None:
    for access in await store.end(tx, row.id, user_id, by=by, now=now):
        facts = {"break_glass": access.id, "email": access.email, "reason": access.reason}
        await _tell(tx, row, "break_glass_ended", f"operator {access.email}", actor=by, facts=facts, now=now)


async def listed(tx: Tx, caller: Caller, id: str, paging: Paging) -> list[BreakGlass]:
    """For all who can see the allocation."""
    row = readable(caller, await allocations.get(tx, id))
    return await store.list_of_allocation(tx, row.id, paging)


async def _tell(
    tx: Tx, row: AllocationRow, phase: str, note: str, *, actor: str, facts: Mapping[str, object], now: datetime
) -> None:
    entry = NewEntry(phase=phase, at=now, actor=actor, outcome=Outcome.DONE, note=note, evidence=facts)
    await record(tx, row.subject, entry, None)
    await audit(tx, row.subject, f"allocation.{phase}", actor=actor, at=now, facts=facts)
