"""Runtime bundles on a real machine: what a crash leaves, what a changed file does, what a check may do."""

from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.runtimes import IN_USE
from tests.engines.benches import Key, SandboxBench, SshWay, ignore, keys
from tests.engines.benches import spec as environment
from tests.engines.remote_runtimes import Ear
from tests.runtimes.wheels import descriptor, spec

# Of every step that an agent takes, the crash harness has the whole list.
DEATHS = pytest.mark.parametrize("deaths", [1, pytest.param(4, marks=pytest.mark.soak)])
PRYING = """
import os, socket
found = [f'uid {os.getuid()}']
for path in ('/opt/gpuaas/runtimes/x', '/opt/x', '/etc/x', '/usr/x'):
    try:
        open(path, 'w')
        found.append('wrote ' + path)
    except OSError:
        pass
try:
    socket.create_connection(('127.0.0.1', 22), 1)
    found.append('reached the machine')
except ConnectionRefusedError:
    found.append('has a network')
except OSError:
    pass
print(', '.join(found))
"""


def spread(number: int, deaths: int, steps: int) -> int:
    """The step of this death: the middle of its share of all steps."""
    return 1 + (2 * number + 1) * (steps - 1) // (2 * deaths)


def left(bench: SandboxBench) -> list[str]:
    return sorted(path.name for path in (bench.root / "staging").iterdir())


@DEATHS
async def test_wherever_the_agent_dies_nothing_half_made_is_left_and_the_next_attempt_succeeds(
    root_bench: SandboxBench, deaths: int
) -> None:
    await root_bench.remote.arm(0)
    await root_bench.engine.runtimes.stage(spec(root_bench.wheels, f"5.{deaths}0"), Ear())
    steps = await root_bench.remote.arm(0)
    assert steps > deaths
    for number in range(deaths):
        bundle = spec(root_bench.wheels, f"5.{deaths}{number + 1}")
        await root_bench.remote.arm(spread(number, deaths, steps))
        with pytest.raises(ConnectionResetError):
            await root_bench.engine.runtimes.stage(bundle, Ear())
        await root_bench.died()
        await root_bench.begin()
        assert left(root_bench) == []
        assert (await root_bench.engine.runtimes.stage(bundle, Ear())).health == f"tiny_data {bundle.version}"
        assert left(root_bench) == []


@pytest.mark.parametrize(
    "harm",
    [
        *("changed", "another list"),
        *(pytest.param(harm, marks=pytest.mark.soak) for harm in ("gone", "come", "another mode", "no record")),
    ],
)
async def test_any_harm_to_a_staged_bundle_is_found_and_undone(real: SandboxBench, harm: str) -> None:
    bundle = spec(real.wheels, "6.0")
    staged = await real.engine.runtimes.stage(bundle, Ear())
    root = real.root / "runtimes" / "python-data" / "6.0"
    do_harm(root, harm)
    repaired = await real.engine.runtimes.stage(bundle, Ear(), manifest=staged.manifest)
    assert len(repaired.drift) == 1, repaired.drift
    assert (await real.engine.runtimes.stage(bundle, Ear(), manifest=repaired.manifest)).drift == []
    assert left(real) == []


def do_harm(root: Path, harm: str) -> None:
    [module] = root.glob("lib/*/site-packages/tiny_data/__init__.py")
    match harm:
        case "changed":
            module.write_text(module.read_text() + "# mine\n")
        case "gone":
            module.unlink()
        case "come":
            module.with_name("extra.py").touch()
        case "another mode":
            module.chmod(0o755)
        case "another list":
            (root / "manifest.json").write_text("{}")
        case _:
            (root / "bundle.json").unlink()


async def test_a_bundle_is_the_same_to_the_byte_when_it_is_made_again(real: SandboxBench) -> None:
    bundle = spec(real.wheels, "6.1")
    first = await real.engine.runtimes.stage(bundle, Ear())
    (real.root / "runtimes" / "python-data" / "6.1" / "activate.sh").unlink()
    second = await real.engine.runtimes.stage(bundle, Ear())
    assert (second.drift, second.manifest) == (["activate.sh"], first.manifest)


