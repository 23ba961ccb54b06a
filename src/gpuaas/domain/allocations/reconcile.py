"""Reconciles allocations. The decision is pure; the worker may run twice, late, or after any crash."""

from datetime import datetime, timedelta

import asyncpg
from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.environments import store as environments
from gpuaas.domain.allocations.ownership import ownership
from gpuaas.domain.allocations.store import AllocationRow, Change, Seen
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.resizes import store as resizes
from gpuaas.domain.resizes.store import Resize
from gpuaas.domain.skus import store as skus
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import SYSTEM, NewEntry, record
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import GPU_RESET, Environment, EnvironmentSpec, ProofItem
from gpuaas.wire.link import ENVIRONMENT_REMOVED, Result
from gpuaas.wire.tasks import ENSURE, REMOVE, EnsureEnvironment, RemoveEnvironment, TaskKind
from gpuaas.wire.timeline import Outcome

PROVISION_LIMIT = timedelta(minutes=5)
RELEASE_LIMIT = timedelta(minutes=5)
REMOVE_ATTEMPTS = 3
CONTESTED = "Two agents use the key of this node, so its reports cannot prove a removal. An operator must check it."
UNTIL_LIMIT = Retry(first=timedelta(seconds=2), deadline=PROVISION_LIMIT, late="The node did not finish in time.")
RELEASE = Retry(tries=REMOVE_ATTEMPTS, counts_idle=True)
CLEAN_UP = Retry(first=timedelta(seconds=30), doublings=7, tries=None)  # up to an hour
PORT_FENCE = "allocations_port"


class Queue(Struct, frozen=True):
    """Queue a node task; `to` is the allocation's status from then on."""

    kind: TaskKind
    to: Status | None = None


class Move(Struct, frozen=True):
    to: Status
    note: str
    environment: Environment | None = None


class Settle(Struct, frozen=True):
    """The removal is proven."""

    proofs: list[ProofItem]


class Block(Struct, frozen=True):
    """Something is still on the node, or the node could not check: its slots stay out of service."""

    note: str
    result: Result | None


Decision = Queue | Move | Settle | Block | None


def decide(seen: Seen, now: datetime) -> Decision:
    """Pure: same facts, same answer. None means nothing is due."""
    match seen.row.status:
        case Status.REQUESTED:
            return Queue(TaskKind.ENSURE, Status.PROVISIONING)
        case Status.PROVISIONING:
            return _after_ensure(seen, now, failed=Status.FAILED)
        case Status.RESTARTING:
            return _after_ensure(seen, now, failed=Status.RESTART_FAILED)
        case Status.RELEASING:
            return _release(seen, now)
        case Status.FAILED if seen.row.cleanup_proven_at is None:
            return _clean_up(seen, now)
        case _:
            return None


def _after_ensure(seen: Seen, now: datetime, *, failed: Status) -> Decision:
    target = Target(task=ENSURE, boot=seen.row.boot)
    if seen.task and target.is_of(seen.task) and seen.task.reason == ENVIRONMENT_REMOVED:
        return Move(failed, seen.task.reason)  # a retry would repeat this until the limit
    match evaluate(seen.task, target, UNTIL_LIMIT, now, since=seen.waiting_since):
        case Missing():
            return Queue(TaskKind.ENSURE)
        case Done(made):
            return Move(Status.ACTIVE, "the allocation is ready", environment=made.environment)
        case Failed(reason):
            return Move(failed, reason or "The node could not create the environment.")
        case Open() | Waiting():
            return None


def _release(seen: Seen, now: datetime) -> Decision:  # noqa: PLR0911 - one line a case
    late, task = now - seen.waiting_since > RELEASE_LIMIT, seen.task
    if seen.holds:
        return Move(Status.RELEASE_FAILED, f"Still held by {', '.join(seen.holds)}.") if late else None
    target = Target(task=REMOVE, operation_id=seen.row.operation_id, is_proof_needed=True)
    if task and target.is_of(task) and not task.is_open and _is_doubtful(seen, now):
        return Block(CONTESTED, None) if late else None
    is_believed = not (task and task.disputed)
    match evaluate(task, target, RELEASE, now, attempts=seen.attempts, is_believed=is_believed):
        case Missing():
            return Queue(TaskKind.REMOVE)
        case Done(removed):
            return Settle(removed.proofs)
        case Open():
            return Block("The node does not answer.", None) if late else None
        case Failed() if task:
            return Block(_why_not_clean(task), task.result)
        case _:
            return None


