"""SQL for nodes, slots and claims. Live claims alone record who holds a slot."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct, convert
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.capacity import kinds
from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import Act
from gpuaas.wire.capacity import Intent, Node, Slot
from gpuaas.wire.environments import CHANGING_FACTS, Fact, GpuReset, NodeFacts

CAPACITY = "capacity"  # the topic of changed nodes and slots; its row ids are node ids
CLAIMED = "claimed"  # the topic of nodes with new claims, for other replicas


class OpenedLink(Struct, frozen=True, kw_only=True):
    """A node's own description when it opens its link."""

    node_id: str
    facts: NodeFacts
    agent_version: str
    boot_id: str
    task_key_generation: int | None = None  # the newest that it trusts; None: as recorded


class LinkKey(Struct, frozen=True, kw_only=True):
    public_key: bytes | None
    task_key_generation: int


class NodeRow(Node, frozen=True, kw_only=True):
    """A node with the columns that only the server needs."""

    version: int
    public_key: bytes | None


class NewSlot(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    index: int
    gpu_family: str
    gpu_pci: str
    gpu_uuid: str
    fabric_vf: str | None
    nvme: str | None
    mac: str | None
    address: str | None
    numa: int | None
    vcpus: int
    memory_mib: int


async def add_region(tx: Tx, name: str) -> None:
    await tx.run("insert into regions (name) values ($1) on conflict do nothing", name)


async def add_node(tx: Tx, id: str, name: str, region: str, now: datetime) -> str | None:
    """Returns its id, or the id of a node of this name that was never enrolled; None if one was."""
    kept = await tx.value(ADD_NODE, id, name, region, now)
    return None if kept is None else str(kept)


async def link_keys(tx: Tx, node_ids: Sequence[str]) -> list[LinkKey]:
    """The key that proves the identity of each connecting node; empty for a node that may have no link."""
    return await tx.all(LinkKey, LINK_KEYS, node_ids)


async def node(tx: Tx, id: str, *, lock: bool = False) -> NodeRow:
    row = await tx.maybe(NodeRow, f"{NODE} where n.id = $1 {'for update of n' if lock else ''}", id)
    if row is None:
        raise NotFound("node")
    return row


async def nodes(tx: Tx, paging: Paging) -> list[Node]:
    rows = await tx.all(NodeRow, f"{NODE} where n.id < $1 order by n.id desc limit $2", paging.before, paging.limit + 1)
    return [node_view(row) for row in rows]


def node_view(row: NodeRow) -> Node:
    return Node(**{field: getattr(row, field) for field in Node.__struct_fields__})


async def move_node(tx: Tx, row: NodeRow, to: Intent, *, actor: str, reason: str, now: datetime) -> NodeRow:
    await transitions.move(tx, kinds.NODE, row, to, Act(actor=actor, now=now, note=reason))
    tx.hint(CAPACITY, row.id)
    return await node(tx, row.id)


async def add_enrolment_token(
    tx: Tx, token_hash: bytes, node_id: str, *, created_by: str, expires_at: datetime, purpose: str = "enrol"
) -> None:
    await tx.run(ADD_TOKEN, token_hash, node_id, created_by, expires_at, purpose)


async def use_rotation_token(tx: Tx, token_hash: bytes, new_key: bytes) -> str | None:
    """The node whose key the token rotates. Valid once; later only with the key that the node already has."""
    node_id = await tx.value(USE_ROTATION_TOKEN, token_hash, new_key)
    return None if node_id is None else str(node_id)


async def set_key(tx: Tx, node_id: str, public_key: bytes, now: datetime) -> None:
    await tx.run("update nodes set public_key = $2, key_changed_at = $3 where id = $1", node_id, public_key, now)


async def use_enrolment_token(tx: Tx, token_hash: bytes, public_key: bytes) -> str | None:
    """The node of the token. Valid once; the same computer may repeat it if it missed the answer."""
    node_id = await tx.value(USE_ENROLMENT_TOKEN, token_hash, public_key)
    return None if node_id is None else str(node_id)


async def enrol_node(tx: Tx, id: str, public_key: bytes, facts: NodeFacts, agent_version: str) -> None:
    await tx.run(ENROL_NODE, id, public_key, facts.engine, facts.simulated, agent_version, facts.ssh_host, facts)
    await disks.reported(tx, {id: facts.disk})


async def links_opened(tx: Tx, opened: Sequence[OpenedLink], now: datetime) -> None:
    """Mark the nodes online and seen, in one statement."""
    if not opened:
        return
    rows = [
        (o.node_id, o.facts.engine, o.facts.simulated, o.agent_version, o.facts.ssh_host, o.facts, o.boot_id)
        for o in opened
    ]
    generations = [o.task_key_generation for o in opened]
    await tx.run(LINKS_OPENED, *map(list, zip(*rows, strict=True)), now, generations)
    await disks.reported(tx, {o.node_id: o.facts.disk for o in opened})
    for each in opened:
        tx.hint(CAPACITY, each.node_id)


async def facts_changed(tx: Tx, told: Mapping[str, Mapping[str, Fact]]) -> list[str]:
    """Returns the nodes whose facts changed. Only the listed facts may change, so a node cannot add facts without
    limit.
    """
    known = {id: {name: found[name] for name in CHANGING_FACTS if name in found} for id, found in told.items()}
    changed = {id: found for id, found in known.items() if found}
    return await tx.column(FACTS_CHANGED, list(changed), list(changed.values())) if changed else []


async def gpu_resets(tx: Tx, node_id: str) -> dict[str, GpuReset]:
    """For the GPUs of a node, by UUID; GPUs for which the agent reported nothing are absent."""
    return convert(await tx.value("select gpu_resets($1)", node_id), dict[str, GpuReset])


async def dispute(tx: Tx, node_ids: Sequence[str], until: datetime) -> None:
    """Another agent process replaced a live link of each node: proofs of removal wait until the node's identity is
    certain.
    """
    await tx.run("update nodes set link_disputed_until = $2 where id = any ($1)", node_ids, until)


async def set_contested(tx: Tx, node_id: str, now: datetime, detail: str) -> bool:
    """Returns whether that is new."""
    return bool(await tx.run(SET_CONTESTED, node_id, now, detail))


async def clear_contested(tx: Tx, node_id: str) -> None:
    await tx.run(CLEAR_CONTESTED, node_id)


async def install_keysets_again(tx: Tx, node_id: str) -> None:
    """Another agent with its key may have confirmed key sets that the node never received."""
    await tx.run("select install_keysets_again($1)", node_id)


async def links_lost(tx: Tx, last_seen: Mapping[str, datetime]) -> None:
    """Mark nodes offline since they were last seen, in one statement."""
    if not last_seen:
        return
    await tx.run(LINKS_LOST, list(last_seen), list(last_seen.values()))
    for node_id in last_seen:
        tx.hint(CAPACITY, node_id)


async def seen(tx: Tx, at: dict[str, datetime]) -> None:
    """Store the last proof of life of many nodes, in one statement."""
    await tx.run(SEEN, list(at), list(at.values()))


async def add_candidates(tx: Tx, slots: list[NewSlot]) -> None:
    """Discovery only adds candidates: new slots wait for an operator's approval, and known slots stay unchanged."""
    for slot in slots:
        await tx.run(ADD_CANDIDATE, *astuple(slot))


async def slots(tx: Tx, node_id: str) -> list[Slot]:
    return await tx.all(Slot, f"{SLOT} where s.node_id = $1 order by s.index", node_id)


async def slot(tx: Tx, node_id: str, index: int) -> Slot:
    row = await tx.maybe(Slot, f"{SLOT} where s.node_id = $1 and s.index = $2", node_id, index)
    if row is None:
        raise NotFound("slot")
    return row


async def approve_slot(tx: Tx, slot_id: str, *, by: str, now: datetime) -> None:
    await tx.run(
        "update slots set approved_at = $2, approved_by = $3 where id = $1 and approved_at is null", slot_id, now, by
    )


async def disable_slot(tx: Tx, slot_id: str, at: datetime | None, reason: str) -> None:
    """With `at` None the slot is enabled again."""
    await tx.run("update slots set disabled_at = $2, disabled_reason = $3 where id = $1", slot_id, at, reason)


async def live_claims(tx: Tx, node_id: str) -> int:
    return int(await tx.value("select count(*) from claims where node_id = $1 and released_at is null", node_id))


async def is_held_whole(tx: Tx, node_id: str) -> bool:
    return bool(await tx.value(HELD_WHOLE, node_id))


async def end_claims(tx: Tx, allocation_id: str, node_id: str, *, now: datetime) -> None:
    """Only after cleanup is proven."""
    await tx.run(UNBLOCK_SLOTS, allocation_id)
    await tx.run(
        "update claims set released_at = $2 where allocation_id = $1 and released_at is null", allocation_id, now
    )
    tx.hint(CAPACITY, node_id)


async def block_slots(tx: Tx, allocation_id: str, node_id: str, *, now: datetime) -> None:
    """Cleanup could not be proven: the slots are not sold until it is."""
    await tx.run(BLOCK_SLOTS, allocation_id, now)
    tx.hint(CAPACITY, node_id)


ADD_NODE = """
    insert into nodes as kept (id, name, region, intent, intent_since, created_at)
    values ($1, $2, $3, 'enrolling', $4, $4)
    on conflict (name) do update set region = excluded.region
        where kept.intent = 'enrolling' and kept.public_key is null
    returning id
"""
SLOT = """
    select s.*, c.allocation_id, case when c.id is not null then 'claimed' when s.approved_at is null then 'candidate'
        when s.disabled_at is not null then 'disabled' when s.cleanup_blocked_at is not null then 'cleanup_blocked'
        when exists (select from device_holds h where h.slot_id = s.id) then 'unknown_environment'
        when not home.is_capable then 'missing_requirements' else 'free' end as status
    from slots s join nodes home on home.id = s.node_id left join claims c on c.slot_id = s.id and c.released_at is null
"""
NODE = f"""
    select n.*, held.*, ({disks.DISK} where d.node_id = n.id) as disk from nodes n, lateral (
        select count(*) filter (where status = 'claimed') as slots_claimed,
            count(*) filter (where status in
                ('disabled', 'cleanup_blocked', 'unknown_environment', 'missing_requirements')) as slots_blocked,
            count(*) filter (where status = 'free') as slots_free,
            coalesce(jsonb_agg(jsonb_build_object('index', index, 'status', status, 'gpu_family', gpu_family,
                'cleanup_blocked', cleanup_blocked_at is not null, 'allocation_id', allocation_id)
                order by index), '[]') as slots
        from ({SLOT} where s.node_id = n.id) slot
    ) held
"""
LINK_KEYS = """
    select n.public_key, coalesce(n.task_key_generation, 1) as task_key_generation
    from unnest($1::text[]) with ordinality as asked (id, number)
        left join nodes n on n.id = asked.id and n.intent <> 'retired' order by asked.number
"""
# A node may have several tokens. The first computer to use one becomes the node; the others wait for the lock and are
# refused.
USE_ENROLMENT_TOKEN = """
    with node as (
        select n.id, n.public_key from nodes n join enrolment_tokens e on e.node_id = n.id where e.token_hash = $1
        for update of n
    )
    update enrolment_tokens t set used_at = coalesce(t.used_at, clock_timestamp()) from node
    where t.token_hash = $1 and t.purpose = 'enrol' and t.expires_at > clock_timestamp()
        and ((t.used_at is null and node.public_key is null) or node.public_key = $2)
    returning t.node_id
"""
ADD_TOKEN = """
    insert into enrolment_tokens (token_hash, node_id, created_by, expires_at, purpose) values ($1, $2, $3, $4, $5)
"""
USE_ROTATION_TOKEN = """
    with node as (
        select n.id, n.public_key from nodes n join enrolment_tokens e on e.node_id = n.id where e.token_hash = $1
        for update of n
    )
    update enrolment_tokens t set used_at = coalesce(t.used_at, clock_timestamp()) from node
    where t.token_hash = $1 and t.purpose = 'rotate_key' and t.expires_at > clock_timestamp()
        and (t.used_at is null or node.public_key = $2)
    returning t.node_id
"""
ENROL_NODE = """
    update nodes set public_key = $2, engine = $3, simulated = $4, agent_version = $5, ssh_host = $6, facts = $7,
        offline_since = coalesce(offline_since, clock_timestamp()) where id = $1
"""
LINKS_OPENED = """
    update nodes n set engine = o.engine, simulated = o.simulated, agent_version = o.agent_version,
        ssh_host = o.ssh_host, facts = o.facts, boot_id = o.boot_id, offline_since = null, last_seen_at = $8,
        task_key_generation = coalesce(o.task_key_generation, n.task_key_generation)
    from unnest($1::text[], $2::text[], $3::bool[], $4::text[], $5::text[], $6::jsonb[], $7::text[], $9::int[])
        as o (node_id, engine, simulated, agent_version, ssh_host, facts, boot_id, task_key_generation)
    where n.id = o.node_id
"""
FACTS_CHANGED = """
    update nodes n set facts = jsonb_set(n.facts, '{facts}', (n.facts -> 'facts') || told.facts)
    from unnest($1::text[], $2::jsonb[]) as told (id, facts)
    where n.id = told.id and n.facts ? 'facts' and not n.facts -> 'facts' @> told.facts
    returning n.id
"""
SET_CONTESTED = "update nodes set contested_at = $2, contested_detail = $3 where id = $1 and contested_at is null"
CLEAR_CONTESTED = """
    update nodes set contested_at = null, contested_detail = '', link_disputed_until = null
    where id = $1 and contested_at is not null
"""
LINKS_LOST = """
    update nodes n set offline_since = lost.at, last_seen_at = lost.at
    from unnest($1::text[], $2::timestamptz[]) as lost (id, at) where n.id = lost.id and n.offline_since is null
"""
SEEN = """
    update nodes n set last_seen_at = seen.at from unnest($1::text[], $2::timestamptz[]) as seen (id, at)
    where n.id = seen.id and n.offline_since is null and (n.last_seen_at is null or n.last_seen_at < seen.at)
"""
ADD_CANDIDATE = """
    insert into slots (id, node_id, index, gpu_family, gpu_pci, gpu_uuid, fabric_vf, nvme, mac, address, numa, vcpus,
        memory_mib)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing
"""
HELD_WHOLE = "select exists (select from claims where node_id = $1 and kind = 'node_exclusive' and released_at is null)"
UNBLOCK_SLOTS = """
    update slots set cleanup_blocked_at = null
    where id in (select slot_id from claims where allocation_id = $1 and released_at is null)
        and cleanup_blocked_at is not null
"""
BLOCK_SLOTS = """
    update slots set cleanup_blocked_at = coalesce(cleanup_blocked_at, $2)
    where id in (select slot_id from claims where allocation_id = $1 and released_at is null)
"""
