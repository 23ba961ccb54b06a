"""SQL for bundles on nodes."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, StaleWrite
from gpuaas.domain.runtimes.kinds import STAGING
from gpuaas.domain.runtimes.rows import SeenStaging, StagingRow
from gpuaas.domain.runtimes.store import BUNDLE_COLUMNS, RUNTIMES, STAGINGS
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.runtimes import StagedBundle, Staging, StagingStatus

FOUND = ("manifest", "health", "files", "bytes", "drift", "distribution")


async def shown(tx: Tx, bundle_id: str, node_id: str | None = None) -> list[Staging]:
    return await tx.all(Staging, SHOW_STAGINGS, bundle_id, node_id)


async def nodes(tx: Tx) -> list[str]:
    """Nodes that staging may choose when the operator names none."""
    return await tx.column("select id from nodes where intent in ('active', 'draining') order by id")


async def begin(tx: Tx, id: str, node_id: str, bundle_id: str, *, operation_id: str, now: datetime) -> bool:
    """Returns whether staging began; a staging that exists or is in progress stays unchanged."""
    begun = await tx.value(BEGIN_STAGING, id, node_id, bundle_id, operation_id, now)
    if begun is not None:
        tx.hint(STAGINGS, str(begun))
    return begun is not None


async def recheck(tx: Tx, row: StagingRow, operation_id: str) -> None:
    """Begin a check of the files; the status stays `staged`."""
    sql = "update node_bundles set operation_id = $3 where id = $1 and operation_id = $2"
    if not await tx.run(sql, row.id, row.operation_id, operation_id):
        raise StaleWrite("staging")
    tx.hint(STAGINGS, row.id)


async def look(tx: Tx, id: str, check_every_seconds: float) -> SeenStaging:
    return await tx.one(SeenStaging, LOOK_AT_STAGING, id, check_every_seconds)


class StagingChange(Struct, frozen=True, kw_only=True):
    """Columns that a move sets with the status; None leaves a column as it is."""

    operation_id: str | None = None
    reason: str = ""
    manifest: str | None = None
    health: str | None = None
    files: int | None = None
    bytes: int | None = None
    drift: list[str] | None = None
    distribution: str | None = None
    staged_at: datetime | None = None
    checked_at: datetime | None = None
    proofs: Sequence[object] | None = None

    @classmethod
    def found(cls, bundle: StagedBundle, now: datetime) -> "StagingChange":
        fields = {name: getattr(bundle, name) for name in FOUND}
        return cls(**fields, staged_at=now, checked_at=now)


async def move(
    tx: Tx,
    row: StagingRow,
    to: StagingStatus,
    act: Act,
    change: StagingChange,
    *,
    operation: OperationChange,
) -> None:
    """Also wakes the runtimes of allocations that wait for the bundle."""
    await transitions.move(tx, STAGING, row, to, act, change=change, operation=operation)
    if to in (StagingStatus.STAGING, StagingStatus.REMOVING):
        tx.hint(STAGINGS, row.id)
    else:
        await _tell_waiting(tx, row)


async def _tell_waiting(tx: Tx, row: StagingRow) -> None:
    for allocation_id in await tx.column(WAITING, row.node_id, row.bundle_id):
        tx.hint(RUNTIMES, str(allocation_id))


async def locked(tx: Tx, bundle_id: str, node_id: str) -> StagingRow:
    """The row with a lock, so that concurrent changes run one after the other."""
    sql = "select * from node_bundles where bundle_id = $1 and node_id = $2 for update"
    row = await tx.maybe(StagingRow, sql, bundle_id, node_id)
    if row is None:
        raise NotFound("staging")
    return row


SHOW_STAGINGS = """
    select s.*, n.name as node_name, (
        select count(*) from allocation_runtimes r join allocations a on a.id = r.allocation_id
        where a.node_id = s.node_id and a.cleanup_proven_at is null
            and s.bundle_id in (r.bundle_id, r.observed_bundle_id, r.previous_bundle_id)) as in_use
    from node_bundles s join nodes n on n.id = s.node_id
    where s.bundle_id = $1 and ($2::text is null or s.node_id = $2) order by n.name
"""  # house: project-filter because operators see every allocation on a node
BEGIN_STAGING = """
    insert into node_bundles as here (id, node_id, bundle_id, operation_id, status, status_since)
    values ($1, $2, $3, $4, 'staging', $5)
    on conflict (node_id, bundle_id) do update
        set status = 'staging', status_since = $5, operation_id = $4, reason = '', proofs = '[]'
        where here.status in ('failed', 'removed')
    returning id
"""
LOOK_AT_STAGING = f"""
    select to_jsonb(s) as row, (select to_jsonb(each) from (select {BUNDLE_COLUMNS}) each) as bundle, b.recipe, (
            select to_jsonb(t) from node_tasks t
            where t.node_id = s.node_id and t.lane = 'stagings:' || s.id and t.allocation_id is null
                and t.operation_id = s.operation_id order by t.created_at desc, t.id desc limit 1
        ) as task,
        exists (select from operations o where o.id = s.operation_id and o.status = 'running') as is_busy,
        s.status = 'staged' and s.checked_at < clock_timestamp() - $2 * interval '1 second' as is_check_due
    from node_bundles s join managed_runtime_bundles b on b.id = s.bundle_id where s.id = $1
"""
WAITING = """
    select r.allocation_id from allocation_runtimes r join allocations a on a.id = r.allocation_id
    where a.node_id = $1 and r.bundle_id = $2 and a.status = 'active'
"""  # house: project-filter because a node's bundle concerns every project on it
