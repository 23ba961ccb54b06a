"""The work loop: leases, heartbeats, back-off, hints, the switch; and a dead replica holds nobody back."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from gpuaas.core import work
from gpuaas.core.db import Database, DbRole, connect
from gpuaas.core.errors import Raced
from gpuaas.core.hints import Hints
from gpuaas.core.work import BATCH, EXTEND, Loop
from tests import peek
from tests.live import eventually

DUE = "select id from wanted"


class Recorder:
    """A worker over a table of its own that writes down every pass."""

    name, topics, due, pause = "recorder", ("wanted",), DUE, 3600.0

    def __init__(self, do: Callable[[str], Awaitable[None]] | None = None) -> None:
        self._do = do
        self.passes: list[str] = []

    async def __call__(self, row_id: str) -> None:
        self.passes.append(row_id)
        if self._do:
            await self._do(row_id)


class Bench:
    """One database, and loops of several replicas over it."""

    def __init__(self, db: Database, hints: Hints) -> None:
        self.db, self.hints = db, hints

    async def want(self, *ids: str) -> None:
        await peek.plant(self.db, "insert into wanted select unnest($1::text[])", list(ids))

    async def done(self, id: str) -> None:
        await peek.plant(self.db, "delete from wanted where id = $1", id)

    async def row(self, id: str) -> dict[str, object]:
        found = await peek.row(self.db, "select *, until > clock_timestamp() as leased from work where row_id = $1", id)
        return dict(found or {})

    @asynccontextmanager
    async def loop(self, worker: Recorder, replica: str = "one") -> AsyncIterator[Loop]:
        loop = Loop(self.db, worker, self.hints, token=replica, jitter=lambda: 0.5)
        task = asyncio.create_task(loop.run())
        try:
            yield loop
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def bench(migrated: str) -> AsyncIterator[Bench]:
    hints = Hints("here")
    db = await connect(migrated, DbRole.WORKER, hints=hints)
    owner = await connect(migrated, DbRole.OWNER, hints=hints)
    await peek.plant(owner, "create table wanted (id text primary key); grant all on wanted to gpuaas_worker")
    await owner.close()
    yield Bench(db, hints)
    await db.close()


def ran(worker: Recorder, *ids: str) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return set(ids) <= set(worker.passes)

    return check


async def test_due_rows_are_found_without_any_hint(bench: Bench) -> None:
    worker = Recorder()
    await bench.want("a", "b")
    async with bench.loop(worker):
        await eventually(ran(worker, "a", "b"))


async def test_a_row_that_stays_due_rests_for_the_workers_pause(bench: Bench) -> None:
    worker = Recorder()
    await bench.want("a")
    async with bench.loop(worker):
        await eventually(ran(worker, "a"))
        await bench.want("b")
        bench.hints.send([("wanted", "b")])
        await eventually(ran(worker, "b"))
    assert Counter(worker.passes) == {"a": 1, "b": 1}


async def test_a_hint_passes_over_the_pause(bench: Bench) -> None:
    worker = Recorder()
    await bench.want("a")

    async def twice() -> bool:
        bench.hints.send([("wanted", "a")])
        return len(worker.passes) >= 2

    async with bench.loop(worker):
        await eventually(ran(worker, "a"))
        await eventually(twice)


async def test_a_hint_for_a_row_that_is_not_due_runs_nothing(bench: Bench) -> None:
    worker = Recorder()
    await bench.want("real")
    async with bench.loop(worker):
        bench.hints.send([("wanted", "imagined"), ("wanted", "real")])
        await eventually(ran(worker, "real"))
    assert worker.passes == ["real"]


async def test_many_hints_at_once_do_not_wait_for_the_next_poll(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a batch, and a part of them for rows that are not due or that another replica has."""
    worker, real = Recorder(), [f"real {number}" for number in range(2 * BATCH)]
    await bench.want(*real)
    async with bench.loop(worker):
        await eventually(ran(worker, *real))
        monkeypatch.setattr(work, "IDLE_SECONDS", 3600.0)
        await asyncio.sleep(2.0)  # the poll that is under way ends
        worker.passes.clear()
        bench.hints.send([("wanted", id) for each in real for id in (each, f"imagined {each}")])
        await eventually(ran(worker, *real))


