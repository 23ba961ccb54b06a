"""Commands of people and operators on existing allocations."""

from datetime import datetime, timedelta

from msgspec import UNSET

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, IllegalMove, NotFound, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.authority import Action, authorize, readable
from gpuaas.domain.allocations.observations.store import live_on_node
from gpuaas.domain.allocations.reconcile import settle
from gpuaas.domain.allocations.states import LIVE
from gpuaas.domain.allocations.store import AllocationRow, Change
from gpuaas.domain.allocations.views import view
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.identity.store import email_of
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.timeline.store import NewEntry, audit, entries, record
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.allocations import (
    Allocation,
    AllocationGroup,
    ExtendAllocation,
    ForceCleanup,
    InspectedAllocation,
    Status,
)
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.timeline import Outcome

INSPECTED_ENTRIES = 200
SHORTEST_LIFE, FURTHEST_END = timedelta(minutes=5), timedelta(days=3_650)


async def get(tx: Tx, caller: Caller, id: str) -> AllocationRow:
    return readable(caller, await store.get(tx, id))


async def release(tx: Tx, caller: Caller, id: str, *, reason: str, ids: Ids, now: datetime) -> Allocation:
    """Release the allocation. This also cancels one that is being created, and retries a failed release."""
    row = await authorize(tx, caller, id, Action.RELEASE)
    reason = reason or "released on request"
    return view(await release_row(tx, row, actor=caller.actor, reason=reason, ids=ids, now=now), caller)


async def release_row(tx: Tx, row: AllocationRow, *, actor: str, reason: str, ids: Ids, now: datetime) -> AllocationRow:
    """Billing stops when the release is accepted. A repeated request during a release changes nothing."""
    if row.status is Status.RELEASING:
        return row
    operation_id = ids.new("op")
    change = Change(operation_id=operation_id, billing_stopped_at=now)
    operation = OperationChange(begins="release", reason="cancelled by release")
    await store.move(tx, row, Status.RELEASING, Act(actor=actor, now=now, note=reason), change, operation=operation)
    return await store.get(tx, row.id)


async def restart(tx: Tx, caller: Caller, id: str, *, reason: str, ids: Ids, now: datetime) -> Allocation:
    """Reboot the environment without a rebuild. After `restart_failed` this tries again, and completes a pending
    resize.
    """
    row = await authorize(tx, caller, id, Action.RESTART)
    why = reason or "restarted on request"
    await boot_again(tx, row, "restart", actor=caller.actor, why=why, ids=ids, now=now)
    return view(await store.get(tx, id), caller)


async def boot_again(tx: Tx, row: AllocationRow, kind: str, *, actor: str, why: str, ids: Ids, now: datetime) -> None:
    """Increase the boot number with the move, so that every overlay applies itself again."""
    operation_id = ids.new("op")
    change, operation = Change(operation_id=operation_id, boot=row.boot + 1), OperationChange(begins=kind)
    await store.move(tx, row, Status.RESTARTING, Act(actor=actor, now=now, note=why), change, operation=operation)


async def extend(tx: Tx, caller: Caller, id: str, data: ExtendAllocation, *, now: datetime) -> Allocation:
    """Change the end or the idle limit. This counts as use, so the idle time starts again."""
    row = await authorize(tx, caller, id, Action.SET_LIMITS)
    if row.status not in LIVE or row.status in (Status.RELEASING, Status.RELEASE_FAILED):
        raise IllegalMove("allocation", row.status, "extended")
    expires_at = check_expiry(_end(row, data, now), now)
    idle_minutes = row.idle_minutes if data.idle_minutes is UNSET else data.idle_minutes
    row = await store.set_limits(tx, row, expires_at=expires_at, idle_minutes=idle_minutes, now=now)
    facts = {"expires_at": expires_at and expires_at.isoformat(), "idle_minutes": idle_minutes}
    await audit(tx, row.subject, "allocation.extend", actor=caller.actor, at=now, facts=facts)
    entry = NewEntry(phase="limits_changed", outcome=Outcome.DONE, at=now, actor=caller.actor, evidence=facts)
    await record(tx, row.subject, entry, None)
    return view(row, caller)


def _end(row: AllocationRow, data: ExtendAllocation, now: datetime) -> datetime | None:
    if data.hours is not UNSET:
        if data.expires_at is not UNSET:
            raise ValidationError("Give hours or expires_at, not both.", errors={"hours": "not with expires_at"})
        return max(now, row.expires_at or now) + timedelta(hours=data.hours)
    return row.expires_at if data.expires_at is UNSET else data.expires_at


def check_expiry(at: datetime | None, now: datetime) -> datetime | None:
    if at and at - now < SHORTEST_LIFE:
        raise ValidationError(
            f"The end must be at least {SHORTEST_LIFE.seconds // 60} minutes away, so that people can be warned.",
            errors={"expires_at": "too soon"},
        )
    return check_end(at, now)


