"""Commands of operators on nodes and slots, and placement questions of everybody."""

import base64
import binascii
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from msgspec.structs import replace as with_fields

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Problem, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import token_hash
from gpuaas.domain.capacity import store
from gpuaas.domain.capacity.contests import settle_contest
from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.capacity.placement import Ask, Fleet, explain, misfit
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.skus import store as skus
from gpuaas.domain.skus.store import SkuRow
from gpuaas.domain.timeline.store import NewEntry, Subject, audit, record
from gpuaas.wire.capacity import (
    AskPlacement,
    Availability,
    CreateEnrolmentToken,
    EnrolmentToken,
    Intent,
    Node,
    Placement,
    SetOvercommit,
    Shape,
    Size,
    Sku,
    Slot,
    SlotStatus,
)
from gpuaas.wire.link import Enrol

KEY_BYTES = 32


class SkuUnavailable(Problem):
    """Cannot be placed now. The facts have the kind of reason and the sizes that would fit."""

    status, code = 409, "sku_unavailable"

    def __init__(self, placement: Placement) -> None:
        alternatives = " Or choose a size that fits." if placement.would_fit else " Try again later."
        super().__init__(
            placement.detail + alternatives,
            kind=placement.kind,
            blocked=placement.blocked,
            would_fit=placement.would_fit,
        )


class EnrolmentRefused(Problem):
    status, code = 401, "enrolment_refused"


def choose_size(sku: SkuRow, gpu_count: int, name: str | None) -> Size:
    """The requested size, or the first size with this GPU count."""
    if gpu_count not in sku.allowed_counts:
        allowed = ", ".join(map(str, sku.allowed_counts))
        raise ValidationError(
            f"The SKU {sku.sku} is sold with {allowed} GPUs, not with {gpu_count}. Choose one of these.",
            errors={"gpu_count": f"one of {allowed}"},
            allowed_counts=sku.allowed_counts,
        )
    sizes = [size for size in sku.sizes if size.gpu_count == gpu_count]
    for size in sizes:
        if name in (None, size.name):
            return size
    names = ", ".join(size.name for size in sizes)
    raise ValidationError(f"There is no size {name} with {gpu_count} GPUs.", errors={"size": f"one of {names}"})


def ask_for(sku: SkuRow, data: AskPlacement) -> Ask:
    return replace(ask_of(sku, choose_size(sku, data.gpu_count, data.size)), region=data.region)


def ask_of(sku: SkuRow, size: Size) -> Ask:
    return Ask(
        shape=sku.shape,
        gpu_family=sku.gpu_family,
        gpu_count=size.gpu_count,
        vcpus=size.vcpus,
        memory_mib=size.memory_mib,
        disk_gib=size.disk_gib,
        init=size.init,
    )


def default_asks(sku: SkuRow) -> list[Ask]:
    """The default size of each GPU count."""
    defaults: dict[int, Size] = {}
    for size in sku.sizes:
        defaults.setdefault(size.gpu_count, size)
    return [ask_of(sku, defaults[count]) for count in sku.allowed_counts if count in defaults]


async def explain_placement(tx: Tx, data: AskPlacement, fleet: Index, *, more_disk_gib: int = 0) -> Placement:
    """Reads the whole fleet from the database: not from the index, and not limited to what the caller may see."""
    sku = await skus.get(tx, data.sku)
    ask = ask_for(sku, data)
    ask = replace(ask, disk_gib=ask.disk_gib + more_disk_gib)
    return explain(await fleet.read(), ask, count=data.count, others=default_asks(sku))


def with_availability(rows: Iterable[SkuRow], fleet: Fleet) -> list[Sku]:
    """Add the number of allocations of each GPU count that fit now, by region. The numbers are independent of each
    other.
    """
    return [
        with_fields(
            row.view(),
            sizes=[_placed_size(row, size, fleet) for size in row.sizes],
            availability=[
                Availability(region=region, gpu_count=ask.gpu_count, free=free)
                for ask in default_asks(row)
                for region, free in fleet.room(ask).items()
            ],
        )
        for row in rows
    ]


