"""Commands of operators on bundles: publish, stage, unstage, deprecate, retire."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.runtimes import store
from gpuaas.domain.runtimes.compatibility import BundleIncompatible, objection
from gpuaas.domain.runtimes.stagings import store as staging_rows
from gpuaas.domain.runtimes.stagings.reconcile import begin
from gpuaas.domain.timeline import store as timeline
from gpuaas.domain.timeline.kinds import Audit
from gpuaas.domain.timeline.phases import phases
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.runtimes import (
    BundleState,
    PublishRuntimeBundle,
    RuntimeBundle,
    RuntimeBundleDetail,
    StageRuntimeBundle,
    Staging,
    StagingDetail,
    StagingStatus,
)

LOG_LINES = 200


async def publish(tx: Tx, caller: Caller, data: PublishRuntimeBundle, *, ids: Ids, now: datetime) -> RuntimeBundle:
    caller.require_platform(Permission.FLEET_OPERATE)
    return await publish_as(tx, data, by=caller.actor, ids=ids, now=now)


async def publish_as(tx: Tx, data: PublishRuntimeBundle, *, by: str, ids: Ids, now: datetime) -> RuntimeBundle:
    """Publish a version. It never changes afterwards, because nodes and allocations check its digest."""
    if any("\0" in word for word in data.recipe.check):
        raise ValidationError("The check contains a null character.", errors={"recipe": "check"})
    row = await store.add_bundle(tx, ids.new("rtb"), data, by=by, now=now)
    facts = {"bundle": row.name, "digest": row.digest}
    await audit(tx, Subject(kind="runtime_bundle", id=row.id), "runtime_bundle.publish", actor=by, at=now, facts=facts)
    return row.view()


async def detail(tx: Tx, caller: Caller, id: str) -> RuntimeBundleDetail:
    caller.require_platform(Permission.FLEET_READ)
    row = await store.bundle(tx, id)
    return RuntimeBundleDetail(bundle=row.view(), recipe=await store.recipe(tx, id))


async def change(tx: Tx, caller: Caller, id: str, to: BundleState, *, reason: str, now: datetime) -> RuntimeBundle:
    """Deprecate, retire or publish again. Allocations that use the bundle keep it, and stagings stay."""
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.bundle(tx, id)
    act = Act(actor=caller.actor, now=now, facts={"bundle": row.name, "reason": reason})
    return (await store.move_bundle(tx, row, to, act)).view()


async def stage(tx: Tx, caller: Caller, id: str, data: StageRuntimeBundle, *, ids: Ids, now: datetime) -> list[Staging]:
    """Stage on the named nodes, which the bundle must fit; without names, on every node that it fits."""
    caller.require_platform(Permission.FLEET_OPERATE)
    bundle = await store.bundle(tx, id)
    wanted = []
    for node_id in data.node_ids or await staging_rows.nodes(tx):
        await capacity.node(tx, node_id)
        reason = objection(bundle.needs, await store.facts_of(tx, node_id))
        if reason and data.node_ids:
            raise BundleIncompatible(bundle.name, f"on {node_id}, {reason}")
        if not reason:
            wanted.append(node_id)
    if bundle.state is BundleState.RETIRED:
        raise Conflict(f"The bundle {bundle.name} is retired and cannot be staged. Publish a newer version.")
    for node_id in wanted:
        await begin(tx, node_id, id, requested_by=caller.actor, ids=ids, now=now)
    facts = {"bundle": bundle.name, "nodes": wanted}
    subject = Subject(kind="runtime_bundle", id=id)
    await audit(tx, subject, "runtime_bundle.stage", actor=caller.actor, at=now, facts=facts)
    return [each for each in await staging_rows.shown(tx, id) if each.node_id in wanted]


UNSTAGED = Audit(
    action="runtime_bundle.unstage", target_kind="runtime_bundle", target_id="bundle_id", facts=":facts::jsonb"
)


class BundleInUse(Conflict):
    code = "bundle_in_use"


async def unstage(tx: Tx, caller: Caller, id: str, node_id: str, *, reason: str, ids: Ids, now: datetime) -> Staging:
    """Remove a staging from its node, with proof. A repeated request during or after the removal changes nothing."""
    caller.require_platform(Permission.FLEET_OPERATE)
    bundle = await store.bundle(tx, id)
    row = await staging_rows.locked(tx, id, node_id)
    shown = (await staging_rows.shown(tx, id, node_id))[0]
    if row.status in (StagingStatus.REMOVING, StagingStatus.REMOVED):
        return shown
    if row.status is StagingStatus.STAGING:
        raise Conflict(f"{bundle.name} is being staged there now. Remove it after that has ended.")
    if shown.in_use:
        raise BundleInUse(
            f"{bundle.name} is in use on {shown.node_name}: {shown.in_use} allocations there use it or may roll back "
            "to it. Switch them to another bundle, or wait until they are released.",
            in_use=shown.in_use,
        )
    facts = {"bundle": bundle.name, "node": node_id, "reason": reason}
    act = Act(actor=caller.actor, now=now, audit=UNSTAGED, facts=facts)
    change = staging_rows.StagingChange(operation_id=ids.new("op"), proofs=[])
    operation = OperationChange(begins="runtime_unstage")
    await staging_rows.move(tx, row, StagingStatus.REMOVING, act, change, operation=operation)
    return (await staging_rows.shown(tx, id, node_id))[0]


async def stagings(tx: Tx, caller: Caller, id: str) -> list[Staging]:
    caller.require_platform(Permission.FLEET_READ)
    await store.bundle(tx, id)
    return await staging_rows.shown(tx, id)


async def staging(tx: Tx, caller: Caller, id: str, node_id: str) -> StagingDetail:
    """One staging with its phases and the log lines of the node."""
    caller.require_platform(Permission.FLEET_READ)
    found = await staging_rows.shown(tx, id, node_id)
    if not found:
        raise NotFound("staging")
    operation = await timeline.operation(tx, found[0].operation_id)
    return StagingDetail(
        staging=found[0],
        phases=phases(await timeline.operation_entries(tx, operation.id), operation),
        logs=await timeline.log_excerpt(tx, operation.id, LOG_LINES),
    )
