"""Messages are written in batches, and the result is as if it had been written message by message."""

from datetime import UTC, datetime, timedelta
from typing import cast

from msgspec import Struct

from gpuaas.domain.node_messages.catalog import LoginCounter, handlers
from gpuaas.domain.tasks import store as tasks
from gpuaas.links.link import Link, Socket
from gpuaas.links.messages import Written, waves
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import Progress, Report, Result, TaskStatus
from tests.world import World

HANDLERS = handlers(LoginCounter())
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def link(node_id: str) -> Link:
    return Link(node_id, cast("Socket", None), 1, 0.0)


def report() -> Report:
    return Report(environments=[], at=NOON)


def result(task_id: str, phases: tuple[str, ...] = ()) -> Result:
    told = [
        Progress(task_id=task_id, phase=phase, note="", at=NOON + timedelta(seconds=n))
        for n, phase in enumerate(phases)
    ]
    return Result(task_id=task_id, status=TaskStatus.DONE, at=NOON, phases=told)


def at(link: Link, message: Struct) -> Written:
    handler = HANDLERS.of(message)
    assert handler is not None
    return link, message, handler


def test_reports_of_many_nodes_are_one_wave_and_their_results_the_next() -> None:
    one, two = link("one"), link("two")
    batch: list[Written] = [at(one, report()), at(one, result("a")), at(two, report()), at(two, result("b"))]
    assert waves(batch) == [[batch[0], batch[2]], [batch[1], batch[3]]]


def test_what_one_node_said_keeps_its_order_around_a_report() -> None:
    one, two = link("one"), link("two")
    batch: list[Written] = [at(one, result("a")), at(one, report()), at(two, result("b")), at(one, result("c"))]
    assert waves(batch) == [[batch[0], batch[2]], [batch[1]], [batch[3]]]


async def test_a_batch_ends_tasks_once_and_tells_each_phase_once(world: World) -> None:
    ids = [await world.allocation(Status.PROVISIONING) for _ in range(2)]
    nodes = [(await world.get(id)).node_id for id in ids]
    async with world.db.write() as tx:
        names = [task.id for id in ids if (task := await tasks.latest(tx, id))]
        results = list(zip(nodes, [result(name, ("booting", "ready")) for name in names], strict=True))
        await tasks.tell_all(tx, [(nodes[0], results[0][1].phases[0])])  # came before, and again with the result
        ended = await tasks.end_all(tx, [*results, *results])
        again = await tasks.end_all(tx, results)
        foreign = await tasks.end_all(tx, [("node_nowhere", results[0][1])])
    assert ({task.allocation_id for task in ended}, again, foreign) == (set(ids), [], [])
    for id in ids:
        assert [entry.phase for entry in await world.timeline(id)][-2:] == ["booting", "ready"]
        assert [entry.phase for entry in await world.timeline(id)].count("booting") == 1
