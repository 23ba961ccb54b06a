"""Reconciles stagings: installs a bundle on its node, checks it there, and removes it with proof."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct, to_builtins

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.runtimes.rows import SeenStaging, StagingRow
from gpuaas.domain.runtimes.stagings import store
from gpuaas.domain.runtimes.store import STAGINGS
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.domain.timeline.store import SYSTEM, Subject, end_operation, start_operation
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.runtimes import IN_USE, BundleSpec, StagedBundle, StagingStatus
from gpuaas.wire.tasks import STAGE_RUNTIME, UNSTAGE_RUNTIME, StageRuntime, TaskKind, UnstageRuntime
from gpuaas.wire.timeline import OperationStatus, Outcome

CHECK_EVERY_SECONDS = 6 * 3600.0
ONCE = Retry()


class Recheck(Struct, frozen=True):
    """The bundle is staged; compare its files with their checksums."""


class Queue(Struct, frozen=True):
    pass


class Settle(Struct, frozen=True):
    found: StagedBundle


class Fail(Struct, frozen=True):
    reason: str


class Gone(Struct, frozen=True):
    proofs: list[ProofItem]


class Keep(Struct, frozen=True):
    """The removal failed: the bundle is in use, or the node reported an error."""

    to: StagingStatus
    reason: str


Decision = Queue | Settle | Fail | Recheck | Gone | Keep | None


def decide_staging(seen: SeenStaging, now: datetime) -> Decision:
    """Pure. A staged bundle that is being checked keeps its status, so that applying it need not wait."""
    if seen.row.status is StagingStatus.REMOVING:
        return _decide_removal(seen, now)
    if seen.row.status is not StagingStatus.STAGING and not seen.is_busy:
        return Recheck() if seen.is_check_due else None
    target = Target(task=STAGE_RUNTIME, operation_id=seen.row.operation_id)
    match evaluate(seen.task, target, ONCE, now):
        case Missing():
            return Queue()
        case Done(result):
            return Settle(result.bundle)
        case Failed(reason):
            return Fail(reason or "The node could not stage it.")
        case Open() | Waiting():
            return None


def _decide_removal(seen: SeenStaging, now: datetime) -> Decision:
    target = Target(task=UNSTAGE_RUNTIME, operation_id=seen.row.operation_id)
    match evaluate(seen.task, target, ONCE, now):
        case Missing():
            return Queue()
        case Done(result):
            return Gone(result.proofs)
        case Failed(reason):
            to = StagingStatus.STAGED if reason == IN_USE else StagingStatus.FAILED
            return Keep(to, reason or "The node could not remove it.")
        case Open() | Waiting():
            return None


class StagingWorker:
    """Reconciles bundles on nodes. The files are compared with their checksums every six hours."""

    name = "stagings"
    topics = (STAGINGS,)
    due = """
        select s.id from node_bundles s join nodes n on n.id = s.node_id
        where s.status in ('staging', 'removing') or (s.status = 'staged' and n.offline_since is null
            and (s.checked_at < clock_timestamp() - interval '6 hours'
                or exists (select from operations o where o.id = s.operation_id and o.status = 'running')))
    """
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        async with self._db.read() as tx:
            seen = await store.look(tx, row_id, CHECK_EVERY_SECONDS)
        now = self._clock.now()
        decision = decide_staging(seen, now)
        if decision is None:
            return
        async with self._db.write(f"{type(decision).__name__} staging") as tx:
            match decision:
                case Queue():
                    await self._queue(tx, seen, now)
                case Recheck():
                    await recheck(tx, seen.row, ids=self._ids, now=now)
                case Settle(found):
                    await self._settle(tx, seen, found, now)
                case Fail(reason):
                    await self._fail(tx, seen, reason, now)
                case Gone(proofs):
                    await self._end_removal(tx, seen, StagingStatus.REMOVED, proofs=proofs, now=now)
                case Keep(to, reason):
                    await self._end_removal(tx, seen, to, reason=reason, now=now)

    async def _queue(self, tx: Tx, seen: SeenStaging, now: datetime) -> None:
        is_removal = seen.row.status is StagingStatus.REMOVING
        task = tasks.NewNodeTask(
            id=self._ids.new("task"),
            node_id=seen.row.node_id,
            operation_id=seen.row.operation_id,
            kind=TaskKind.UNSTAGE_RUNTIME if is_removal else TaskKind.STAGE_RUNTIME,
            wants=_unstage(seen) if is_removal else _stage(seen),
            lane=f"{STAGINGS}:{seen.row.id}",
        )
        await tasks.queue_on_node(tx, task, now=now)

    async def _end_removal(
        self,
        tx: Tx,
        seen: SeenStaging,
        to: StagingStatus,
        *,
        now: datetime,
        reason: str = "",
        proofs: Sequence[ProofItem] = (),
    ) -> None:
        is_gone = to is StagingStatus.REMOVED
        act = Act(
            actor=SYSTEM,
            now=now,
            phase="bundle_removed" if is_gone else "bundle_kept",
            outcome=Outcome.DONE if is_gone else Outcome.FAILED,
            note=": ".join(filter(None, [seen.bundle.name, reason])),
            evidence={proof.item: proof.evidence for proof in proofs},
        )
        change = store.StagingChange(reason=reason, proofs=to_builtins(proofs))
        ended = OperationStatus.SUCCEEDED if is_gone else OperationStatus.FAILED
        await store.move(tx, seen.row, to, act, change, operation=OperationChange(ends=ended, reason=reason))

    async def _settle(self, tx: Tx, seen: SeenStaging, found: StagedBundle, now: datetime) -> None:
        note = f"{seen.bundle.name}: {', '.join(found.drift[:5])}"
        act = Act(actor=SYSTEM, now=now, phase="drift_repaired" if found.drift else None, note=note)
        operation = OperationChange(ends=OperationStatus.SUCCEEDED, reason=found.health)
        change = store.StagingChange.found(found, now)
        await store.move(tx, seen.row, StagingStatus.STAGED, act, change, operation=operation)

    async def _fail(self, tx: Tx, seen: SeenStaging, reason: str, now: datetime) -> None:
        act = Act(actor=SYSTEM, now=now, phase="staging_failed", outcome=Outcome.FAILED, note=reason)
        operation = OperationChange(ends=OperationStatus.FAILED, reason=reason)
        await store.move(
            tx, seen.row, StagingStatus.FAILED, act, store.StagingChange(reason=reason), operation=operation
        )


def _stage(seen: SeenStaging) -> StageRuntime:
    bundle = BundleSpec(
        id=seen.bundle.id,
        slug=seen.bundle.slug,
        version=seen.bundle.version,
        digest=seen.bundle.digest,
        recipe=seen.recipe,
    )
    return StageRuntime(bundle=bundle, manifest=seen.row.manifest)


def _unstage(seen: SeenStaging) -> UnstageRuntime:
    return UnstageRuntime(slug=seen.bundle.slug, version=seen.bundle.version)


async def begin(tx: Tx, node_id: str, bundle_id: str, *, requested_by: str, ids: Ids, now: datetime) -> bool:
    """Returns whether staging began; it does not if the bundle is staged or being staged."""
    operation_id = ids.new("op")
    subject = Subject(kind="node", id=node_id)
    await start_operation(tx, operation_id, subject, "runtime_stage", requested_by=requested_by, now=now)
    begun = await store.begin(tx, ids.new("stg"), node_id, bundle_id, operation_id=operation_id, now=now)
    if not begun:
        await end_operation(tx, operation_id, OperationStatus.SUCCEEDED, reason="staged or in progress", now=now)
    return begun


async def restage(tx: Tx, row: StagingRow, *, ids: Ids, now: datetime) -> None:
    change, operation = store.StagingChange(operation_id=ids.new("op")), OperationChange(begins="runtime_stage")
    await store.move(tx, row, StagingStatus.STAGING, Act(actor=SYSTEM, now=now), change, operation=operation)


async def recheck(tx: Tx, row: StagingRow, *, ids: Ids, now: datetime) -> None:
    operation_id, node = ids.new("op"), Subject(kind="node", id=row.node_id)
    await start_operation(tx, operation_id, node, "runtime_check", requested_by=SYSTEM, now=now)
    await store.recheck(tx, row, operation_id)
