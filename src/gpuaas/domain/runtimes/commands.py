"""Commands of people on runtimes: list bundles, apply, upgrade, roll back, repair, clear."""

from datetime import datetime

from msgspec.structs import replace

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import commands as allocations
from gpuaas.domain.allocations.authority import Action, authorize
from gpuaas.domain.allocations.states import LIVE
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.runtimes import store
from gpuaas.domain.runtimes.compatibility import BundleIncompatible, Inside, objection
from gpuaas.domain.runtimes.rows import BundleRow, RuntimeRow, Shown
from gpuaas.domain.runtimes.store import NodeOffer
from gpuaas.domain.skus import store as skus
from gpuaas.domain.timeline.store import NewEntry, audit, end_operation, record, start_operation
from gpuaas.wire.allocations import Status
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import (
    DESCRIPTORS,
    INSTALL_ROOT,
    AllocationRuntime,
    ApplyRuntimeBundle,
    BundleState,
    Compatibility,
    RuntimeAction,
    RuntimeBundle,
    RuntimeState,
    SupportLevel,
)
from gpuaas.wire.timeline import OperationStatus

GONE = frozenset(Status) - LIVE | {Status.RELEASING, Status.RELEASE_FAILED}


async def show_bundles(
    tx: Tx, rows: list[BundleRow], node_ids: list[str] | None, image: BaseImage | None = None
) -> list[RuntimeBundle]:
    """The bundles that are not retired. With nodes, each has its compatibility with them; with an image, its
    compatibility with an allocation that has this image.
    """
    offered = [row for row in rows if row.state is not BundleState.RETIRED]
    if node_ids is None:
        return [row.view() for row in offered]
    nodes = await store.node_offers(tx, node_ids)
    return [replace(row.view(), compatibility=judge(row, nodes, image)) for row in offered]


async def place_of(tx: Tx, caller: Caller, allocation_id: str) -> tuple[str, BaseImage | None]:
    """The allocation's node, and the base image that the allocation started from."""
    row = await allocations.get(tx, caller, allocation_id)
    return row.node_id, row.image


async def nodes_of_sku(tx: Tx, sku: str, index: Index) -> list[str]:
    """The nodes on which an allocation of this SKU could be placed, for questions before it exists."""
    family = (await skus.get(tx, sku)).gpu_family
    return [node.id for node in await index.read() if node.gpu_family == family and not node.blocked]


def judge(row: BundleRow, nodes: list[NodeOffer], image: BaseImage | None = None) -> Compatibility:
    """For one node, whether the bundle fits; for several, whether it fits any, and how many if not all."""
    if not nodes:
        return Compatibility(compatible=False, reason="no node offers such allocations now.", staged=False)
    objections = [_objection(row, node, image) for node in nodes]
    fitting = [node for node, reason in zip(nodes, objections, strict=True) if not reason]
    if not fitting:
        return Compatibility(compatible=False, reason=objections[0], staged=False)
    partly = f"it fits {len(fitting)} of {len(nodes)} nodes; on the others it is refused." if any(objections) else ""
    return Compatibility(compatible=True, reason=partly, staged=all(row.id in node.staged for node in fitting))


def _objection(bundle: BundleRow, node: NodeOffer, image: BaseImage | None) -> str:
    inside = Inside(image=image, staged_in=node.staged.get(bundle.id)) if image else None
    return objection(bundle.needs, node.facts, inside)


async def get(tx: Tx, caller: Caller, allocation_id: str) -> AllocationRuntime:
    await allocations.get(tx, caller, allocation_id)
    return view(allocation_id, await store.runtime(tx, allocation_id))


async def apply(
    tx: Tx, caller: Caller, allocation_id: str, data: ApplyRuntimeBundle, *, ids: Ids, now: datetime
) -> AllocationRuntime:
    """Change the desired runtime. A worker applies it; programs that already run keep their runtime."""
    row = await authorize(tx, caller, allocation_id, Action.APPLY_RUNTIME)
    _require_alive(row)
    shown = await store.runtime(tx, allocation_id)
    bundle = await _wanted(tx, row, data, shown)
    return await _choose(
        tx, row, bundle, shown, action=data.action, by=caller.actor, reason=data.reason, ids=ids, now=now
    )


