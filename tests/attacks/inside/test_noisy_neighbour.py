"""One allocation takes all it can get: another one's shell answers, and nothing of it restarts (T26)."""

import asyncio

import msgspec
import pytest

from tests.attacks.inside import noise
from tests.engines.benches import Key, OciBench, ignore, keys, spec
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS

SAMPLE_SECONDS, WHOLE_SECONDS = 0.7, 120
Pair = tuple[OpenSsh, OpenSsh]


@pytest.fixture(scope="module")
async def pair(bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The noisy one, with a small disk to fill, and the one beside it."""
    ada, folder = Key(), tmp_path_factory.mktemp("noise")
    found = []
    for name in ("noisy", "beside"):
        wanted = msgspec.structs.replace(spec(name, keys(1, ada)), disk_gib=1)
        found.append(OpenSsh(folder, await bench.engine.ensure(wanted, ignore), ada))
    return found[0], found[1]


async def answers(shell: asyncio.subprocess.Process, number: int) -> None:
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"echo answer $(({number} + 1))\n".encode())
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await shell.stdout.readline() == f"answer {number + 1}\n".encode()


async def disturbances(bench: OciBench, pair: Pair, kinds: tuple[str, ...], seconds: float) -> list[str]:
    """What the neighbour lost while each kind of noise was made."""
    noisy, beside = pair
    found: list[str] = []
    number, before = 0, await state_of(bench, "beside")
    shell = await beside.spawn("ssh", *beside.options(), beside.target, "bash -s")
    try:
        for kind in kinds:
            work = asyncio.create_task(noise.make_noise(noisy, kind, seconds))
            while not work.done():
                number += 1
                await answers(shell, number)
                await asyncio.sleep(0.05)
            await work
            if await beside.says("echo login") != "login":
                found.append(f"{kind}: no login")
    except (AssertionError, OSError) as lost:
        found.append(f"connection lost: {lost!r}")
    finally:
        if shell.returncode is None:
            shell.kill()
        await shell.communicate()
    if (after := await state_of(bench, "beside")) != before:
        found.append(f"restarted: {before} is {after} now")
    return found


async def state_of(bench: OciBench, id: str) -> tuple[object, ...]:
    (seen,) = [one for one in await bench.engine.observe() if one.allocation_id == id]
    return seen.boot, seen.state, bench.first_process(id)


async def test_a_neighbour_is_not_disturbed_by_a_moment_of_each(bench: OciBench, pair: Pair) -> None:
    assert await disturbances(bench, pair, noise.KINDS, SAMPLE_SECONDS) == []
    assert await pair[0].says("echo noisy lives") == "noisy lives"


@pytest.mark.soak
@pytest.mark.parametrize("kind", noise.KINDS)
async def test_a_neighbour_is_not_disturbed_by_two_minutes_of(bench: OciBench, pair: Pair, kind: str) -> None:
    assert await disturbances(bench, pair, (kind,), WHOLE_SECONDS) == []
    assert await pair[0].says("echo noisy lives") == "noisy lives"


async def test_a_neighbour_that_restarts_or_loses_its_connections_is_seen(bench: OciBench, pair: Pair) -> None:
    """The red twin: the noise restarts the neighbour, as one allocation once could."""
    _, beside = pair
    looked = asyncio.create_task(disturbances(bench, pair, ("processors",), 3 * SAMPLE_SECONDS))
    while not await bench.engine.connections("beside"):
        await asyncio.sleep(0.02)
    wanted = msgspec.structs.replace(spec("beside", keys(1, beside.key), boot=2), disk_gib=1)
    await bench.engine.ensure(wanted, ignore)
    found = await looked
    assert [line.partition(":")[0] for line in found] == ["connection lost", "restarted"]
