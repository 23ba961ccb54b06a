"""SQL for the state of workers as operators see it, and the switch that stops a worker."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.work import Worker
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.work import WorkerStatus


async def statuses(tx: Tx, workers: Iterable[Worker]) -> list[WorkerStatus]:
    return [await tx.one(WorkerStatus, STATUS.format(due=worker.due), worker.name) for worker in workers]


async def switch(
    tx: Tx, caller: Caller, worker: Worker | None, *, on: bool, reason: str, now: datetime
) -> WorkerStatus:
    """Stop or start a worker in an emergency: while it is off, no replica claims rows for it; rows in progress are
    finished.
    """
    caller.require_platform(Permission.FLEET_OPERATE)
    if worker is None:
        raise NotFound("worker")
    if on:
        await tx.run("delete from worker_switches where worker = $1", worker.name)
    else:
        await tx.run(SWITCH_OFF, worker.name, now, caller.actor, reason)
    subject = Subject(kind="worker", id=worker.name)
    verb = "worker.enable" if on else "worker.disable"
    await audit(tx, subject, verb, actor=caller.actor, at=now, facts={"reason": reason})
    return (await statuses(tx, [worker]))[0]


async def sweep(tx: Tx, registered: Sequence[str]) -> None:
    """Run the statements of this module and those that packages registered."""
    for statement in (*SWEEPS, *registered):
        await tx.run(statement)


async def expire(tx: Tx, kind: str, before: datetime, most: int) -> int:
    """Delete at most `most` of the oldest rows of one kind of history; returns the number of deleted rows."""
    expired: int = await tx.value("select expire_history($1, $2, $3)", kind, before, most)
    return expired


# statement_timestamp() instead of clock_timestamp(): a volatile function cannot be an index condition.
SWEEPS = (
    "delete from idempotency where expires_at < statement_timestamp()",
    "delete from attempt_delays where last_at < statement_timestamp() - interval '1 day'",
    "delete from rate_limits where window_started_at < statement_timestamp() - interval '1 day'",
    "delete from outbox where delivered_at < statement_timestamp() - interval '7 days'",
    """
    delete from replicas r where seen_at < statement_timestamp() - interval '1 day'
        and not exists (select from links l where l.replica_id = r.id)
    """,
    "delete from sessions where least(expires_at, revoked_at) < statement_timestamp() - interval '30 days'",
    "delete from tokens where least(expires_at, revoked_at) < statement_timestamp() - interval '30 days'",
    "delete from stream_requests where expires_at < statement_timestamp() - interval '1 hour'",
    "delete from enrolment_tokens where least(expires_at, used_at) < statement_timestamp() - interval '1 day'",
)
STATUS = """
    select $1::text as worker, count(due.id) as due, count(*) filter (where work.until > clock_timestamp()) as leased,
        count(*) filter (where work.attempts > 0) as failing,
        extract(epoch from clock_timestamp() - min(work.next_at) filter
            (where work.until is null and work.next_at < clock_timestamp()))::float8 as oldest_due_seconds,
        max(work.last_error) as last_error, max(s.disabled_at) as disabled_at, max(s.disabled_by) as disabled_by,
        max(s.reason) as disabled_reason
    from (values (1)) one
        left join ({due}) as due on true
        left join work on work.worker = $1 and work.row_id = due.id
        left join worker_switches s on s.worker = $1
"""
SWITCH_OFF = """
    insert into worker_switches (worker, disabled_at, disabled_by, reason) values ($1, $2, $3, $4)
    on conflict (worker) do update
        set disabled_at = excluded.disabled_at, disabled_by = excluded.disabled_by, reason = excluded.reason
"""
