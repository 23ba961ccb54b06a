"""SQL for the launch submit: everything that a new allocation needs, in one statement."""

from datetime import datetime

import asyncpg
from msgspec import Struct
from msgspec.structs import asdict

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Raced
from gpuaas.core.logs import correlation_id
from gpuaas.domain.allocations.kinds import ALLOCATION
from gpuaas.domain.allocations.store import ALLOCATIONS, AllocationRow
from gpuaas.domain.capacity.store import CLAIMED
from gpuaas.domain.identity.store import Query
from gpuaas.domain.timeline.kinds import Audit
from gpuaas.domain.timeline.statements import store as statements
from gpuaas.domain.timeline.statements.parameters import numbered
from gpuaas.domain.timeline.store import EVENTS
from gpuaas.wire.allocations import CreateAllocation
from gpuaas.wire.environments import AuthorizedKey, Init


class NewAllocation(Struct, frozen=True, kw_only=True):
    """Each field is a parameter of the statement."""

    id: str
    tenant_id: str
    project_id: str
    group_id: str | None
    name: str
    sku: str
    shape: str
    gpu_count: int
    size: str
    vcpus: int
    memory_mib: int
    simulated: bool
    node_id: str
    region: str
    price_id: str
    price_minor_per_hour: int
    currency: str
    requested_by: str
    username: str
    operation_id: str
    created_at: datetime
    slot_ids: list[str]
    whole: bool
    keys: list[AuthorizedKey]
    ssh_key_ids: list[str]
    gpu_family: str
    disk_gib: int
    init: Init


class Key(AuthorizedKey, frozen=True, kw_only=True):
    id: str

    def authorized(self) -> AuthorizedKey:
        fields = {name: getattr(self, name) for name in AuthorizedKey.__struct_fields__}
        return AuthorizedKey(**fields)


class Found(Struct, frozen=True, kw_only=True):
    """The project and the keys that a request names, as far as the caller may see them: only the caller's own keys."""

    id: str
    tenant_id: str
    keys: list[Key]

    @property
    def project_id(self) -> str:
        """A project counts as placed in itself, so that permissions of the project can be checked like those of its
        contents.
        """
        return self.id


def find_on_entering(data: CreateAllocation) -> Query[Found]:
    """Part of the statement that authenticates the caller, because this is the hot path."""
    return Query(Found, FIND, (data.project_id, data.ssh_key_ids))


async def add_group(tx: Tx, id: str, tenant_id: str, project_id: str, *, created_by: str, now: datetime) -> None:
    await tx.run(ADD_GROUP, id, tenant_id, project_id, created_by, now)


async def submit(tx: Tx, new: NewAllocation) -> AllocationRow:
    """Insert claims, allocation, keys, operation, timeline entries and audit row, or nothing."""
    try:
        row = await tx.maybe(AllocationRow, SUBMIT.sql, *SUBMIT.values(_values(new)))
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name == "allocations_name":
            raise Conflict(
                f"A live allocation named {new.name} exists in this project. Choose another name or leave it out.",
                name=new.name,
            ) from error
        raise Raced("Another request took these resources first. Try again.") from error
    if row is None:
        raise Raced("The node or the price changed in the meantime. Try again.")
    tx.hint(ALLOCATIONS, new.id)
    tx.hint(CLAIMED, new.node_id)
    tx.hint(EVENTS, new.project_id)
    return row


def _values(new: NewAllocation) -> dict[str, object]:
    act = {"actor": new.requested_by, "now": new.created_at, "at": new.created_at, "note": ""}
    return {**asdict(new), **act, "correlation": correlation_id.get()}


# A request without a project means the caller's only project.
FIND = """
    select p.id, p.tenant_id, (
        select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'type', k.type, 'blob', k.blob,
            'fingerprint', k.fingerprint, 'user_id', k.user_id,
            'ends_at', key_ends_at(k.token_id)) order by k.id), '[]')
        from ssh_keys k where k.user_id = caller.caller_id and k.id = any ($3)
            and (k.token_id is null or key_ends_at(k.token_id) > clock_timestamp())
    ) as keys
    from projects p where p.id = coalesce($2,
        case when cardinality(caller.caller_project_ids) = 1 then caller.caller_project_ids[1] end)
"""
ADD_GROUP = """
    insert into allocation_groups (id, tenant_id, project_id, created_by, created_at) values ($1, $2, $3, $4, $5)
"""
# The statement inserts nothing unless the node is ready, all slots are for sale, the price is current and the person
# works in the project. Slots that are already sold are refused by the unique index on live claims, independently of
# this check.
CREATED = Audit(action="allocation.create", target_kind="allocation", facts="'{}'::jsonb")
SUBMIT = numbered(f"""
    with ready as materialized (
        select claimable(:node_id, :slot_ids, :gpu_family, :whole) and lock_role(:requested_by, :project_id)
            and exists (select from prices p join skus k on k.key = p.sku_key
                where p.id = :price_id and k.sku = :sku and k.active and p.valid @> clock_timestamp()) as ok
    ), allocation as (
        insert into allocations (id, tenant_id, project_id, group_id, name, sku, shape, gpu_count, size, vcpus,
            memory_mib, simulated, node_id, region, price_id, price_minor_per_hour, currency, requested_by, holder_id,
            username, operation_id, created_at, disk_gib, init, spare_access, status, status_since, last_progress_at)
        select :id, :tenant_id, :project_id, :group_id, :name, :sku, :shape, :gpu_count, :size, :vcpus, :memory_mib,
            :simulated, :node_id, :region, :price_id, :price_minor_per_hour, :currency, :requested_by, :requested_by,
            :username, :operation_id, :now, :disk_gib, :init,
            spare_access(:node_id, :slot_ids, :vcpus, :memory_mib, :disk_gib, :init), 'requested', :now, :now
        from ready where ok
        returning *
    ), claimed as (
        insert into claims (allocation_id, tenant_id, node_id, slot_id, kind, claimed_at)
        select a.id, a.tenant_id, a.node_id, slot_id, 'slot', a.created_at
        from allocation a, unnest(:slot_ids::text[]) as slot_id order by slot_id
    ), whole as (
        insert into claims (allocation_id, tenant_id, node_id, kind, claimed_at)
        select id, tenant_id, node_id, 'node_exclusive', created_at from allocation where :whole
    ), keyset as (
        insert into allocation_keysets (allocation_id, tenant_id, generation, body)
        select id, tenant_id, 1, :keys from allocation
    ), keys as (
        insert into allocation_keys (allocation_id, tenant_id, ssh_key_id)
        select a.id, a.tenant_id, key_id from allocation a, unnest(:ssh_key_ids::text[]) as key_id
    ), {statements.placed(ALLOCATION, source="allocation", audit=CREATED)}
    select * from allocation
""")