async def test_a_hint_while_a_row_runs_brings_it_up_again_afterwards(bench: Bench) -> None:
    gate, entered = asyncio.Event(), asyncio.Event()

    async def wait(_: str) -> None:
        entered.set()
        await gate.wait()

    worker = Recorder(wait)
    await bench.want("a")
    async with bench.loop(worker):
        await entered.wait()
        bench.hints.send([("wanted", "a")])
        gate.set()

        async def twice() -> bool:
            return worker.passes == ["a", "a"]

        await eventually(twice)


async def test_two_replicas_never_hold_one_row_at_once(bench: Bench) -> None:
    inside: Counter[str] = Counter()
    most = 0

    async def hold(row_id: str) -> None:
        nonlocal most
        inside[row_id] += 1
        most = max(most, inside[row_id])
        await asyncio.sleep(0)
        await bench.done(row_id)
        inside[row_id] -= 1

    first, second = Recorder(hold), Recorder(hold)
    ids = [f"row{number}" for number in range(200)]
    await bench.want(*ids)
    async with bench.loop(first, "one"), bench.loop(second, "two"):

        async def none_left() -> bool:
            bench.hints.send([("wanted", id) for id in ids[:20]])
            return int(await peek.value(bench.db, "select count(*) from wanted")) == 0

        await eventually(none_left)
    assert most == 1
    assert Counter(first.passes + second.passes) == dict.fromkeys(ids, 1)


async def test_a_failing_row_backs_off_and_shows_its_error_while_others_go_on(bench: Bench) -> None:
    async def fail(row_id: str) -> None:
        if row_id == "bad":
            raise RuntimeError("planted")

    worker = Recorder(fail)
    await bench.want("bad", "good")
    async with bench.loop(worker):
        await eventually(ran(worker, "bad", "good"))

        async def is_written_down() -> bool:
            return (await bench.row("bad")).get("last_error") == "RuntimeError('planted')"

        await eventually(is_written_down)
        row = await bench.row("bad")
        assert (row["attempts"], row["until"]) == (1, None)

        async def failed_thrice() -> bool:
            return int(str((await bench.row("bad")).get("attempts", 0))) >= 3

        await eventually(failed_thrice)
    assert worker.passes.count("good") == 1


async def test_a_hint_does_not_pass_over_the_back_off_of_a_failing_row(bench: Bench) -> None:
    async def fail(row_id: str) -> None:
        if row_id == "bad":
            raise RuntimeError("planted")

    worker = Recorder(fail)
    await bench.want("bad")
    pausing = (
        "insert into work (worker, row_id, attempts, next_at) values ('recorder', 'bad', 3, now() + interval '1h')"
    )
    await peek.plant(bench.db, pausing)
    async with bench.loop(worker):
        await bench.want("good")
        bench.hints.send([("wanted", "bad"), ("wanted", "good")])
        await eventually(ran(worker, "good"))
    assert "bad" not in worker.passes


async def test_success_forgets_the_failures_before_it(bench: Bench) -> None:
    tries: Counter[str] = Counter()

    async def fail_once(row_id: str) -> None:
        tries[row_id] += 1
        if tries[row_id] == 1:
            raise RuntimeError("planted")

    await bench.want("a")
    async with bench.loop(Recorder(fail_once)):

        async def is_well() -> bool:
            row = await bench.row("a")
            return tries["a"] == 2 and (row.get("attempts"), row.get("last_error")) == (0, None)

        await eventually(is_well)


async def test_a_lost_race_is_run_again_at_once_and_is_no_failure(bench: Bench) -> None:
    tries: Counter[str] = Counter()

    async def lose_twice(row_id: str) -> None:
        tries[row_id] += 1
        if tries[row_id] < 3:
            raise Raced("planted")

    await bench.want("a")
    async with bench.loop(Recorder(lose_twice)):

        async def is_done() -> bool:
            row = await bench.row("a")
            return tries["a"] >= 3 and row.get("until") is None and row.get("attempts") == 0

        await eventually(is_done)


async def test_a_dead_replicas_rows_are_taken_over_when_their_lease_runs_out(bench: Bench) -> None:
    await bench.want("a")
    leased = (
        "insert into work (worker, row_id, token, until) values ('recorder', 'a', 'dead', now() + interval '1 hour')"
    )
    await peek.plant(bench.db, leased)
    worker = Recorder()
    async with bench.loop(worker, "alive"):
        await bench.want("b")
        bench.hints.send([("wanted", "a"), ("wanted", "b")])
        await eventually(ran(worker, "b"))
        assert "a" not in worker.passes
        await peek.plant(bench.db, "update work set until = now() - interval '1 second' where token = 'dead'")
        await eventually(ran(worker, "a"))


