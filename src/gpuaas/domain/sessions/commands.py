"""Lists the connections to an allocation, and ends a single one."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.authority import Action, readable, require
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.sessions import store
from gpuaas.domain.terminals import store as terminals
from gpuaas.domain.terminals.break_glass import commands as break_glass
from gpuaas.domain.terminals.commands import close
from gpuaas.domain.timeline.store import NewEntry, audit, end_operation, record, start_operation
from gpuaas.wire.sessions import EndedSession, LiveSession, LiveSessions
from gpuaas.wire.timeline import OperationStatus, Outcome

TERMINAL = "terminal"


async def listed(tx: Tx, caller: Caller, allocation_id: str, *, now: datetime) -> LiveSessions:
    """Each connection with person, source, time and key, and the age of this information."""
    readable(caller, await allocations.get(tx, allocation_id))
    seen = await store.latest(tx, allocation_id, now)
    items = [
        LiveSession(**{field: getattr(one, field) for field in LiveSession.__struct_fields__}) for one in seen.sessions
    ]
    return LiveSessions(
        allocation_id=allocation_id,
        items=[*items, *await terminals.live_sessions(tx, allocation_id)],
        observed_at=seen.observed_at,
        age_seconds=seen.age_seconds,
        is_current=seen.is_current,
    )


async def end(
    tx: Tx, caller: Caller, allocation_id: str, id: str, *, reason: str, ids: Ids, now: datetime
) -> EndedSession:
    """For people who share the allocation, and for the person of the connection. A repeated request changes nothing."""
    row = readable(caller, await allocations.get(tx, allocation_id))
    seen = await store.latest(tx, allocation_id, now)
    open_now: list[store.SeenSession | LiveSession] = [
        *seen.sessions,
        *await terminals.live_sessions(tx, allocation_id),
    ]
    session = next((one for one in open_now if one.id == id), None)
    if session is not None and session.user_id == caller.user_id:
        await require(tx, caller, row, Action.END_OWN_CONNECTION)
    else:
        await require(tx, caller, row, Action.END_CONNECTION)
    if session is None:
        raise NotFound("session")
    operation_id = await store.wanted_end(tx, allocation_id, id)
    if operation_id is None:
        operation_id, words = ids.new("op"), reason or "ended on request"
        await start_operation(tx, operation_id, row.subject, "end_session", requested_by=caller.actor, now=now)
        if session.kind == TERMINAL:
            await close(tx, id, reason=words, actor=caller.actor, now=now)
            await break_glass.end_of_person(tx, row, session.user_id, by=caller.actor, now=now)
            await end_operation(tx, operation_id, OperationStatus.SUCCEEDED, reason=words, now=now)
        else:
            await store.want_end(tx, row, id, operation_id=operation_id, reason=words, now=now)
        facts = {"session": id, "user": session.user_id, "source": session.source, "reason": words}
        if session.kind != TERMINAL:  # closing a terminal writes its own entry
            note = f"{session.email or session.user_id} from {session.source}: {words}"
            entry = NewEntry(
                phase="session_end_asked", outcome=Outcome.DONE, at=now, actor=caller.actor, note=note, evidence=facts
            )
            await record(tx, row.subject, entry, operation_id)
        await audit(tx, row.subject, "session.end", actor=caller.actor, at=now, facts=facts)
    return EndedSession(id=id, allocation_id=allocation_id, operation_id=operation_id)
