"""runc, conmon and the launcher die before, after and in the midst of each invocation: the next try converges."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import processes
from gpuaas.wire.environments import Environment, EnvironmentState, ProofItem
from gpuaas.wire.storage import AccessMode, Backend, VolumeRef, WantedMount
from tests.engines.benches import Key, SshWay, eventually, ignore, keys, spec
from tests.engines.doomed import DoomedBench, Invocation, doomed
from tests.footprints import Footprint

TRIES = 3
SAMPLE = {("launcher", "-"), ("runc", "start")}  # at one moment each
REPORT = Path(__file__).parents[2] / ".cache" / "crashes"


@pytest.fixture(scope="module")
async def on(port_ranges: Iterator[range]) -> AsyncIterator[DoomedBench]:
    async with doomed(ports=next(port_ranges)) as made:
        yield made


class Life:
    """One environment, from its making to its removal."""

    def __init__(self, on: DoomedBench) -> None:
        self._on, self._ada = on, Key()

    async def create(self) -> None:
        await self._ensure(boot=1, slots=1)

    async def restart(self) -> None:
        await self._ensure(boot=2, slots=1)

    async def resize(self) -> None:
        await self._ensure(boot=2, slots=2)

    async def release(self) -> None:
        items: list[ProofItem] = await self._on.bench.engine.remove("a", ignore)
        if left := [item for item in items if not item.ok]:
            raise EngineError("something is left", str(left))

    async def _ensure(self, *, boot: int, slots: int) -> Environment:
        made = await self._on.bench.engine.ensure(spec("a", keys(1, self._ada), boot=boot, slots=slots), ignore)
        assert made.state is EnvironmentState.RUNNING
        return made

    async def expect_open(self, boot: int) -> None:
        (seen,) = await self._on.bench.engine.observe()
        assert (seen.state, seen.boot) == (EnvironmentState.RUNNING, boot), seen
        way = await self._on.bench.log_in(seen, self._ada)
        assert isinstance(way, SshWay)
        assert (await way.connection.run("hostname", check=True)).stdout == "a-host\n"
        way.connection.close()
        await way.ended()


@dataclass(frozen=True)
class Verb:
    name: str
    act: Callable[[Life], Awaitable[None]]
    is_prepared: bool
    boot: int
    """Afterwards; 0 when it is gone."""


VERBS = {
    verb.name: verb
    for verb in (
        Verb("create", Life.create, is_prepared=False, boot=1),
        Verb("restart", Life.restart, is_prepared=True, boot=2),
        Verb("resize", Life.resize, is_prepared=True, boot=2),
        Verb("release", Life.release, is_prepared=True, boot=0),
    )
}


async def invocations(on: DoomedBench, verb: Verb) -> list[Invocation]:
    life = Life(on)
    if verb.is_prepared:
        await life.create()
    on.doom.clear()
    await verb.act(life)
    heard: list[Invocation] = []

    async def all_ended() -> bool:
        heard[:] = on.doom.heard()
        return all(one.extent > 0 for one in heard)

    await eventually(all_ended)
    if verb.boot:
        await life.release()
    return heard


async def perform(on: DoomedBench, verb: Verb, invocation: Invocation, moment: str) -> str:
    """What the first try said; whatever it was, doing it again brings it to its end and nothing is left."""
    before, life, said = await untouched(on), Life(on), list[str]()
    if verb.is_prepared:
        await life.create()
    on.doom.order(invocation, moment)
    for _ in range(TRIES):
        try:
            await verb.act(life)
            break
        except EngineError as error:
            said.append(str(error))
    else:
        raise AssertionError(f"{TRIES} tries failed: {said}")
    if verb.boot:
        await life.expect_open(verb.boot)
        await life.release()
    await expect_nothing_left(on, before)
    return "; ".join(said)


async def untouched(on: DoomedBench) -> Footprint:
    assert await on.bench.engine.observe() == []
    return await asyncio.to_thread(on.ground.look)


async def expect_nothing_left(on: DoomedBench, before: Footprint) -> None:
    found: list[str] = []

    async def is_clean() -> bool:
        found[:] = before.differences(await asyncio.to_thread(on.ground.look))
        return not found

    try:
        await eventually(is_clean)
    except TimeoutError:
        raise AssertionError(found) from None


def report(name: str, lines: list[str]) -> None:
    REPORT.mkdir(parents=True, exist_ok=True)
    (REPORT / f"runtime-{name}.txt").write_text("\n".join(lines) + "\n")


EXTENT = pytest.mark.parametrize(
    ("name", "is_whole"),
    [
        *[pytest.param(name, True, marks=pytest.mark.soak, id=f"{name}-whole") for name in VERBS],
        pytest.param("restart", False, id="restart-sample"),
    ],
)


@EXTENT
async def test_a_runtime_killed_at_any_moment_leaves_nothing_once_it_is_done_again(
    on: DoomedBench, name: str, *, is_whole: bool
) -> None:
    verb = VERBS[name]
    heard = await invocations(on, verb)
    assert {one.program for one in heard} == ({"runc"} if name == "release" else {"runc", "conmon", "launcher"})
    deaths = [(one, moment) for one in heard for moment in one.moments(name)]
    if not is_whole:
        chooser = random.Random(name)  # the same in every run
        sampled = [one for one in heard if (one.program, one.verb) in SAMPLE]
        deaths = [(one, chooser.choice(one.moments(name))) for one in sampled]
    lines = []
    for invocation, moment in deaths:
        place = f"{name} {invocation.number} {invocation.program} {invocation.verb} {moment}"
        try:
            said = await perform(on, verb, invocation, moment)
        except AssertionError as error:
            lines.append(f"{place}: BAD {error}")
            report(name, lines)
            raise AssertionError(f"{place}: {error}") from error
        lines.append(f"{place}: {'died' if on.doom.is_done else 'not reached'}; {said or 'done at once'}")
        report(name, lines)


async def kill_conmon(on: DoomedBench) -> None:
    above = processes.parent(on.bench.first_process("a"))
    assert processes.status(above)["Name"] == "conmon"
    os.kill(above, signal.SIGKILL)
    assert await processes.gone(above)


async def test_an_environment_whose_conmon_was_killed_is_used_restarted_and_removed(on: DoomedBench) -> None:
    """It does nothing for a running environment but wait for its end: only the cause of an exit is lost."""
    before, life, engine = await untouched(on), Life(on), on.bench.engine
    await life.create()
    await kill_conmon(on)
    await life.expect_open(1)
    volume = VolumeRef(volume_id=f"vol_{os.getpid()}conmon", backend=Backend.SHARED, size_gib=1)
    await engine.volumes.ensure(volume, None, ignore)
    wanted = WantedMount(volume=volume, mount_path="/data", access_mode=AccessMode.READ_WRITE)
    await engine.mounts.attach("a", wanted, ignore)
    await engine.mounts.detach("a", volume, "/data", force=False, on_phase=ignore)
    await engine.volumes.delete(volume, ignore)
    assert (await on.bench.converse("a", 1, "exit 3\n"))[1] == 3
    await life.restart()
    await life.expect_open(2)
    await kill_conmon(on)
    await life.release()
    await expect_nothing_left(on, before)
