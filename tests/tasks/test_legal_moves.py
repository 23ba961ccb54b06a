"""Statements move node tasks and operations only as their tables of legal moves permit."""

import pytest

from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.states import ENDED, NODE_TASK, NodeTaskStatus
from gpuaas.domain.tasks.store import NewNodeTask
from gpuaas.domain.timeline import store as timeline
from gpuaas.domain.timeline.states import MACHINE
from gpuaas.wire.link import Result, TaskStatus
from gpuaas.wire.tasks import RemoveEnvironment, TaskKind
from gpuaas.wire.timeline import OperationStatus
from tests import peek
from tests.fleet import LINK_ALL
from tests.world import World

LANE = "volumes:vol_planted"
PLANT = """
    insert into node_tasks (id, node_id, lane, seq, boot, kind, wants, status, created_at, ended_at)
    select 'task_' || status, $1, $2, place, 0, 'volume.measure', '{}', status, now(),
        case when status not in ('queued', 'sent') then now() end
    from unnest($3::text[]) with ordinality as planted (status, place)
"""
STATUSES = "select id, status from node_tasks where lane = $1 and id like 'task\\_%'"
OPERATION = """
    insert into operations (id, tenant_id, project_id, kind, subject_kind, subject_id, status, requested_by, started_at,
        last_progress_at, correlation_id)
    values ($1, $2, $3, 'create', 'allocation', 'a', $4, $5, now(), now(), '')
"""


def test_every_status_has_its_moves_written_down() -> None:
    assert set(NODE_TASK.moves) == set(NodeTaskStatus)
    assert set(MACHINE.moves) == set(OperationStatus)
    assert {status.value for status in TaskStatus} == {status.value for status in ENDED}


def test_a_guard_lists_where_a_move_is_legal_from() -> None:
    assert NODE_TASK.sources(NodeTaskStatus.SENT) == "('queued', 'sent')"
    assert MACHINE.sources(OperationStatus.SUCCEEDED, OperationStatus.FAILED) == "('running')"


async def end(world: World, node_id: str, status: TaskStatus) -> None:
    results = [
        (node_id, Result(task_id=f"task_{here}", status=status, at=world.clock.now())) for here in NodeTaskStatus
    ]
    async with world.db.write() as tx:
        await tasks.end_all(tx, results)


async def take_queued(world: World, node_id: str) -> None:
    async with world.db.write() as tx:
        await tasks.take_queued(tx, [node_id], "fleet", of_each=100, in_all=100)


async def take_unfinished(world: World, node_id: str) -> None:
    async with world.db.write() as tx:
        await tasks.take_unfinished(tx, [node_id])


async def replace(world: World, node_id: str) -> None:
    newer = NewNodeTask(
        id="newer", node_id=node_id, operation_id=None, kind=TaskKind.REMOVE, wants=RemoveEnvironment(), lane=LANE
    )
    async with world.db.write() as tx:
        await tasks.queue_on_node(tx, newer, now=world.clock.now())


async def renumber(world: World, node_id: str) -> None:
    """The node says of each that it has taken a higher number."""
    at = world.clock.now()
    for here in NodeTaskStatus:
        used_up = Result(task_id=f"task_{here}", status=TaskStatus.SUPERSEDED, at=at, highest_seq=100)
        async with world.db.write() as tx:
            await tasks.end_all(tx, [(node_id, used_up)])


async def ended_by_hand(world: World, node_id: str) -> None:
    """The effect of a statement without a guard."""
    await peek.plant(
        world.db, "update node_tasks set status = 'queued' where node_id = $1 and lane = $2", node_id, LANE
    )


async def moves_by(world: World, act: str, status: TaskStatus) -> set[tuple[NodeTaskStatus, NodeTaskStatus]]:
    """The fate of a task in each status."""
    node = await world.nodes.add()
    await peek.plant(world.db, LINK_ALL, [node.id])
    await peek.plant(world.db, PLANT, node.id, LANE, [status.value for status in NodeTaskStatus])
    if act == "end":
        await end(world, node.id, status)
    else:
        await ACTS[act](world, node.id)
    rows = {row["id"]: row["status"] for row in await peek.rows(world.db, STATUSES, LANE)}
    after = {here: NodeTaskStatus(rows[f"task_{here}"]) for here in NodeTaskStatus}
    return {(here, there) for here, there in after.items() if here is not there}


ACTS = {
    "take queued": take_queued,
    "take unfinished": take_unfinished,
    "replace": replace,
    "renumber": renumber,
    "by hand": ended_by_hand,
}


def illegal(moves: set[tuple[NodeTaskStatus, NodeTaskStatus]]) -> set[tuple[NodeTaskStatus, NodeTaskStatus]]:
    return {(here, there) for here, there in moves if there not in NODE_TASK.moves[here]}


@pytest.mark.parametrize("status", TaskStatus)
async def test_an_answer_ends_open_tasks_alone(world: World, status: TaskStatus) -> None:
    moves = await moves_by(world, "end", status)
    assert {here for here, _ in moves} == {NodeTaskStatus.QUEUED, NodeTaskStatus.SENT}
    assert illegal(moves) == set()


@pytest.mark.parametrize("act", ["take queued", "take unfinished", "replace", "renumber"])
async def test_no_statement_moves_a_task_that_has_ended(world: World, act: str) -> None:
    moves = await moves_by(world, act, TaskStatus.DONE)
    assert moves
    assert illegal(moves) == set()


async def test_a_statement_without_a_guard_would_be_found(world: World) -> None:
    assert illegal(await moves_by(world, "by hand", TaskStatus.DONE)) == {
        (status, NodeTaskStatus.QUEUED) for status in ENDED
    }


async def test_an_operation_ends_once(world: World) -> None:
    ada = world.ada
    for status in OperationStatus:
        await peek.plant(world.db, OPERATION, f"op_{status}", ada.tenant_id, ada.project_id, status.value, ada.id)
    for status in OperationStatus:
        async with world.db.write() as tx:
            now = world.clock.now()
            await timeline.end_operation(tx, f"op_{status}", OperationStatus.FAILED, reason="late", now=now)
    ended = await peek.rows(world.db, "select id, status, reason from operations where id like 'op\\_%' order by id")
    assert [(row["status"], row["reason"]) for row in ended] == [("failed", ""), ("failed", "late"), ("succeeded", "")]