def _clean_up(seen: Seen, now: datetime) -> Decision:
    """`failed` is final for people, not for the platform: the slots are held until everything is removed from them."""
    task, target = seen.task, Target(task=REMOVE, is_proof_needed=True)
    if task and target.is_of(task) and not task.is_open:
        if _is_doubtful(seen, now):
            return None
        if task.disputed:
            return Queue(TaskKind.REMOVE)
    match evaluate(task, target, CLEAN_UP, now, attempts=seen.attempts):
        case Missing():
            return Queue(TaskKind.REMOVE)
        case Done(removed):
            return Settle(removed.proofs)
        case Waiting() if task and not seen.blocked:
            return Block(_why_not_clean(task), task.result)
        case _:
            return None


def _is_doubtful(seen: Seen, now: datetime) -> bool:
    """It is uncertain whether this node sent the answer."""
    return seen.contested or (seen.disputed_until is not None and now < seen.disputed_until)


def _why_not_clean(task: TaskRow) -> str:
    left = [proof.item for proof in task.result.proofs if not proof.ok] if task.result else []
    residue = ", ".join(item for item in left if item != GPU_RESET)
    words = [f"Still on the node: {residue}."] if residue else []
    words += ["A GPU could not be reset."] if GPU_RESET in left else []
    return " ".join(words) or task.reason or "Cleanup could not be proven."


class AllocationWorker:
    """core/work.py finds due rows, leases them and calls this; hints only wake it earlier."""

    name = "allocations"
    topics = (store.ALLOCATIONS,)
    due = """
        select id from allocations where status in ('requested', 'provisioning', 'restarting', 'releasing')
            or (status = 'failed' and cleanup_proven_at is null)
    """
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        async with self._db.read() as tx:
            seen = await store.look(tx, row_id)
        now = self._clock.now()
        decision = decide(seen, now)
        if decision is None:
            return
        try:
            await self._act(seen, decision, now)
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name != PORT_FENCE:
                raise
            clash = Move(Status.FAILED, "The node assigned a port that another allocation still holds. Try again.")
            await self._act(seen, clash, now)

    async def _act(self, seen: Seen, decision: Queue | Move | Settle | Block, now: datetime) -> None:
        """The row's version guards moves and queued tasks; `ssh_host` is from the snapshot."""
        row = seen.row
        async with self._db.write(f"{type(decision).__name__} {row.status}") as tx:
            match decision:
                case Queue():
                    await self._queue(tx, seen, decision, now)
                case Move():
                    await self._move(tx, seen, decision, now)
                case Settle(proofs):
                    await settle(tx, row, proofs, actor=SYSTEM, now=now)
                case Block(note, result):
                    await self._block(tx, row, note, result, now)

    async def _queue(self, tx: Tx, seen: Seen, queue: Queue, now: datetime) -> None:
        row, kind = seen.row, queue.kind
        if queue.to:
            row = await store.move(tx, row, queue.to, Act(actor=SYSTEM, now=now))
        task = tasks.NewTask(
            id=self._ids.new("task"),
            node_id=row.node_id,
            allocation_id=row.id,
            operation_id=row.operation_id,
            boot=row.boot,
            kind=kind,
            wants=await wants(tx, row, seen.resize, kind),
            supersedes=(store.KEYS,),  # an environment is created with its keys
        )
        await tasks.queue(tx, task, version=row.version, now=now)

    async def _move(self, tx: Tx, seen: Seen, move: Move, now: datetime) -> None:
        row, change, environment = seen.row, Change(), move.environment
        if move.to is Status.ACTIVE and environment:
            change = Change(
                observed_boot=environment.boot,
                ssh_host=seen.ssh_host,
                port=environment.port,
                host_key=environment.host_key,
                isolation=environment.isolation,
                image=environment.image,
                active_at=now,
            )
        elif move.to in (Status.FAILED, Status.RESTART_FAILED):
            change = Change(billing_stopped_at=now)
        if move.to is Status.ACTIVE and seen.resize:
            change = change.with_size(seen.resize)
        act = Act(actor=SYSTEM, now=now, note=move.note)
        await store.move(tx, row, move.to, act, change, operation=OperationChange(reason=move.note))
        if move.to is Status.ACTIVE:
            await self._up(tx, seen, environment, now)

    async def _up(self, tx: Tx, seen: Seen, environment: Environment | None, now: datetime) -> None:
        """Store what the running environment confirms: the keys that it admits, and that a new size is in force."""
        row = seen.row
        if environment and environment.isolation and environment.isolation.namespaces:
            init = (seen.resize or row).init
            await skus.keep_confinement(tx, init, environment.isolation, row.node_id, now)
        if environment:
            await environments.keys_observed(tx, row.id, environment.key_generation)
        if seen.resize and (resize := await resizes.finish(tx, row.id, row.node_id, now)):
            evidence = {"from": f"{row.gpu_count} GPUs, {row.size}", "to": f"{resize.gpu_count} GPUs, {resize.size}"}
            resized = NewEntry(phase="resized", outcome=Outcome.DONE, at=now, actor=SYSTEM, evidence=evidence)
            await record(tx, row.subject, resized, row.operation_id)

    async def _block(self, tx: Tx, row: AllocationRow, note: str, result: Result | None, now: datetime) -> None:
        await store.add_proofs(tx, row, result.proofs if result else [], now)
        await capacity.block_slots(tx, row.id, row.node_id, now=now)
        if row.status is Status.RELEASING:
            await store.move(tx, row, Status.RELEASE_FAILED, Act(actor=SYSTEM, now=now, note=note))
        else:
            blocked = NewEntry(phase="cleanup_blocked", outcome=Outcome.FAILED, at=now, actor=SYSTEM, note=note)
            await record(tx, row.subject, blocked, row.operation_id)


