"""SQL for bundles and for the runtime of each allocation."""

from collections.abc import Mapping
from datetime import datetime

import asyncpg
from msgspec import Struct, to_builtins

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, StaleWrite
from gpuaas.core.paging import PAST_ALL_IDS, Paging
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.runtimes.compatibility import NodeRuntimeFacts
from gpuaas.domain.runtimes.kinds import BUNDLE, RUNTIME
from gpuaas.domain.runtimes.rows import BundleRow, RuntimeRow, Seen, Shown
from gpuaas.domain.timeline.statements.store import entries
from gpuaas.domain.timeline.store import EVENTS, SYSTEM
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.runtimes import (
    BundleState,
    PublishRuntimeBundle,
    Recipe,
    RuntimeState,
    digest_of,
)

RUNTIMES = "runtimes"  # the topic, and the lane on the node; row ids are allocation ids
STAGINGS = "stagings"  # the topic, and the first word of the lane on the node; row ids are those of node_bundles


# Bundles ----------------------------------------------------------------------------------------------------------


async def bundles(tx: Tx, *, slug: str | None = None, paging: Paging | None = None) -> list[BundleRow]:
    """Newest first."""
    before, limit = (paging.before, paging.limit + 1) if paging else (PAST_ALL_IDS, 1000)
    return await tx.all(BundleRow, LIST_BUNDLES, slug, before, limit)


async def bundle(tx: Tx, id: str) -> BundleRow:
    row = await tx.maybe(BundleRow, f"{BUNDLES} where b.id = $1", id)
    if row is None:
        raise NotFound("runtime_bundle")
    return row


async def recipe(tx: Tx, bundle_id: str) -> Recipe:
    return (await tx.one(_Recipe, "select recipe from managed_runtime_bundles where id = $1", bundle_id)).recipe


class _Recipe(Struct):
    recipe: Recipe


async def add_bundle(tx: Tx, id: str, data: PublishRuntimeBundle, *, by: str, now: datetime) -> BundleRow:
    try:
        await tx.run(
            ADD_BUNDLE,
            id,
            data.slug,
            data.version,
            data.product_name,
            data.vendor,
            data.runtime_family.value,
            data.gpu_families,
            data.driver_min,
            data.driver_max,
            data.support_level.value,
            digest_of(data.recipe),
            to_builtins(data.recipe),
            now,
            by,
        )
    except asyncpg.UniqueViolationError as error:
        raise Conflict(
            f"The bundle {data.slug} {data.version} is published, and a version never changes. Publish another version."
        ) from error
    return await bundle(tx, id)


async def move_bundle(tx: Tx, row: BundleRow, to: BundleState, act: Act) -> BundleRow:
    await transitions.move(tx, BUNDLE, row, to, act)
    return await bundle(tx, row.id)


async def facts_of(tx: Tx, node_id: str) -> NodeRuntimeFacts:
    return (await tx.one(_Facts, "select runtime_facts($1) as facts", node_id)).facts


class _Facts(Struct):
    facts: NodeRuntimeFacts


class NodeOffer(Struct, frozen=True, kw_only=True):
    """The facts of a node that decide whether bundles fit, and the bundles that are staged there."""

    facts: NodeRuntimeFacts
    staged: dict[str, str]  # bundle → distribution of the base image in which the node built it


async def node_offers(tx: Tx, node_ids: list[str]) -> list[NodeOffer]:
    return await tx.all(NodeOffer, NODE_OFFERS, node_ids)


# Runtimes of allocations ------------------------------------------------------------------------------------------


async def runtime(tx: Tx, allocation_id: str) -> Shown | None:
    return await tx.maybe(Shown, SHOW, allocation_id)


async def choose(
    tx: Tx,
    allocation: AllocationRow,
    bundle_id: str | None,
    *,
    was: RuntimeRow | None,
    operation_id: str,
    wants_check: bool,
    now: datetime,
) -> None:
    """Store the desired bundle; the active one becomes the target of a roll back. Guarded by the version that the
    caller read.
    """
    state = RuntimeState.CLEARING if bundle_id is None else RuntimeState.APPLYING
    if was:
        RUNTIME.states.check(was.state, state)
    place = (allocation.id, allocation.tenant_id, allocation.project_id)
    version = was.version if was else 0
    if not await tx.run(CHOOSE, *place, bundle_id, state, operation_id, now, wants_check, version):
        raise StaleWrite("runtime")
    tx.hint(RUNTIMES, allocation.id)


async def look(tx: Tx, allocation_id: str) -> Seen:
    """One statement, so that all facts are from one snapshot."""
    return await tx.one(Seen, LOOK, allocation_id, RUNTIMES)


class AtBoot(Struct, frozen=True):
    boot: int


