"""SQL for allocations."""

from datetime import datetime

from msgspec import UNSET, Struct, UnsetType, structs

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, StaleWrite
from gpuaas.core.paging import Paging, matching
from gpuaas.domain.allocations.kinds import ALLOCATION
from gpuaas.domain.identity.store import Query
from gpuaas.domain.resizes.store import Resize
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import EVENTS, Subject
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import NO_OPERATION, Act, OperationChange
from gpuaas.domain.timeline.usage.store import SUM, UsageSum
from gpuaas.wire.allocations import AllocationSlot, CleanupProof, FleetFilter, Status
from gpuaas.wire.capacity import Shape
from gpuaas.wire.environments import Init, Isolation, ProofItem
from gpuaas.wire.images import BaseImage
from gpuaas.wire.metrics import HealthReason
from gpuaas.wire.permissions import Permission
from gpuaas.wire.runtimes import RuntimeSummary
from gpuaas.wire.storage import Attachment, LaunchAttachment
from gpuaas.wire.tasks import TaskKind

ALLOCATIONS = "allocations"  # the topic; its row ids are allocation ids
OVERLAYS = "overlays"  # the topic for overlays when an allocation is active, releasing or failed; the same row ids
LIMITS = "limits"  # the topic of allocations with an end time or an idle limit
KEYS = "keys"  # the lane, and the topic, of keys installed on an active allocation
OVER = (Status.RELEASED, Status.FAILED)
SETTLED = frozenset({Status.ACTIVE, Status.RELEASING, Status.FAILED})


class Asked(Struct, frozen=True, kw_only=True):
    """The parts of a failed allocation's request that its row does not hold."""

    ssh_key_ids: list[str]
    expires_at: datetime | None
    storage_attachments: list[LaunchAttachment]


class SpareAccess(Struct, frozen=True, kw_only=True):
    """Address of the spare that the allocation is most likely made from, as its node reported it."""

    host: str
    port: int
    host_key: str