async def settle(tx: Tx, row: AllocationRow, proofs: list[ProofItem], *, actor: str, now: datetime) -> None:
    """Store the proofs, end the claims and complete the timeline, in one transaction."""
    await store.add_proofs(tx, row, proofs, now)
    await capacity.end_claims(tx, row.id, row.node_id, now=now)
    evidence = {proof.item: proof.evidence for proof in proofs}
    cleaned = NewEntry(phase="cleanup_proven", outcome=Outcome.DONE, at=now, actor=actor, evidence=evidence)
    await record(tx, row.subject, cleaned, row.operation_id)
    if row.status is Status.FAILED:
        await store.settle(tx, row, now)
        return
    change = Change(released_at=now, cleanup_proven_at=now)
    await store.move(tx, row, Status.RELEASED, Act(actor=actor, now=now, note="everything is removed"), change)


async def wants(
    tx: Tx, row: AllocationRow, resize: Resize | None, kind: TaskKind
) -> EnsureEnvironment | RemoveEnvironment:
    """The complete desired state; during a resize, the new one."""
    if kind is TaskKind.REMOVE:
        return RemoveEnvironment(reason=row.status_reason)
    shape, wanted = resize or row, await environments.wanted(tx, row.id)
    spec = EnvironmentSpec(
        allocation_id=row.id,
        boot=row.boot,
        hostname=row.name,
        username=row.username,
        slots=wanted.devices,
        vcpus=shape.vcpus,
        memory_mib=shape.memory_mib,
        simulated=row.simulated,
        keys=wanted.keys,
        facts={"allocation": row.id, "project": row.project_id, "name": row.name, "sku": row.sku, "size": shape.size},
        ownership=ownership(row, resize),
        disk_gib=shape.disk_gib,
        init=shape.init,
    )
    return EnsureEnvironment(spec=spec)