def check_end(at: datetime | None, now: datetime) -> datetime | None:
    """The limit keeps times within what every clock and calendar library can represent."""
    if at and at - now > FURTHEST_END:
        raise ValidationError(
            "The end must be within ten years, or absent.", errors={"expires_at": "more than ten years away"}
        )
    return at


async def group(tx: Tx, caller: Caller, id: str) -> AllocationGroup:
    rows = await store.list_of_group(tx, id)
    if not rows:
        raise NotFound("allocation_group")
    caller.require(Permission.ALLOCATIONS_READ, "allocation_group", rows[0])
    return _group(id, rows, caller)


async def release_group(tx: Tx, caller: Caller, id: str, *, reason: str, ids: Ids, now: datetime) -> AllocationGroup:
    """Release every live member of the group; each release then runs independently."""
    await group(tx, caller, id)
    for row in await store.list_of_group(tx, id):
        if row.status in LIVE:
            await release(tx, caller, row.id, reason=reason, ids=ids, now=now)
    return _group(id, await store.list_of_group(tx, id), caller)


def _group(id: str, rows: list[AllocationRow], caller: Caller) -> AllocationGroup:
    members = [view(row, caller) for row in rows]
    return AllocationGroup(id=id, project_id=rows[0].project_id, created_at=rows[0].created_at, allocations=members)


async def inspect(tx: Tx, caller: Caller, id: str) -> InspectedAllocation:
    """Everything an operator needs to judge a stuck allocation, including the messages of the node."""
    caller.require_platform(Permission.FLEET_READ)
    row = await store.get(tx, id)
    return InspectedAllocation(
        allocation=view(row, caller),
        holder_email=await email_of(tx, row.holder_id),
        timeline=[each.item for each in await entries(tx, id, Paging(INSPECTED_ENTRIES, ""))],
        tasks=await tasks.of_allocation(tx, id),
        proofs=await store.proofs(tx, id),
    )


async def force_release(tx: Tx, caller: Caller, id: str, *, reason: str, ids: Ids, now: datetime) -> Allocation:
    """An operator releases the allocation of any project; the timeline shows it."""
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.get(tx, id)
    reason = reason or "released by an operator"
    return view(await release_row(tx, row, actor=caller.actor, reason=reason, ids=ids, now=now), caller)


async def force_cleanup(tx: Tx, caller: Caller, id: str, data: ForceCleanup, *, now: datetime) -> Allocation:
    """Accept an operator's inspection instead of the node's proof, for a node that cannot give one."""
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.get(tx, id)
    if row.status not in (Status.FAILED, Status.RELEASE_FAILED, Status.RELEASING) or row.cleanup_proven_at:
        raise Conflict("Only a failed or stuck allocation can be force-cleaned. Release it first.", status=row.status)
    await audit(
        tx,
        row.subject,
        "allocation.force_cleanup",
        actor=caller.actor,
        at=now,
        facts={"runtime_verified_absent": data.runtime_verified_absent, "reason": data.reason},
    )
    if data.runtime_verified_absent:
        proof = ProofItem(item="operator", ok=True, evidence=data.reason)
        if row.status is Status.RELEASE_FAILED:
            row = await store.move(tx, row, Status.RELEASING, Act(actor=caller.actor, now=now, note=data.reason))
        await settle(tx, row, [proof], actor=caller.actor, now=now)
    else:
        await capacity.block_slots(tx, row.id, row.node_id, now=now)
        blocked = NewEntry(
            phase="cleanup_blocked", outcome=Outcome.FAILED, at=now, actor=caller.actor, note=data.reason
        )
        await record(tx, row.subject, blocked, row.operation_id)
    return view(await store.get(tx, id), caller)


async def declare_lost(tx: Tx, caller: Caller, node_id: str, *, reason: str, now: datetime) -> int:
    """Fail everything alive on a node that an operator declares permanently lost."""
    caller.require_platform(Permission.FLEET_OPERATE)
    node = await capacity.node(tx, node_id, lock=True)
    if node.offline_since is None:
        raise Conflict("The node is online. Quarantine or drain it instead.")
    rows = await live_on_node(tx, node_id)
    for row in rows:
        await fail_lost(tx, row, actor=caller.actor, note=reason or "The node was lost.", now=now)
    return len(rows)


async def fail_lost(tx: Tx, row: AllocationRow, *, actor: str, note: str, now: datetime) -> None:
    """Move to `failed`, or to `release_failed` from `releasing`. Claims stay until cleanup is proven."""
    to = Status.RELEASE_FAILED if row.status is Status.RELEASING else Status.FAILED
    if row.status is Status.RELEASE_FAILED:
        return
    last_seen = row.node_offline_since
    stopped = last_seen if isinstance(last_seen, datetime) else now
    change = Change(billing_stopped_at=stopped)
    act = Act(actor=actor, now=now, note=f"node_lost: {note}")
    await store.move(tx, row, to, act, change, operation=OperationChange(reason="node_lost"))