def _placed_size(sku: SkuRow, size: Size, fleet: Fleet) -> Size:
    """Add what the nodes with this SKU's GPUs mean for the size: shared CPUs, or that it cannot be placed."""
    ask, nodes = ask_of(sku, size), [node for node in fleet.views() if node.gpu_family == sku.gpu_family]
    is_part = sku.shape is not Shape.BAREMETAL
    shares = any(
        node.vcpus is not None and len(node.slots) // size.gpu_count * size.vcpus > node.vcpus for node in nodes
    )
    return with_fields(size, shares_cpus=is_part and shares, not_placeable=misfit(nodes, ask))


async def create_enrolment_token(
    tx: Tx, caller: Caller, data: CreateEnrolmentToken, *, ids: Ids, now: datetime
) -> EnrolmentToken:
    """Create a node row with a token; the computer that presents the token becomes this node."""
    caller.require_platform(Permission.FLEET_OPERATE)
    return await issue_enrolment_token(tx, data, by=caller.actor, ids=ids, now=now)


async def issue_enrolment_token(
    tx: Tx, data: CreateEnrolmentToken, *, by: str, ids: Ids, now: datetime
) -> EnrolmentToken:
    """For a new node, or again for a node that was never enrolled because its tokens were lost or expired."""
    token = "gpe_" + secrets.token_urlsafe(32)
    expires_at = now + timedelta(seconds=data.ttl_seconds)
    await store.add_region(tx, data.region)
    node_id = await store.add_node(tx, ids.new("node"), data.node_name, data.region, now)
    if node_id is None:
        raise Conflict(f"A node named {data.node_name} already exists. Choose another name.")
    await store.add_enrolment_token(tx, token_hash(token), node_id, created_by=by, expires_at=expires_at)
    subject = Subject(kind="node", id=node_id)
    await record(tx, subject, NewEntry(phase=Intent.ENROLLING, at=now, actor=by, note="token issued"), None)
    await audit(tx, subject, "node.enrolment_token", actor=by, at=now)
    return EnrolmentToken(token=token, node_id=node_id, expires_at=expires_at)


async def enrol(tx: Tx, data: Enrol, *, ids: Ids, now: datetime) -> str:
    """Enrol the computer that presents the token as its node; its discovered slots wait for approval."""
    try:
        public_key = base64.b64decode(data.public_key, validate=True)
    except binascii.Error as error:
        raise EnrolmentRefused("The node key is not base64.") from error
    if len(public_key) != KEY_BYTES:
        raise EnrolmentRefused(f"The node key must be {KEY_BYTES} bytes of Ed25519.")
    node_id = await store.use_enrolment_token(tx, token_hash(data.token), public_key)
    if node_id is None:
        raise EnrolmentRefused("This enrolment token is unknown, used or expired. Ask an operator for a new one.")
    await store.enrol_node(tx, node_id, public_key, data.facts, data.agent_version)
    await store.add_candidates(tx, candidates(node_id, data, ids))
    row = await store.node(tx, node_id)
    if row.intent is Intent.ENROLLING:
        await store.move_node(tx, row, Intent.ACTIVE, actor=node_id, reason="enrolled", now=now)
    return node_id


