"""The agent is killed at every step it takes; whatever it leaves converges, and nothing stays behind."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import Environment, EnvironmentState
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys, oci, spec
from tests.patience import PATIENCE_SECONDS

SAMPLE = 2
WHOLE = 120  # all steps of making one; a removal looks at each process of the node, which is no step of its own


@pytest.fixture(scope="module")
async def mortal(port_ranges: Iterator[range]) -> AsyncIterator[OciBench]:
    """Apart from the engine that other modules use: here its environments are counted."""
    async with oci(ports=next(port_ranges)) as bench:
        yield bench


@pytest.fixture
async def bench(mortal: OciBench) -> AsyncIterator[OciBench]:
    """Without environments, before and after."""
    yield mortal
    assert mortal.process is not None
    if mortal.process.returncode is not None:  # a test that failed may leave it dead
        await mortal.begin()
    for environment in await mortal.engine.observe():
        await mortal.engine.remove(environment.allocation_id, ignore)


async def test_work_goes_on_while_the_agent_is_dead(bench: OciBench) -> None:
    ada = Key()
    before = await bench.engine.ensure(spec("a", keys(1, ada)), ignore)
    way = await bench.log_in(before, ada)
    assert isinstance(way, SshWay)
    start = "nohup sh -c 'while :; do echo >> beats; sleep 0.05; done' > /dev/null 2>&1 &"
    await way.connection.run(start, check=True)
    await bench.crash()
    assert await bench.engine.observe() == [before]
    again = await bench.log_in(before, ada)
    assert isinstance(again, SshWay)
    grows = "seen=$(wc -l < beats); while [ $(wc -l < beats) = $seen ]; do sleep 0.05; done"
    await again.connection.run(grows, check=True, timeout=PATIENCE_SECONDS)
    again.connection.close()
    await again.ended()


EXTENT = pytest.mark.parametrize(
    "sample", [SAMPLE, pytest.param(WHOLE, marks=pytest.mark.soak)], ids=["sample", "whole"]
)


async def steps_of(bench: OciBench, verb: Callable[[], Awaitable[object]], sample: int) -> list[int]:
    """Every step of a verb, counted by doing it once, or a sample spread over them."""
    await bench.remote.arm(0)
    await verb()
    count = await bench.remote.arm(0)
    return list(range(1, count + 1, max(1, count // sample)))


async def interrupted(bench: OciBench, step: int, verb: Callable[[], Awaitable[object]]) -> None:
    """Killed at a step and started again; a step of what is done while nobody waits may not come at all."""
    await bench.remote.arm(step)
    try:
        await verb()
        await bench.remote.arm(0)
    except ConnectionResetError:
        await bench.died()
        await bench.begin()


@EXTENT
async def test_killed_at_any_step_of_making_it_can_be_completed(bench: OciBench, sample: int) -> None:
    async def make() -> Environment:
        return await bench.engine.ensure(spec("a", keys(1, ada)), ignore)

    ada = Key()
    steps = await steps_of(bench, make, sample)
    assert len(steps) >= SAMPLE
    await bench.engine.remove("a", ignore)
    for step in steps:
        await interrupted(bench, step, make)
        made = await make()
        assert made.state is EnvironmentState.RUNNING
        assert await hostname(bench, made, ada) == "a-host\n"
        assert all(item.ok for item in await bench.engine.remove("a", ignore)), step


@EXTENT
async def test_killed_at_any_step_of_removing_it_can_only_be_removed(bench: OciBench, sample: int) -> None:
    wanted = spec("a", keys(1, Key()))
    await bench.engine.ensure(wanted, ignore)
    steps = await steps_of(bench, lambda: bench.engine.remove("a", ignore), sample)
    assert len(steps) >= SAMPLE
    for step in steps:
        await bench.engine.ensure(wanted, ignore)
        await interrupted(bench, step, lambda: bench.engine.remove("a", ignore))
        for environment in await bench.engine.observe():
            if environment.detail == "half removed":
                with pytest.raises(EngineError, match="being removed"):
                    await bench.engine.ensure(wanted, ignore)
        items = await bench.engine.remove("a", ignore)
        assert all(item.ok for item in items), (step, items)
        assert await bench.engine.observe() == []


async def hostname(bench: OciBench, environment: Environment, key: Key) -> object:
    way = await bench.log_in(environment, key)
    assert isinstance(way, SshWay)
    result = await way.connection.run("hostname", check=True)
    way.connection.close()
    await way.ended()
    return result.stdout


async def test_stopped_environments_keep_their_disk_and_face(bench: OciBench) -> None:
    ada = Key()
    before = await bench.engine.ensure(spec("a", keys(1, ada)), ignore)
    way = await bench.log_in(before, ada)
    assert isinstance(way, SshWay)
    await way.connection.run("echo kept > file", check=True)
    await bench.engine.close(stop_environments=True)
    await way.ended()
    await bench.crash()
    (stopped,) = await bench.engine.observe()
    assert (stopped.state, stopped.port) == (EnvironmentState.STOPPED, before.port)
    after = await bench.engine.ensure(spec("a", keys(1, ada), boot=2), ignore)
    assert (after.port, after.host_key, after.boot) == (before.port, before.host_key, 2)
    again = await bench.log_in(after, ada)
    assert isinstance(again, SshWay)
    assert (await again.connection.run("cat file", check=True)).stdout == "kept\n"
    again.connection.close()
    await again.ended()


async def test_two_agents_cannot_share_a_folder(bench: OciBench) -> None:
    second = OciBench(bench.root.parent, ports=bench.ports)
    with pytest.raises(EngineError, match="another agent"):
        await second.begin()
    await second.kill()


async def steal(port: int) -> asyncio.Server:
    """As soon as it is free: what the agent was about to start holds it for a moment longer."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(OSError):
                return await asyncio.start_server(lambda *_: None, "127.0.0.1", port)
            await asyncio.sleep(0.02)


async def test_a_port_that_another_program_took_is_told_and_retried(bench: OciBench) -> None:
    ada = Key()
    before = await bench.engine.ensure(spec("a", keys(1, ada)), ignore)
    await bench.engine.close(stop_environments=True)  # the SSH gateway holds the port for as long as it runs
    await bench.kill()
    assert before.port
    thief = await steal(before.port)
    await bench.begin()
    with pytest.raises(EngineError, match="cannot be reached") as raised:
        await bench.engine.ensure(spec("a", keys(1, ada), boot=2), ignore)
    assert str(before.port) in raised.value.detail
    (seen,) = await bench.engine.observe()
    assert seen.state is EnvironmentState.STOPPED  # nothing runs that nobody pays for
    thief.close()
    await thief.wait_closed()
    assert (await bench.engine.ensure(spec("a", keys(1, ada), boot=2), ignore)).port == before.port
    assert await bench.log_in(before, ada) is not None
    other = await bench.engine.ensure(spec("b", keys(1, ada)), ignore)
    assert other.port != before.port


async def test_ports_come_back_least_recently_used_first(bench: OciBench) -> None:
    ports = []
    for n in range(3):
        made = await bench.engine.ensure(spec(f"a{n}", keys(1, Key())), ignore)
        ports.append(made.port)
        await bench.engine.remove(f"a{n}", ignore)
    assert len(set(ports)) == 3