async def clear(
    tx: Tx, caller: Caller, allocation_id: str, *, reason: str, ids: Ids, now: datetime
) -> AllocationRuntime:
    """Remove the runtime. Without an applied runtime this changes nothing."""
    row = await authorize(tx, caller, allocation_id, Action.CLEAR_RUNTIME)
    _require_alive(row)
    shown = await store.runtime(tx, allocation_id)
    if shown is None or shown.row.state in (RuntimeState.CLEARED, RuntimeState.CLEARING):
        return view(allocation_id, shown)
    return await _choose(tx, row, None, shown, action=None, by=caller.actor, reason=reason, ids=ids, now=now)


async def choose_at_launch(
    tx: Tx, row: AllocationRow, data: ApplyRuntimeBundle, *, by: str, ids: Ids, now: datetime
) -> AllocationRow:
    """Part of a submit: choose the version now, by the facts of the node that was placed on."""
    bundle = await _named(tx, row, data)
    await _choose(tx, row, bundle, None, action=data.action, by=by, reason="", ids=ids, now=now)
    shown = await store.runtime(tx, row.id)
    return replace(row, runtime=shown.summary if shown else None)


def _require_alive(row: AllocationRow) -> None:
    if row.status in GONE:
        raise Conflict("The allocation has ended or is being released; its runtime cannot change.", status=row.status)


async def _wanted(tx: Tx, row: AllocationRow, data: ApplyRuntimeBundle, shown: Shown | None) -> BundleRow:
    if data.action is RuntimeAction.APPLY:
        return await _named(tx, row, data)
    if data.runtime_bundle_slug or data.runtime_bundle_id or data.version:
        raise ValidationError(
            f"The action {data.action} uses the current bundle of the allocation. To choose a bundle, apply it.",
            errors={"runtime_bundle_slug": f"not with {data.action}"},
        )
    here = shown.row if shown else None
    if data.action is RuntimeAction.ROLL_BACK:
        if here is None or here.previous_bundle_id in (None, here.bundle_id):
            raise Conflict("There is nothing to roll back to: no other bundle was active here before.")
        return await _fitting(tx, row, await store.bundle(tx, here.previous_bundle_id or ""))
    in_force = _in_force(here) if here else None
    if in_force is None:
        raise Conflict(f"There is no runtime here to {data.action}. Apply one first.")
    bundle = await store.bundle(tx, in_force)
    if data.action is RuntimeAction.REPAIR:
        return bundle
    newest = await _newest(tx, row, bundle.slug)
    if newest.id == bundle.id:
        raise Conflict(f"The bundle {bundle.name} is the newest that fits this allocation.", version=bundle.version)
    return newest


def _in_force(here: RuntimeRow) -> str | None:
    """The active bundle: after a failed choice, the one before; while a choice is being applied, that choice."""
    kept = here.observed_bundle_id if here.state is RuntimeState.FAILED else None
    return kept or here.bundle_id


async def _named(tx: Tx, row: AllocationRow, data: ApplyRuntimeBundle) -> BundleRow:
    """A slug selects the newest supported version that fits; an exact version or id may also be deprecated or a
    preview.
    """
    if (data.runtime_bundle_id is None) == (data.runtime_bundle_slug is None):
        wrong = "give one of runtime_bundle_slug and runtime_bundle_id"
        raise ValidationError("Name one bundle, by slug or by id.", errors={"runtime_bundle_slug": wrong})
    if data.runtime_bundle_id:
        if data.version:
            raise ValidationError("An id already names a version.", errors={"version": "only with a slug"})
        try:
            return await _fitting(tx, row, await store.bundle(tx, data.runtime_bundle_id))
        except NotFound as error:
            raise _unknown("runtime_bundle_id", data.runtime_bundle_id) from error
    slug = data.runtime_bundle_slug or ""
    if data.version is None:
        return await _newest(tx, row, slug)
    named = [each for each in await store.bundles(tx, slug=slug) if each.version == data.version]
    if not named:
        raise _unknown("version", f"{slug} {data.version}")
    return await _fitting(tx, row, named[0])


