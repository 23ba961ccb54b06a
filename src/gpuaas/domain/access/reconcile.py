"""Workers that install key sets on nodes and end grants whose time or allocation has ended."""

from datetime import datetime, timedelta

from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.access import grants, store
from gpuaas.domain.access.store import GrantRow, Seen
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.environments import store as environments
from gpuaas.domain.allocations.ownership import ownership
from gpuaas.domain.allocations.store import KEYS, OVERLAYS
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Missing, Retry, Target, evaluate
from gpuaas.domain.timeline.store import SYSTEM
from gpuaas.wire.access import GrantStatus
from gpuaas.wire.allocations import Status
from gpuaas.wire.tasks import INSTALL_KEYS, InstallKeys, TaskKind

TRY_AGAIN_AFTER = timedelta(seconds=2)
UNTIL_SEEN = Retry(first=TRY_AGAIN_AFTER, tries=None)
OVER = frozenset({Status.RELEASING, Status.RELEASED, Status.RELEASE_FAILED, Status.FAILED})


class Observe(Struct, frozen=True):
    """The node has confirmed this key set."""

    generation: int


class Install(Struct, frozen=True):
    pass


def decide(seen: Seen, now: datetime) -> Observe | Install | None:
    """Pure: same facts, same answer. None means nothing is due."""
    if seen.row.status is not Status.ACTIVE or seen.observed_generation >= seen.keys.generation:
        return None
    if seen.reported > seen.observed_generation:
        return Observe(min(seen.reported, seen.keys.generation))
    wanted = {"keys.generation": seen.keys.generation}
    target = Target(task=INSTALL_KEYS, boot=seen.row.boot, wants=wanted)
    # Only a confirmed key set ends the lane, so a done task counts as an attempt.
    outcome = evaluate(seen.task, target, UNTIL_SEEN, now, is_believed=False)
    return Install() if outcome == Missing() else None


class KeysWorker:
    """Installs the newest key set of an active allocation until its node confirms exactly that set."""

    name = "keys"
    topics = (KEYS, OVERLAYS)
    due = """
        select a.id from allocation_keysets k join allocations a on a.id = k.allocation_id
        where k.generation > k.observed_generation and a.status = 'active'
    """
    pause = 2.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        async with self._db.read() as tx:
            seen = await store.look(tx, row_id)
        now = self._clock.now()
        match decide(seen, now):
            case Observe(generation):
                async with self._db.write("observe keys") as tx:
                    await environments.keys_observed(tx, row_id, generation)
                    if generation < seen.keys.generation:
                        tx.hint(KEYS, row_id)
            case Install():
                async with self._db.read("install keys") as tx:  # one statement, so it is its own transaction
                    await self._install(tx, seen, now)
            case None:
                return

    async def _install(self, tx: Tx, seen: Seen, now: datetime) -> None:
        row = seen.row
        task = tasks.NewTask(
            id=self._ids.new("task"),
            node_id=row.node_id,
            allocation_id=row.id,
            operation_id=row.operation_id,
            boot=row.boot,
            kind=TaskKind.INSTALL_KEYS,
            wants=InstallKeys(keys=seen.keys, ownership=ownership(row)),
            lane=KEYS,
        )
        await tasks.queue(tx, task, version=row.version, now=now)


def over(grant: GrantRow, status: Status, now: datetime) -> str:
    """The reason why a live grant must end; empty while it need not."""
    if status in OVER:
        return "the allocation ended"
    return "the grant expired" if grant.expires_at is not None and grant.expires_at <= now else ""


class GrantsWorker:
    """Ends expired grants of one allocation. The node enforces expiry without waiting for this worker: it has the end
    of each key.
    """

    name = "grants"
    topics = (OVERLAYS,)
    due = """
        select distinct g.allocation_id as id from access_grants g join allocations a on a.id = g.allocation_id
        where g.status in ('asked', 'awaiting_key', 'active') and (g.expires_at <= clock_timestamp()
            or a.status in ('releasing', 'released', 'release_failed', 'failed'))
    """
    pause = 5.0

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    async def __call__(self, row_id: str) -> None:
        now = self._clock.now()
        async with self._db.write("end grants") as tx:
            row = await allocations.get(tx, row_id)
            for grant in await store.grants_to_end(tx, row_id):
                if reason := over(grant, row.status, now):
                    await grants.end(tx, grant, GrantStatus.ENDED, actor=SYSTEM, note=reason, now=now)