async def test_no_file_of_a_bundle_names_the_place_where_it_was_made(real: SandboxBench) -> None:
    await real.engine.runtimes.stage(spec(real.wheels, "6.2"), Ear())
    made = str(real.root).encode()
    files = [path for path in (real.root / "runtimes" / "python-data" / "6.2").rglob("*") if path.is_file()]
    assert [path for path in files if made in path.read_bytes()] == []
    assert files


async def test_a_check_runs_as_nobody_without_a_network_and_can_write_nothing(real: SandboxBench) -> None:
    staged = await real.engine.runtimes.stage(spec(real.wheels, "6.3", check=["python", "-c", PRYING]), Ear())
    assert staged.health == "uid 1000"


async def test_a_package_with_another_checksum_is_not_installed(real: SandboxBench) -> None:
    bundle = spec(real.wheels, "6.4")
    [wheel] = real.wheels.glob("tiny_data-6.4-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"more")
    with pytest.raises(EngineError) as refusal:
        await real.engine.runtimes.stage(bundle, Ear())
    assert refusal.value.reason.startswith("the bundle could not be made (download)")
    assert left(real) == []


async def test_a_process_that_was_started_from_a_bundle_keeps_it_on_the_node(
    real: SandboxBench, allocation_id: str
) -> None:
    old, new = spec(real.wheels, "6.6"), spec(real.wheels, "6.7")
    for bundle in (old, new):
        await real.engine.runtimes.stage(bundle, Ear())
    ada = Key()
    made = await real.engine.ensure(environment(allocation_id, keys(1, ada)), ignore)
    await real.engine.runtimes.write_descriptor(allocation_id, descriptor(old))
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    running = await way.connection.create_process("gpuaas-runtime run python-data -- python -i")
    running.stdin.write("print('up')\n")
    assert await running.stdout.readline() == "up\n"
    await real.engine.runtimes.write_descriptor(allocation_id, descriptor(new))
    with pytest.raises(EngineError) as refusal:
        await real.engine.runtimes.unstage(old.slug, old.version, Ear())
    assert (refusal.value.reason, "process" in refusal.value.detail) == (IN_USE, True)
    running.stdin.write("import tiny_data; print(tiny_data.__name__)\n")
    assert await running.stdout.readline() == "tiny_data\n"
    running.stdin.write_eof()
    await running.wait_closed()
    assert all(proof.ok for proof in await real.engine.runtimes.unstage(old.slug, old.version, Ear()))
    assert not (real.root / "runtimes" / "python-data" / "6.6").exists()
    await real.engine.remove(allocation_id, ignore)


@DEATHS
async def test_wherever_the_agent_dies_in_a_removal_the_bundle_is_whole_or_gone(
    root_bench: SandboxBench, deaths: int
) -> None:
    await root_bench.engine.runtimes.stage(spec(root_bench.wheels, f"7.{deaths}0"), Ear())
    await root_bench.remote.arm(0)
    await root_bench.engine.runtimes.unstage("python-data", f"7.{deaths}0", Ear())
    steps = await root_bench.remote.arm(0)
    for number in range(deaths):
        bundle = spec(root_bench.wheels, f"7.{deaths}{number + 1}")
        whole = await root_bench.engine.runtimes.stage(bundle, Ear())
        await root_bench.remote.arm(spread(number, deaths, steps))
        with pytest.raises(ConnectionResetError):
            await root_bench.engine.runtimes.unstage(bundle.slug, bundle.version, Ear())
        await root_bench.died()
        await root_bench.begin()
        assert left(root_bench) == []
        found = [one for one in await root_bench.engine.runtimes.staged() if one.version == bundle.version]
        if found:
            again = await root_bench.engine.runtimes.stage(bundle, Ear(), manifest=whole.manifest)
            assert (found, again.drift) == ([whole], [])
        assert all(proof.ok for proof in await root_bench.engine.runtimes.unstage(bundle.slug, bundle.version, Ear()))


async def test_nothing_of_the_machine_outside_the_engines_folder_is_changed(root_bench: SandboxBench) -> None:
    def outside() -> list[str]:
        return [str(path) for folder in ("/opt", "/usr/local/bin", "/etc") for path in sorted(Path(folder).iterdir())]

    before = outside()
    await root_bench.engine.runtimes.stage(spec(root_bench.wheels, "6.5"), Ear())
    assert outside() == before