async def move(
    tx: Tx, row: RuntimeRow, to: RuntimeState, *, boot: int, note: str, evidence: Mapping[str, object], now: datetime
) -> None:
    """Also stores the boot at which this was observed."""
    act, operation = Act(actor=SYSTEM, now=now, note=note, evidence=evidence), OperationChange(reason=note)
    await transitions.move(tx, RUNTIME, row, to, act, change=AtBoot(boot=boot), operation=operation)
    tx.hint(EVENTS, row.project_id)


async def copy_phases(tx: Tx, row: RuntimeRow, staging_operation_id: str) -> None:
    """Copy the phases of a staging to the timeline of the allocation that waits for it, each phase once."""
    if await tx.run(COPY_PHASES, row.allocation_id, row.operation_id, staging_operation_id, row.asked_at):
        tx.hint(EVENTS, row.project_id)


BUNDLE_COLUMNS = """
    b.id, b.slug, b.version, b.product_name, b.vendor, b.runtime_family, b.gpu_families, b.driver_min, b.driver_max,
    b.support_level, b.state, b.digest, b.published_at, b.recipe ->> 'python' as python,
    b.recipe ->> 'distribution' as distribution
"""
BUNDLES = f"select {BUNDLE_COLUMNS} from managed_runtime_bundles b"
LIST_BUNDLES = f"{BUNDLES} where ($1::text is null or b.slug = $1) and b.id < $2 order by b.id desc limit $3"
ADD_BUNDLE = """
    insert into managed_runtime_bundles (id, slug, version, product_name, vendor, runtime_family, gpu_families,
        driver_min, driver_max, support_level, digest, recipe, published_at, published_by, state, state_since)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'published', $13)
"""
NODE_OFFERS = """
    select runtime_facts(node) as facts, (
        select coalesce(jsonb_object_agg(s.bundle_id, s.distribution), '{}') from node_bundles s
        where s.node_id = node and s.status = 'staged') as staged
    from unnest($1::text[]) node
"""
CHOSEN = """
    (select jsonb_build_object('id', b.id, 'slug', b.slug, 'version', b.version, 'product_name', b.product_name)
        from managed_runtime_bundles b where b.id = r.{column})
"""
SHOW = f"""
    select to_jsonb(r) as row, {CHOSEN.format(column="bundle_id")} as bundle,
        {CHOSEN.format(column="observed_bundle_id")} as observed_bundle,
        {CHOSEN.format(column="previous_bundle_id")} as previous_bundle,
        (select s.status from node_bundles s join allocations a on a.node_id = s.node_id
            where a.id = r.allocation_id and s.bundle_id = r.bundle_id) as staging,
        inforce.health, inforce.checked_at
    from allocation_runtimes r join allocations on allocations.id = r.allocation_id
    left join node_bundles inforce on inforce.node_id = allocations.node_id and inforce.bundle_id = r.observed_bundle_id
    where r.allocation_id = $1
"""
CHOOSE = """
    insert into allocation_runtimes as r
        (allocation_id, tenant_id, project_id, bundle_id, state, operation_id, asked_at, wants_check)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (allocation_id) do update set
        bundle_id = $4, state = $5, reason = '', operation_id = $6, asked_at = $7, wants_check = $8,
        version = r.version + 1,
        previous_bundle_id = case when r.observed_bundle_id is distinct from $4::text
            then coalesce(r.observed_bundle_id, r.previous_bundle_id) else r.previous_bundle_id end
    where r.version = $9
"""
LOOK = f"""
    select to_jsonb(r) as row, a.status, a.boot, a.version as allocation_version, a.node_id,
        (select to_jsonb(each) from (
            select {BUNDLE_COLUMNS} from managed_runtime_bundles b where b.id = r.bundle_id) each) as bundle,
        (select to_jsonb(s) from node_bundles s where s.node_id = a.node_id and s.bundle_id = r.bundle_id) as staging,
        exists (select from node_bundles s join operations o on o.id = s.operation_id
            where s.node_id = a.node_id and s.bundle_id = r.bundle_id and o.status = 'running') as is_staging_busy,
        (select to_jsonb(t) from node_tasks t where t.allocation_id = a.id and t.lane = $2
            order by t.seq desc limit 1) as task
    from allocation_runtimes r join allocations a on a.id = r.allocation_id where r.allocation_id = $1
"""
COPIED = {
    "tenant_id": "a.tenant_id",
    "project_id": "a.project_id",
    "subject_kind": "'allocation'",
    "subject_id": "a.id",
    "operation_id": "$2",
    "phase": "'runtime_' || e.phase",
    **{column: f"e.{column}" for column in ("outcome", "at", "actor", "note")},
}
COPY_PHASES = f"""
    {entries(COPIED, "timeline_entries e, allocations a")}
    where a.id = $1 and e.operation_id = $3 and e.subject_kind = 'node' and e.at >= $4 and not exists (
        select from timeline_entries told
        where told.operation_id = $2 and told.phase = 'runtime_' || e.phase and told.at = e.at)
    order by e.at, e.id
"""
