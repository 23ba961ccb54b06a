"""What a node said while it worked: by operation, by allocation, page by page and live."""

import asyncio
from pathlib import Path

import msgspec

from gpuaas.core.clock import SystemClock
from gpuaas.domain.tasks import store as tasks
from gpuaas.engines.fake import FakeEngine
from gpuaas.sdk import AsyncClient
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import LogLines
from gpuaas.wire.timeline import LogLine, Operation, OperationStatus
from tests.live import agent, eventually, serving
from tests.patience import PATIENCE_SECONDS
from tests.world import World


async def say(world: World, id: str, *lines: str, first_seq: int = 0) -> str:
    """As its node, about its newest task; whose operation that is."""
    async with world.db.write() as tx:
        task = await tasks.latest(tx, id)
        assert task is not None
        told = LogLines(task_id=task.id, first_seq=first_seq, lines=list(lines), at=world.clock.now())
        await tasks.add_logs(tx, [(task.node_id, told)])
        return task.operation_id or ""


async def test_lines_are_read_by_operation_and_by_allocation(world: World) -> None:
    a = await world.allocation(Status.PROVISIONING)
    operation_id = await say(world, a, "one", "two", "three")
    for path in (f"operations/{operation_id}", f"allocations/{a}"):
        first = (await world.http.get(f"/api/v1/{path}/logs?limit=2")).raise_for_status().json()
        assert [line["line"] for line in first["items"]] == ["three", "two"]
        rest = (await world.http.get(f"/api/v1/{path}/logs?cursor={first['next_cursor']}")).raise_for_status().json()
        assert [line["line"] for line in rest["items"]] == ["one"]
        assert {line["operation_id"] for line in first["items"]} == {operation_id}


async def test_a_phase_shows_its_attempt_and_the_last_the_node_said_in_it(world: World) -> None:
    a = await world.allocation()
    operation_id = await say(world, a, *(f"line {number}" for number in range(9)))
    shown = (await world.http.get(f"/api/v1/operations/{operation_id}")).raise_for_status()
    operation = msgspec.json.decode(shown.content, type=Operation)
    assert {phase.attempt for phase in operation.phases} == {1}
    assert [line.line for line in operation.phases[-1].logs] == [f"line {number}" for number in range(4, 9)]
    assert operation.last_progress_at >= operation.phases[-2].started_at


async def test_a_line_told_twice_stands_there_once(world: World) -> None:
    a = await world.allocation(Status.PROVISIONING)
    await say(world, a, "one", "two")
    await say(world, a, "two", "three", first_seq=1)
    lines = (await world.http.get(f"/api/v1/allocations/{a}/logs")).json()["items"]
    assert sorted(line["line"] for line in lines) == ["one", "three", "two"]


async def test_a_tail_shows_every_line_and_ends_with_its_operation(migrated: str, tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine), AsyncClient(url, world.ada.token) as client:
            submitted = (await world.submit()).raise_for_status().json()
            operation_id, id = submitted["operation_id"], submitted["allocations"][0]["id"]

            async def follow() -> list[LogLine]:
                return [line async for line in client.operations.follow_logs(operation_id)]

            async with asyncio.timeout(PATIENCE_SECONDS):
                lines = await follow()
            assert (await client.operations.get(operation_id)).status is OperationStatus.SUCCEEDED
            assert lines[0].line.endswith("begun")
            assert any("booting" in line.line for line in lines)
            assert [line.seq for line in lines] == sorted({line.seq for line in lines})

            async def has_all() -> bool:
                kept = [line.line async for line in client.allocations.logs(id)]
                return kept[::-1] == [line.line for line in lines] or len(kept) > len(lines)

            await eventually(has_all)