async def test_a_heartbeat_that_comes_late_does_not_lease_what_was_let_go_of(bench: Bench) -> None:
    await peek.plant(bench.db, "insert into work (worker, row_id, token, until) values ('recorder', 'a', 'me', null)")
    await peek.plant(bench.db, EXTEND, "recorder", ["a"], "me", 15.0)
    assert (await bench.row("a"))["until"] is None


async def test_a_heartbeat_extends_what_is_ours_and_not_what_was_taken_from_us(bench: Bench) -> None:
    add = "insert into work (worker, row_id, token, until) values ('recorder', $1, $2, now())"
    for row in (("a", "me"), ("b", "thief")):
        await peek.plant(bench.db, add, *row)
    await peek.plant(bench.db, EXTEND, "recorder", ["a", "b"], "me", 15.0)
    assert ((await bench.row("a"))["leased"], (await bench.row("b"))["leased"]) == (True, False)


async def test_a_late_worker_does_not_let_go_of_what_was_taken_from_it(bench: Bench) -> None:
    gate, entered = asyncio.Event(), asyncio.Event()

    async def wait(_: str) -> None:
        entered.set()
        await gate.wait()

    worker = Recorder(wait)
    await bench.want("a")
    async with bench.loop(worker, "late") as loop:
        await entered.wait()
        await peek.plant(bench.db, "update work set token = 'thief', until = now() + interval '1 hour'")
        gate.set()

        async def is_out_of_hand() -> bool:
            return not loop._running

        await eventually(is_out_of_hand)
    assert ((await bench.row("a"))["token"], (await bench.row("a"))["leased"]) == ("thief", True)


async def test_a_worker_that_is_switched_off_claims_nothing_until_it_is_on_again(bench: Bench) -> None:
    switched, other = Recorder(), Recorder()
    other.name = "other"
    await peek.plant(bench.db, "insert into worker_switches values ('recorder', now(), 'operator', 'it runs wild')")
    await bench.want("a")
    async with bench.loop(switched), bench.loop(other):
        await eventually(ran(other, "a"))
        bench.hints.send([("wanted", "a")])
        await bench.want("b")
        await eventually(ran(other, "b"))
        assert switched.passes == []
        await peek.plant(bench.db, "delete from worker_switches")
        await eventually(ran(switched, "a", "b"))


async def test_a_row_that_is_no_longer_due_leaves_nothing_in_the_table_of_work(bench: Bench) -> None:
    worker = Recorder(bench.done)
    await bench.want("a")
    async with bench.loop(worker) as loop:
        await eventually(ran(worker, "a"))

        async def is_let_go() -> bool:
            row = await bench.row("a")
            return bool(row) and row["until"] is None

        await eventually(is_let_go)
        await peek.plant(bench.db, "update work set next_at = now() - interval '1 second'")
        await peek.plant(bench.db, loop._sweep, worker.name)
        assert await bench.row("a") == {}


async def test_what_a_dead_replica_or_a_failure_left_is_forgotten_once_it_is_no_longer_due(bench: Bench) -> None:
    await bench.want("wanted")
    left = """
        insert into work (worker, row_id, attempts, until, next_at) values
            ('recorder', 'abandoned', 0, now() - interval '1 second', now() - interval '1 minute'),
            ('recorder', 'failed long ago', 3, null, now() - interval '2 hours'),
            ('recorder', 'failed just now', 3, null, now() - interval '1 second'),
            ('recorder', 'in hand', 0, now() + interval '1 minute', now() - interval '1 minute'),
            ('recorder', 'wanted', 3, null, now() - interval '2 hours')
    """
    await peek.plant(bench.db, left)
    loop = Loop(bench.db, Recorder(), bench.hints, token="one", jitter=lambda: 0.5)
    await peek.plant(bench.db, loop._sweep, "recorder")
    kept = [row["row_id"] for row in await peek.rows(bench.db, "select row_id from work order by row_id")]
    assert kept == ["failed just now", "in hand", "wanted"]


async def test_a_worker_whose_question_is_wrong_says_so_and_stands_still_alone(bench: Bench) -> None:
    broken, well = Recorder(), Recorder()
    broken.name, broken.due = "broken", "select id from nothing_of_that_name"
    await bench.want("a")
    with capture_logs() as logs:
        async with bench.loop(broken), bench.loop(well):
            await eventually(ran(well, "a"))

            async def is_told() -> bool:
                return any(line["event"] == "loop.failed" for line in logs)

            await eventually(is_told)
    assert broken.passes == []