def candidates(node_id: str, data: Enrol, ids: Ids) -> list[store.NewSlot]:
    """One candidate slot per GPU. A simulated GPU gets simulated devices; real ones are filled in at approval."""
    share = max(1, len(data.facts.gpus))
    return [
        store.NewSlot(
            id=ids.new("slot"),
            node_id=node_id,
            index=gpu.index,
            gpu_family=gpu.family,
            gpu_pci=gpu.gpu_pci,
            gpu_uuid=gpu.gpu_uuid,
            fabric_vf=f"sim-vf{gpu.index}" if gpu.simulated else None,
            nvme=f"sim-nvme{gpu.index}" if gpu.simulated else None,
            mac=f"02:00:00:00:00:{gpu.index:02x}" if gpu.simulated else None,
            address=f"sim-address{gpu.index}" if gpu.simulated else None,
            numa=gpu.numa,
            vcpus=max(1, data.facts.vcpus // share),
            memory_mib=data.facts.memory_mib // share,
        )
        for gpu in data.facts.gpus
    ]


async def change_intent(tx: Tx, caller: Caller, id: str, to: Intent, *, reason: str, now: datetime) -> Node:
    """Drain, quarantine, reactivate or retire a node; it can be retired only without live claims."""
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.node(tx, id, lock=True)
    if to is Intent.RETIRED and (claims := await store.live_claims(tx, id)):
        raise Conflict(
            f"{claims} claims are live on this node. Drain it, release or force-clean them, then retire it.",
            claims=claims,
        )
    if row.contested_at and to in (Intent.ACTIVE, Intent.DRAINING):  # an operator checked it, so detection starts again
        await settle_contest(tx, id)
    return store.node_view(await store.move_node(tx, row, to, actor=caller.actor, reason=reason, now=now))


async def approve_slot(tx: Tx, caller: Caller, node_id: str, index: int, *, reason: str, now: datetime) -> Slot:
    caller.require_platform(Permission.FLEET_OPERATE)
    await store.node(tx, node_id, lock=True)
    slot = await store.slot(tx, node_id, index)
    if await store.is_held_whole(tx, node_id):
        raise Conflict("An allocation holds the whole node, so no slot can be added now. Approve it after the release.")
    await store.approve_slot(tx, slot.id, by=caller.actor, now=now)
    return await _slot_changed(tx, caller, slot, "approve", now=now, reason=reason)


async def disable_slot(tx: Tx, caller: Caller, node_id: str, index: int, *, reason: str, now: datetime) -> Slot:
    """The slot is not sold again; its current allocation keeps it."""
    caller.require_platform(Permission.FLEET_OPERATE)
    slot = await store.slot(tx, node_id, index)
    await store.disable_slot(tx, slot.id, now, reason)
    return await _slot_changed(tx, caller, slot, "disable", now=now, reason=reason)


async def enable_slot(tx: Tx, caller: Caller, node_id: str, index: int, *, reason: str, now: datetime) -> Slot:
    caller.require_platform(Permission.FLEET_OPERATE)
    slot = await store.slot(tx, node_id, index)
    if slot.status is SlotStatus.CANDIDATE:
        raise Conflict("This slot was never approved. Approve it instead.")
    await store.disable_slot(tx, slot.id, None, "")
    return await _slot_changed(tx, caller, slot, "enable", now=now, reason=reason)


async def set_overcommit(tx: Tx, caller: Caller, node_id: str, data: SetOvercommit, *, now: datetime) -> Node:
    """Applies from the next request on; what is sold stays sold."""
    caller.require_platform(Permission.FLEET_OPERATE)
    before = await disks.set_overcommit(tx, node_id, data.overcommit)
    subject = Subject(kind="node", id=node_id)
    note = f"from {before:g} to {data.overcommit:g}" + (f": {data.reason}" if data.reason else "")
    await record(tx, subject, NewEntry(phase="disk_overcommit", at=now, actor=caller.actor, note=note), None)
    facts = {"from": before, "to": data.overcommit, "reason": data.reason}
    await audit(tx, subject, "node.disk_overcommit", actor=caller.actor, at=now, facts=facts)
    tx.hint(store.CAPACITY, node_id)
    return store.node_view(await store.node(tx, node_id))


async def _slot_changed(tx: Tx, caller: Caller, slot: Slot, verb: str, *, now: datetime, reason: str) -> Slot:
    subject = Subject(kind="node", id=slot.node_id)
    note = f"slot {slot.index}" + (f": {reason}" if reason else "")
    await record(tx, subject, NewEntry(phase=f"slot_{verb}d", at=now, actor=caller.actor, note=note), None)
    facts = {"index": slot.index, "reason": reason}
    await audit(tx, subject, f"node.slot.{verb}", actor=caller.actor, at=now, facts=facts)
    tx.hint(store.CAPACITY, slot.node_id)
    return await store.slot(tx, slot.node_id, slot.index)
