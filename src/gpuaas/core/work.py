"""The work loop: claim a batch of due rows with a lease, run the worker on each, release them.

A worker is a query (`due`), a function of a row id, and the topics that wake it. It is level-triggered: it reads the
desired and the observed state, and may run twice, late or after a crash at any line. Leases use the database's clock.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import structlog

from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.errors import Raced
from gpuaas.core.hints import Hints
from gpuaas.core.trouble import HARD, reason_of

BATCH = 64
LEASE_SECONDS = 4.0  # how long a row of a killed replica waits; an early expiry costs one extra pass
BEATS_PER_SWEEP = 16  # deleting old rows at every heartbeat was 40 % of the statements of an idle server
IDLE_SECONDS = 1.0  # polling interval without a hint
BACKOFF_SECONDS = (0.2, 60.0)  # first and longest pause after a failure
log = structlog.get_logger()


class Worker(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that wake the worker."""

    @property
    def due(self) -> str:
        """A query of one text column, id."""

    @property
    def pause(self) -> float:
        """Seconds until a row that stays due is processed again without a hint."""

    async def __call__(self, row_id: str) -> None:
        """Process one row once."""


class Loop:
    """Runs one worker in one replica."""

    def __init__(self, db: Database, worker: Worker, hints: Hints, *, token: str, jitter: Callable[[], float]) -> None:
        self._db, self._worker, self._token, self._jitter = db, worker, token, jitter
        self._hinted: set[str] = set()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._beats = 0
        self._claim, self._sweep = CLAIM.format(due=worker.due), SWEEP.format(due=worker.due)
        for topic in worker.topics:
            hints.on(topic, self._hint)

    def _hint(self, row_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._hinted.add(row_id)
        self._wake.set()

    async def run(self) -> None:
        """Run until cancelled; the leases of claimed rows then expire."""
        heart = asyncio.create_task(self._db.health.repeat(f"heartbeat {self._worker.name}", self._heartbeat))
        try:
            await self._db.health.repeat(f"worker {self._worker.name}", self._step)
        finally:
            heart.cancel()
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(heart, *self._running.values(), return_exceptions=True)

    async def _step(self) -> None:
        if not await self._pass():
            with suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS * (0.75 + self._jitter() / 2)):
                    await self._wake.wait()
        self._wake.clear()

    async def _pass(self) -> bool:
        """Claim and start a batch; return whether more rows may be due now."""
        room = BATCH - len(self._running)
        if room <= 0:
            await asyncio.wait(self._running.values(), return_when=asyncio.FIRST_COMPLETED)
            return True
        # A row that gets a hint while it runs keeps the hint and is processed again afterwards.
        hinted = [row_id for row_id in self._hinted if row_id not in self._running][:room]
        self._hinted.difference_update(hinted)
        async with self._db.read(f"look for {self._worker.name}") as tx:
            claimed = await tx.column(self._claim, self._worker.name, self._token, LEASE_SECONDS, room, hinted)
            tx.what = f"lease {self._worker.name}" if claimed else tx.what
        for row_id in claimed:
            self._running[row_id] = asyncio.create_task(self._work(row_id))
        # A partial batch contains all due rows, but not those of hints that had no room in this pass.
        return len(claimed) == room or any(row_id not in self._running for row_id in self._hinted)

    async def _work(self, row_id: str) -> None:
        end_span = self._db.traces.begin("worker pass", worker=self._worker.name, row=row_id)
        try:
            await self._worker(row_id)
            await self._let_go(row_id, pause=self._worker.pause)
        except Raced:
            await self._let_go(row_id, pause=0)
        except Exception as error:  # the only broad except: a failing row must not stop others, and operators see it
            if reason_of(error) in HARD:  # not a failure of the row: its lease expires and it is claimed again
                log.warning("work.database_trouble", worker=self._worker.name, row=row_id, error=repr(error))
                return
            log.exception("work.failed", worker=self._worker.name, row=row_id)
            with suppress(*AWAY, *RERUN):
                await self._failed(row_id, repr(error))
        finally:
            end_span()
            if self._running.get(row_id) is asyncio.current_task():  # after its release, the row may be claimed again
                del self._running[row_id]
            if row_id in self._hinted:
                self._wake.set()

    async def _let_go(self, row_id: str, *, pause: float) -> None:
        async with self._db.read(f"let go of {self._worker.name}") as tx:
            await tx.run(LET_GO, self._worker.name, row_id, self._token, pause * (0.75 + self._jitter() / 2))
        if pause == 0:
            self._hinted.add(row_id)

    async def _failed(self, row_id: str, error: str) -> None:
        first, longest = BACKOFF_SECONDS
        async with self._db.read(f"failed {self._worker.name}") as tx:
            await tx.run(FAILED, self._worker.name, row_id, self._token, first, longest, self._jitter(), error[:2000])

    async def _heartbeat(self) -> None:
        """Renew the leases of claimed rows while this process lives; delete old rows occasionally."""
        await asyncio.sleep(LEASE_SECONDS / 3)
        self._beats += 1
        rows, is_time_to_sweep = list(self._running), self._beats % BEATS_PER_SWEEP == 0
        if not (rows or is_time_to_sweep):
            return
        async with self._db.read(f"heartbeat of {self._worker.name}") as tx:
            if rows:
                await tx.run(EXTEND, self._worker.name, rows, self._token, LEASE_SECONDS)
            if is_time_to_sweep:
                await tx.run(self._sweep, self._worker.name)


def system_jitter() -> float:
    """A number between 0 and 1; not for secrets."""
    return random.random()  # noqa: S311


# A hint skips a pause, but not the back-off of a failing row or a lease.
CLAIM = """
    insert into work as leased (worker, row_id, token, until)
    select $1, due.id, $2, clock_timestamp() + $3 * interval '1 second'
    from ({due}) as due left join work on work.worker = $1 and work.row_id = due.id
    where not exists (select from worker_switches where worker = $1)
        and (work.until is null or work.until < clock_timestamp())
        and (work.row_id is null or work.next_at <= clock_timestamp()
            or (work.attempts = 0 and due.id = any ($5::text[])))
    limit $4
    on conflict (worker, row_id) do update set token = excluded.token, until = excluded.until
        where leased.until is null or leased.until < clock_timestamp()
    returning row_id
"""
LET_GO = """
    update work
    set until = null, attempts = 0, last_error = null, next_at = clock_timestamp() + $4 * interval '1 second'
    where worker = $1 and row_id = $2 and token = $3
"""
FAILED = """
    update work set until = null, attempts = attempts + 1, last_error = $7, next_at = clock_timestamp()
        + least($5::float8, $4::float8 * 2 ^ least(attempts, 20)) * (0.5 + $6::float8 / 2) * interval '1 second'
    where worker = $1 and row_id = $2 and token = $3
"""
# A row that was released during the heartbeat must stay released; a new lease would delay it for seconds.
EXTEND = """
    update work set until = clock_timestamp() + $4 * interval '1 second'
    where worker = $1 and row_id = any ($2) and token = $3 and until is not null
"""
SWEEP = """
    delete from work where worker = $1 and (until is null or until < clock_timestamp())
        and next_at < clock_timestamp() - case when attempts = 0 then interval '0' else interval '1 hour' end
        and not exists (select from ({due}) as due where due.id = work.row_id)
"""
