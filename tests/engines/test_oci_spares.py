"""Spares of the oci engine: nothing of one is left in the environment that it becomes, and no death of the agent turns
one into an environment that nobody asked for."""

import json
import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
from msgspec.structs import replace

from gpuaas.engines.node.records import NAME
from gpuaas.wire.environments import Environment, EnvironmentSpec, EnvironmentState, ExitCause, Init
from gpuaas.wire.spares import form_of
from tests.engines.benches import Key, OciBench, SshWay, eventually, ignore, keys, oci, spec
from tests.engines.test_oci_crash import EXTENT, interrupted, steps_of


@pytest.fixture(scope="module")
async def bench(port_ranges: Iterator[range]) -> AsyncIterator[OciBench]:
    """Apart from the engine that other modules use: here its containers are counted."""
    async with oci(ports=next(port_ranges)) as found:
        yield found


async def prepare(bench: OciBench, *specs: EnvironmentSpec) -> None:
    await bench.engine.spares.want([form_of(one) for one in specs])
    while await bench.engine.spares.keep():
        pass


def containers(bench: OciBench) -> list[str]:
    return sorted(path.name for path in (bench.root / "runc").iterdir())


async def answer(bench: OciBench, environment: Environment, key: Key, command: str) -> str:
    way = await bench.log_in(environment, key)
    assert isinstance(way, SshWay)
    result = await way.connection.run(command, check=True)
    way.connection.close()
    await way.ended()
    return str(result.stdout)


@pytest.mark.parametrize("init", list(Init))
async def test_a_spare_becomes_an_ordinary_environment(bench: OciBench, init: Init) -> None:
    ada = Key()
    wanted = replace(spec("a", keys(1, ada)), init=init)
    await prepare(bench, wanted)
    (container,) = containers(bench)
    made = await bench.engine.ensure(wanted, ignore)
    assert containers(bench) == [container]
    seen = await answer(bench, made, ada, "hostname; id -un; sudo id -u; cat /etc/gpuaas/allocation_id; echo $HOME")
    assert seen.split() == ["a-host", "ada", "0", "a", "/home/ada"]
    assert await answer(bench, made, ada, "sudo grep -rl s[p]are- /etc /home /run /proc/1/environ || true") == ""
    assert made.isolation is not None
    assert {"cpu", "memory", "pids"} <= made.isolation.limits.keys()

    await answer(bench, made, ada, "echo kept > file && sync")
    again = await bench.engine.ensure(replace(wanted, boot=2), ignore)
    assert containers(bench) == ["a"]
    assert await answer(bench, again, ada, "cat file") == "kept\n"
    assert [item for item in await bench.engine.remove("a", ignore) if not item.ok] == []
    await prepare(bench)
    assert containers(bench) == []


async def test_why_an_environment_that_was_a_spare_stopped_is_known(bench: OciBench) -> None:
    wanted = spec("a", keys(1, Key()))
    await prepare(bench, wanted)
    await bench.engine.ensure(wanted, ignore)
    os.kill(bench.first_process("a"), signal.SIGKILL)

    async def is_stopped() -> bool:
        (seen,) = await bench.engine.observe()
        return (seen.state, seen.exit_cause) == (EnvironmentState.STOPPED, ExitCause.KILLED)

    await eventually(is_stopped)
    await bench.engine.remove("a", ignore)


@pytest.mark.parametrize("minor", [5, None])
async def test_a_spare_with_devices_of_an_older_spec_is_not_used(bench: OciBench, minor: int | None) -> None:
    """Its driver was loaded again since; without a rule, or with the number of another device."""
    wanted = spec("a", keys(1, Key()))
    await prepare(bench, wanted)
    (container,) = containers(bench)
    before = (await bench.engine.spares.report()).discarded
    path = bench.root / "spares" / container / "bundle" / "config.json"
    runtime = json.loads(path.read_bytes())
    rules = runtime["linux"]["resources"]["devices"]
    (rule,) = [each for each in rules if each["allow"]]
    rules.remove(rule)
    if minor is not None:
        rules.append({**rule, "minor": minor})
    path.write_text(json.dumps(runtime))
    made = await bench.engine.ensure(wanted, ignore)
    assert made.state is EnvironmentState.RUNNING
    assert "a" in containers(bench), "it was made on demand"
    report = await bench.engine.spares.report()
    assert (report.ready, report.discarded, report.detail) == ((), before + 1, "its devices have other numbers now")
    await bench.engine.remove("a", ignore)
    await prepare(bench)
    assert containers(bench) == []


async def test_a_defective_spare_is_discarded_counted_and_not_used(bench: OciBench) -> None:
    ada = Key()
    wanted = spec("a", keys(1, ada))
    await prepare(bench, wanted)
    before = await bench.engine.spares.report()
    (spare,) = before.ready
    (container,) = containers(bench)
    pid = int((bench.root / "spares" / spare.id / "pid").read_text())
    os.kill(pid, signal.SIGKILL)

    async def is_gone() -> bool:
        return not os.path.exists(f"/proc/{pid}")  # noqa: PTH110

    await eventually(is_gone)
    made = await bench.engine.ensure(wanted, ignore)
    assert await answer(bench, made, ada, "hostname") == "a-host\n"
    await prepare(bench, wanted)
    after = await bench.engine.spares.report()
    assert (after.used - before.used, after.discarded - before.discarded) == (0, 1)
    assert containers(bench) == ["a"]
    assert container not in containers(bench)
    await bench.engine.remove("a", ignore)


async def test_a_spare_that_cannot_be_removed_is_removed_later_and_stops_neither_others_nor_the_agent(
    bench: OciBench,
) -> None:
    first, second = (spec(id, keys(1, Key()), devices=(f"GPU-{id}",)) for id in "ab")
    await prepare(bench, first)
    (spare,) = (await bench.engine.spares.report()).ready
    obstacle = bench.root / "spares" / spare.id / NAME
    obstacle.mkdir()
    await prepare(bench, second)
    assert len((await bench.engine.spares.report()).ready) == 1
    assert obstacle.exists()
    await bench.crash()
    assert obstacle.exists()
    obstacle.rmdir()
    await prepare(bench)
    assert containers(bench) == []
    assert list((bench.root / "spares").iterdir()) == []


@EXTENT
async def test_killed_at_any_step_of_becoming_an_environment(bench: OciBench, sample: int) -> None:
    async def make() -> Environment:
        return await bench.engine.ensure(wanted, ignore)

    ada = Key()
    wanted = spec("a", keys(1, ada))
    await prepare(bench, wanted)
    steps = await steps_of(bench, make, sample)
    assert len(steps) >= sample / 2
    await bench.engine.remove("a", ignore)
    for step in steps:
        await prepare(bench, wanted)
        await interrupted(bench, step, make)
        assert (await bench.engine.spares.report()).ready == ()
        made = await make()
        assert (made.state, await answer(bench, made, ada, "hostname")) == (EnvironmentState.RUNNING, "a-host\n")
        assert len(containers(bench)) == 1, step
        assert [item for item in await bench.engine.remove("a", ignore) if not item.ok] == [], step
        assert containers(bench) == [], step