class AllocationRow(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    project_id: str
    group_id: str | None
    name: str
    sku: str
    shape: Shape
    gpu_count: int
    size: str
    vcpus: int
    memory_mib: int
    disk_gib: int
    init: Init
    simulated: bool
    node_id: str
    region: str
    price_id: str
    price_minor_per_hour: int
    currency: str
    requested_by: str
    holder_id: str
    status: Status
    status_since: datetime
    status_reason: str
    version: int
    operation_id: str
    boot: int
    observed_boot: int
    username: str
    ssh_host: str | None
    port: int | None
    host_key: str | None
    spare_access: SpareAccess | None = None
    isolation: Isolation | None
    image: BaseImage | None = None  # as its node last reported it
    created_at: datetime
    active_at: datetime | None
    released_at: datetime | None
    last_progress_at: datetime
    billing_stopped_at: datetime | None
    cleanup_proven_at: datetime | None
    expires_at: datetime | None
    expiry_warned_at: datetime | None
    idle_minutes: int | None
    idle_warned_at: datetime | None
    extended_at: datetime | None
    # Read with the row for people; left out for the reconciler.
    node_offline_since: datetime | UnsetType | None = UNSET
    slots: list[AllocationSlot] | UnsetType = UNSET
    resize: Resize | UnsetType | None = UNSET
    asked: Asked | UnsetType | None = UNSET
    findings: list[HealthReason] | UnsetType = UNSET
    sampled_at: datetime | UnsetType | None = UNSET
    sample_age_seconds: float | UnsetType | None = UNSET
    runtime: RuntimeSummary | UnsetType | None = UNSET
    attachments: list[Attachment] | UnsetType = UNSET
    usage: UsageSum | UnsetType = UNSET
    is_held: bool | UnsetType = UNSET  # its holder works in the project; if not, project admins hold it
    is_granted: bool | UnsetType = UNSET  # the caller has an active grant

    @property
    def subject(self) -> Subject:
        return Subject(kind="allocation", id=self.id, tenant_id=self.tenant_id, project_id=self.project_id)


class Seen(Struct, frozen=True, kw_only=True):
    """The facts for a decision."""

    row: AllocationRow
    task: TaskRow | None  # the newest
    holds: list[str]
    attempts: int  # removals tried in the current operation
    blocked: bool  # its slots are out of service until cleanup is proven
    contested: bool = False  # two live agents use its node's key
    disputed_until: datetime | None = None  # until then, that may turn out to be so
    resumed_at: datetime | None = None  # when an older database took over, if it did
    resize: Resize | None = None  # under way
    ssh_host: str = ""  # of its node

    @property
    def waiting_since(self) -> datetime:
        """The start of a deadline: time that passed while the database was away says nothing about the node."""
        return max(self.row.status_since, self.resumed_at or self.row.status_since)


class Change(Struct, frozen=True, kw_only=True):
    """The columns that a move sets in addition to the status; None leaves a column as it is."""

    operation_id: str | None = None
    boot: int | None = None
    observed_boot: int | None = None
    ssh_host: str | None = None
    port: int | None = None
    host_key: str | None = None
    isolation: Isolation | None = None
    active_at: datetime | None = None
    released_at: datetime | None = None
    cleanup_proven_at: datetime | None = None
    billing_stopped_at: datetime | None = None
    image: BaseImage | None = None
    # The new size when a resize takes effect.
    gpu_count: int | None = None
    size: str | None = None
    vcpus: int | None = None
    memory_mib: int | None = None
    disk_gib: int | None = None
    init: Init | None = None
    price_id: str | None = None
    price_minor_per_hour: int | None = None

    def with_size(self, resize: Resize) -> "Change":
        return structs.replace(
            self,
            gpu_count=resize.gpu_count,
            size=resize.size,
            vcpus=resize.vcpus,
            memory_mib=resize.memory_mib,
            disk_gib=resize.disk_gib,
            init=resize.init,
            price_id=resize.price_id,
            price_minor_per_hour=resize.price_minor_per_hour,
        )


BILLING = ("billing_stopped_at",)
NOTHING_ELSE = Change()


async def get(tx: Tx, id: str) -> AllocationRow:
    """The row with the fields for people: its slots and whether its node is offline."""
    row = await tx.maybe(AllocationRow, f"{SEEN} where a.id = $1", id)
    if row is None:
        raise NotFound("allocation")
    return row


async def permissions(tx: Tx, allocation_id: str, principal_id: str) -> frozenset[Permission]:
    """By role, as holder and by grant, reduced to reading while suspended."""
    found = await tx.value("select allocation_permissions($2, $1)", allocation_id, principal_id)
    return frozenset(map(Permission, found or ()))


def get_on_entering(id: str) -> Query[AllocationRow]:
    return Query(AllocationRow, f"{SEEN} where a.id = $2", (id,))


async def list_of_project(
    tx: Tx, project_id: str, *, status: Status | None, name: str | None, paging: Paging
) -> list[AllocationRow]:
    words, values = matching({"a.status": status, "a.name": name}, first=4)
    listing = LIST_PROJECT.replace("{matching}", words)
    return await tx.all(AllocationRow, listing, project_id, paging.before, paging.limit + 1, *values)


async def list_of_fleet(
    tx: Tx, *, status: Status | None, node_id: str | None, only: FleetFilter | None, paging: Paging
) -> list[AllocationRow]:
    words, values = matching({"a.status": status, "a.node_id": node_id}, first=3)
    if status not in (None, *OVER):
        only = only or FleetFilter.ON_NODE  # only these can be live; their index is far smaller
    listing = LIST_FLEET.replace("{only}", FILTERS[only]).replace("{matching}", words)
    return await tx.all(AllocationRow, listing, paging.before, paging.limit + 1, *values)


async def list_of_group(tx: Tx, group_id: str) -> list[AllocationRow]:
    return await tx.all(AllocationRow, f"{SEEN} where a.group_id = $1 order by a.id", group_id)


async def look(tx: Tx, id: str) -> Seen:
    """One statement, so that all facts are from one snapshot."""
    return await tx.one(Seen, LOOK, id, TaskKind.REMOVE.value)


async def move(
    tx: Tx,
    row: AllocationRow,
    to: Status,
    act: Act,
    change: Change = NOTHING_ELSE,
    *,
    operation: OperationChange = NO_OPERATION,
) -> AllocationRow:
    """Usage ends with the billing: at the node's last proof of life if the allocation is lost with it."""
    until = change.billing_stopped_at
    moved = await transitions.move(tx, ALLOCATION, row, to, act, change=change, operation=operation, usage_until=until)
    tx.hint(ALLOCATIONS, row.id)
    if to in SETTLED:
        tx.hint(OVERLAYS, row.id)
    tx.hint(EVENTS, row.project_id)
    return moved


async def pause_billing(tx: Tx, row: AllocationRow, act: Act) -> None:
    """Usage ends at the time of the entry: the node's last proof of life."""
    stopped = Change(billing_stopped_at=act.at or act.now)
    await transitions.restate(tx, ALLOCATION, row, "billing_paused", act, change=stopped, columns=BILLING, pays=False)
    tx.hint(EVENTS, row.project_id)


async def resume_billing(tx: Tx, row: AllocationRow, act: Act) -> None:
    await transitions.restate(tx, ALLOCATION, row, "billing_resumed", act, change=Change(), columns=BILLING, pays=True)
    tx.hint(EVENTS, row.project_id)


async def set_limits(
    tx: Tx, row: AllocationRow, *, expires_at: datetime | None, idle_minutes: int | None, now: datetime
) -> AllocationRow:
    """Resets the warnings, so that people are warned of the new limits."""
    if not await tx.run(SET_LIMITS, row.id, row.version, expires_at, idle_minutes, now):
        raise StaleWrite("allocation")
    tx.hint(LIMITS, row.id)
    return await get(tx, row.id)


async def warned(tx: Tx, row: AllocationRow, *, expiry: datetime | None, idle: datetime | None) -> None:
    """Store when people were warned of the end; None withdraws a warning."""
    if not await tx.run(WARNED, row.id, row.version, expiry, idle):
        raise StaleWrite("allocation")


async def resumed_at(tx: Tx) -> datetime | None:
    """When an older database, or a copy of this one, took over; None if that never happened."""
    at: datetime | None = await tx.value("select resumed_at()")
    return at


async def add_proofs(tx: Tx, row: AllocationRow, proofs: list[ProofItem], now: datetime) -> None:
    rows = [(row.id, row.tenant_id, proof.item, proof.ok, proof.evidence, now) for proof in proofs]
    await tx.run_many(ADD_PROOF, rows)


async def proofs(tx: Tx, id: str) -> list[CleanupProof]:
    return await tx.all(CleanupProof, "select * from cleanup_proofs where allocation_id = $1 order by at, item", id)


async def settle(tx: Tx, row: AllocationRow, now: datetime) -> None:
    """The cleanup of a failed allocation is proven; its status stays `failed`."""
    if not await tx.run(SETTLE, row.id, row.version, now):
        raise StaleWrite("allocation")


SEEN = f"""
    select a.*, n.offline_since as node_offline_since, (
        select coalesce(jsonb_agg(jsonb_build_object('index', s.index, 'gpu_uuid', s.gpu_uuid, 'numa', s.numa)
            order by s.index), '[]')
        from claims c join slots s on s.id = c.slot_id where c.allocation_id = a.id
            and (c.released_at is null or c.released_at = a.cleanup_proven_at)
    ) as slots, (select to_jsonb(r) from resizes r where r.allocation_id = a.id) as resize,
        case when a.status = 'failed' then jsonb_build_object(
            'ssh_key_ids', array(select k.ssh_key_id from allocation_keys k where k.allocation_id = a.id order by 1),
            'expires_at', case when a.expires_at > clock_timestamp() + interval '10 minutes' then a.expires_at end,
            'storage_attachments', (
                select coalesce(jsonb_agg(jsonb_build_object('volume_id', t.volume_id, 'mount_path', t.mount_path,
                    'access_mode', t.access_mode) order by t.id), '[]')
                from storage_attachments t join volumes v on v.id = t.volume_id
                    join operations o on o.id = t.operation_id
                where t.allocation_id = a.id and t.status <> 'failed' and o.kind = 'attach'
                    and v.status in ('creating', 'available'))) end as asked, (
        select coalesce(jsonb_agg(jsonb_build_object('code', h.code, 'words', h.words, 'since', h.since,
            'next_step', h.next_step) order by h.since, h.code), '[]')
        from health_findings h where h.allocation_id = a.id
    ) as findings, (
        select jsonb_build_object('state', r.state, 'last_applied_at', r.last_applied_at, 'bundle', (
            select jsonb_build_object('id', b.id, 'slug', b.slug, 'version', b.version,
                'product_name', b.product_name) from managed_runtime_bundles b where b.id = r.bundle_id))
        from allocation_runtimes r where r.allocation_id = a.id
    ) as runtime, (
        select coalesce(jsonb_agg(to_jsonb(t) || jsonb_build_object('volume_name', v.name, 'durability', v.durability)
            order by t.id), '[]') from storage_attachments t join volumes v on v.id = t.volume_id
        where t.allocation_id = a.id and t.status not in ('detached', 'failed')
    ) as attachments, m.received_at as sampled_at,
        extract(epoch from clock_timestamp() - m.received_at)::float8 as sample_age_seconds,
        may_in_project(a.holder_id, 'access:ask', a.project_id) as is_held, exists (
            select from access_grants g where g.allocation_id = a.id and fence_principal() = g.user_id
                and g.status = 'active' and coalesce(g.expires_at, 'infinity') > clock_timestamp()
        ) as is_granted, {SUM.format(kind="allocation", id="a.id")} as usage
    from allocations a join nodes n on n.id = a.node_id left join newest_samples m on m.allocation_id = a.id
"""
LOOK = """
    select to_jsonb(a) as row,
        (select to_jsonb(t) from node_tasks t where t.allocation_id = a.id and t.lane = 'environment'
            order by seq desc limit 1) as task,
        array(select kind || ' ' || ref from holds where allocation_id = a.id order by 1) as holds,
        (select count(*) from node_tasks t where t.allocation_id = a.id and t.operation_id = a.operation_id
            and t.kind = $2) as attempts,
        exists (select from claims c join slots s on s.id = c.slot_id where c.allocation_id = a.id
            and c.released_at is null and s.cleanup_blocked_at is not null) as blocked, resumed_at() as resumed_at,
        n.contested_at is not null as contested, n.link_disputed_until as disputed_until, n.ssh_host,
        (select to_jsonb(r) from resizes r where r.allocation_id = a.id) as resize
    from allocations a join nodes n on n.id = a.node_id where a.id = $1
"""
LIST_PROJECT = f"""
    {SEEN} where a.project_id = $1 and a.id < $2 {{matching}} order by a.id desc limit $3
"""
# Written into the statement, so that the planner uses the partial index of unproven allocations.
FILTERS = {
    None: "true",
    FleetFilter.ON_NODE: "a.cleanup_proven_at is null",
    FleetFilter.UNSETTLED: "a.cleanup_proven_at is null and a.status <> 'active'",
}
LIST_FLEET = f"""
    {SEEN} where {{only}} and a.id < $1 {{matching}} order by a.id desc limit $2
"""  # house: project-filter because operators see the whole fleet
ADD_PROOF = """
    insert into cleanup_proofs (allocation_id, tenant_id, item, ok, evidence, at) values ($1, $2, $3, $4, $5, $6)
    on conflict do nothing
"""
SETTLE = """
    update allocations set cleanup_proven_at = $3, version = version + 1, last_progress_at = $3
    where id = $1 and version = $2 and cleanup_proven_at is null
"""
SET_LIMITS = """
    update allocations set expires_at = $3, idle_minutes = $4, expiry_warned_at = null, idle_warned_at = null,
        extended_at = $5, version = version + 1
    where id = $1 and version = $2
"""
WARNED = """
    update allocations set expiry_warned_at = $3, idle_warned_at = $4, version = version + 1
    where id = $1 and version = $2
"""
