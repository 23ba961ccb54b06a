"""Commands of operators on unknown environments."""

from datetime import datetime

from msgspec import to_builtins

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.store import ALLOCATIONS, KEYS, OVERLAYS
from gpuaas.domain.allocations.unknown import store
from gpuaas.domain.allocations.unknown.store import UnknownRow
from gpuaas.domain.allocations.views import view
from gpuaas.domain.capacity.store import CAPACITY
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.timeline.store import EVENTS, NewEntry, audit, record
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import Outcome
from gpuaas.wire.unknown_environments import AdoptEnvironment, RemoveUnknownEnvironment, UnknownEnvironment


async def listing(tx: Tx, caller: Caller, node_id: str | None, paging: Paging) -> list[UnknownRow]:
    caller.require_platform(Permission.FLEET_READ)
    return await store.present(tx, node_id, paging)


def shown(row: UnknownRow) -> UnknownEnvironment:
    seen = row.environment
    return UnknownEnvironment(
        environment_id=row.environment_id,
        node_id=row.node_id,
        node_name=row.node_name,
        state=seen.state,
        boot=seen.boot,
        port=seen.port,
        host_key=seen.host_key,
        devices=None if seen.devices is None else list(seen.devices),
        slots=row.slots,
        ownership=seen.ownership,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
        removal_requested_at=row.removal_requested_at,
        removal_note=row.removal_note,
        removed_at=row.removed_at,
        proofs=row.proofs,
    )


async def adopt(
    tx: Tx, caller: Caller, node_id: str, environment_id: str, data: AdoptEnvironment, *, ids: Ids, now: datetime
) -> Allocation:
    """Make the allocation of the ownership record active again, on the same slots, port, host key and boot. A
    repeated request returns the same allocation.
    """
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.find(tx, node_id, environment_id)
    if row.adopted_at is not None:
        return view(await allocations.get(tx, environment_id), caller)
    operation_id = ids.new("op")
    objection = await store.adopt(
        tx, row, operation_id, holder_id=data.holder_id, name=data.name, actor=caller.actor, now=now
    )
    if objection:
        raise Conflict(f"The environment was not adopted. {objection}", environment_id=environment_id)
    adopted = await allocations.get(tx, environment_id)
    evidence = {"node": node_id, "reason": data.reason, "reported": to_builtins(row.environment)}
    entry = NewEntry(
        phase="adopted", outcome=Outcome.DONE, at=now, actor=caller.actor, note=data.reason, evidence=evidence
    )
    await record(tx, adopted.subject, entry, operation_id)
    await audit(tx, adopted.subject, "environment.adopt", actor=caller.actor, at=now, facts=evidence)
    for topic in (ALLOCATIONS, OVERLAYS, KEYS):
        tx.hint(topic, environment_id)
    tx.hint(CAPACITY, node_id)
    tx.hint(EVENTS, adopted.project_id)
    return view(adopted, caller)


async def remove(
    tx: Tx, caller: Caller, node_id: str, environment_id: str, data: RemoveUnknownEnvironment, *, now: datetime
) -> UnknownEnvironment:
    """Make the node destroy the environment and prove it; until then it keeps its devices. A repeated request changes
    nothing.
    """
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.find(tx, node_id, environment_id)
    if data.confirm != environment_id:
        raise ValidationError(
            f"A removal destroys the environment and its disk. Repeat its id, {environment_id}, to confirm.",
            errors={"confirm": "not the id of this environment"},
        )
    if row.removal_requested_at is not None:
        return shown(row)
    if row.is_known:
        raise Conflict("The database knows this environment again. Release its allocation instead.")
    await store.request_removal(tx, row, actor=caller.actor, reason=data.reason, now=now)
    evidence = {"environment": environment_id, "reason": data.reason, "reported": to_builtins(row.environment)}
    entry = NewEntry(phase="environment_removal_requested", at=now, actor=caller.actor, note=data.reason)
    await record(tx, row.subject, entry, None)
    await audit(tx, row.subject, "environment.remove_unknown", actor=caller.actor, at=now, facts=evidence)
    return shown(await store.find(tx, node_id, environment_id))