async def _newest(tx: Tx, row: AllocationRow, slug: str) -> BundleRow:
    offered = [each for each in await store.bundles(tx, slug=slug) if each.state is BundleState.PUBLISHED]
    if not offered:
        raise _unknown("runtime_bundle_slug", slug)
    supported = [each for each in offered if each.support_level is SupportLevel.SUPPORTED] or offered
    [node] = await store.node_offers(tx, [row.node_id])
    for each in supported:
        if not _objection(each, node, row.image):
            return each
    raise BundleIncompatible(supported[0].name, _objection(supported[0], node, row.image))


async def _fitting(tx: Tx, row: AllocationRow, bundle: BundleRow) -> BundleRow:
    if bundle.state is BundleState.RETIRED:
        raise Conflict(f"The bundle {bundle.name} is retired and cannot be applied. See GET /runtime-bundles.")
    [node] = await store.node_offers(tx, [row.node_id])
    if reason := _objection(bundle, node, row.image):
        raise BundleIncompatible(bundle.name, reason)
    return bundle


def _unknown(field: str, name: str) -> ValidationError:
    return ValidationError(
        f"The runtime bundle {name} is not available. See GET /runtime-bundles.", errors={field: "unknown"}
    )


async def _choose(
    tx: Tx,
    row: AllocationRow,
    bundle: BundleRow | None,
    shown: Shown | None,
    *,
    action: RuntimeAction | None,
    by: str,
    reason: str,
    ids: Ids,
    now: datetime,
) -> AllocationRuntime:
    """Replace the choice; an earlier choice that is still being applied fails as superseded."""
    operation_id, verb = ids.new("op"), action or "clear"
    was = shown.row if shown else None
    if was and was.state in (RuntimeState.APPLYING, RuntimeState.CLEARING):
        overtaken = "superseded by a newer choice"
        await end_operation(tx, was.operation_id, OperationStatus.FAILED, reason=overtaken, now=now)
    await start_operation(tx, operation_id, row.subject, f"runtime_{verb}", requested_by=by, now=now)
    await store.choose(
        tx,
        row,
        bundle.id if bundle else None,
        was=was,
        operation_id=operation_id,
        wants_check=action is RuntimeAction.REPAIR,
        now=now,
    )
    note = ": ".join(filter(None, [bundle.name if bundle else "raw compute", reason]))
    phase = "runtime_applying" if bundle else "runtime_clearing"
    await record(tx, row.subject, NewEntry(phase=phase, at=now, actor=by, note=note), operation_id)
    facts = {"bundle": bundle.name if bundle else None, "reason": reason}
    await audit(tx, row.subject, f"allocation.runtime.{verb}", actor=by, at=now, facts=facts)
    return view(row.id, await store.runtime(tx, row.id))


def view(allocation_id: str, shown: Shown | None) -> AllocationRuntime:
    if shown is None:
        return AllocationRuntime(
            allocation_id=allocation_id,
            state=RuntimeState.CLEARED,
            bundle=None,
            observed_bundle=None,
            previous_bundle=None,
            observed_boot=0,
            last_applied_at=None,
            reason="",
            operation_id=None,
            staging=None,
            activate=None,
            descriptor=f"{DESCRIPTORS}/{allocation_id}.env",
        )
    row, observed = shown.row, shown.observed_bundle
    return AllocationRuntime(
        allocation_id=allocation_id,
        state=row.state,
        bundle=shown.bundle,
        observed_bundle=observed,
        previous_bundle=None if row.previous_bundle_id == row.bundle_id else shown.previous_bundle,
        observed_boot=row.observed_boot,
        last_applied_at=row.last_applied_at,
        reason=row.reason,
        operation_id=row.operation_id,
        staging=shown.staging,
        activate=f". {INSTALL_ROOT}/{observed.slug}/current/activate.sh" if observed else None,
        descriptor=f"{DESCRIPTORS}/{allocation_id}.env",
        health=shown.health or "",
        checked_at=shown.checked_at,
    )
