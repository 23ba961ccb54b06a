"""Runtime bundles on a real machine: what a crash leaves, what a changed file does, what a check may do."""

from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.runtimes import IN_USE
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys
from tests.engines.benches import spec as environment
from tests.engines.remote_runtimes import Ear
from tests.runtimes.wheels import descriptor, spec

DEATHS = pytest.mark.parametrize("deaths", [1, pytest.param(8, marks=pytest.mark.soak)], ids=["sample", "more"])
"""Of every step that an agent takes, the crash harness has the whole list."""

HARMS = ("changed", "gone", "come", "another mode", "another list", "no record")


def left(bench: OciBench) -> list[str]:
    return sorted(path.name for path in (bench.root / "staging").iterdir())


@DEATHS
async def test_wherever_the_agent_dies_nothing_half_made_is_left_and_the_next_attempt_succeeds(
    real: OciBench, deaths: int
) -> None:
    await real.remote.arm(0)
    await real.engine.runtimes.stage(spec(real.wheels, "5.0"), Ear())
    steps = await real.remote.arm(0)
    assert steps > deaths
    for number in range(deaths):
        bundle = spec(real.wheels, f"5.{number + 1}")
        await real.remote.arm(1 + (number + 1) * (steps - 1) // (deaths + 1))
        with pytest.raises(ConnectionResetError):
            await real.engine.runtimes.stage(bundle, Ear())
        await real.died()
        await real.begin()
        assert left(real) == []
        assert (await real.engine.runtimes.stage(bundle, Ear())).health == f"tiny_data {bundle.version}"
        assert left(real) == []


@pytest.mark.soak  # one of them is in test_oci_staging
@pytest.mark.parametrize("harm", HARMS)
async def test_any_harm_to_a_staged_bundle_is_found_and_undone(real: OciBench, harm: str) -> None:
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


async def test_what_is_staged_names_no_place_of_the_node_and_changes_none(real: OciBench) -> None:
    def outside() -> list[str]:
        return [str(path) for folder in ("/opt", "/usr/local/bin", "/etc") for path in sorted(Path(folder).iterdir())]

    before, made = outside(), str(real.root).encode()
    await real.engine.runtimes.stage(spec(real.wheels, "6.2"), Ear())
    assert outside() == before
    files = [path for path in (real.root / "runtimes" / "python-data" / "6.2").rglob("*") if path.is_file()]
    assert [path for path in files if made in path.read_bytes()] == []
    assert files


async def test_a_process_that_was_started_from_a_bundle_keeps_it_on_the_node(
    real: OciBench, allocation_id: str
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


@pytest.mark.soak
@pytest.mark.parametrize("deaths", [8])
async def test_wherever_the_agent_dies_in_a_removal_the_bundle_is_whole_or_gone(real: OciBench, deaths: int) -> None:
    await real.engine.runtimes.stage(spec(real.wheels, "7.0"), Ear())
    await real.remote.arm(0)
    await real.engine.runtimes.unstage("python-data", "7.0", Ear())
    steps = await real.remote.arm(0)
    for number in range(deaths):
        bundle = spec(real.wheels, f"7.{number + 1}")
        whole = await real.engine.runtimes.stage(bundle, Ear())
        await real.remote.arm(1 + (number + 1) * (steps - 1) // (deaths + 1))
        with pytest.raises(ConnectionResetError):
            await real.engine.runtimes.unstage(bundle.slug, bundle.version, Ear())
        await real.died()
        await real.begin()
        assert left(real) == []
        found = [one for one in await real.engine.runtimes.staged() if one.version == bundle.version]
        if found:
            again = await real.engine.runtimes.stage(bundle, Ear(), manifest=whole.manifest)
            assert (found, again.drift) == ([whole], [])
        assert all(proof.ok for proof in await real.engine.runtimes.unstage(bundle.slug, bundle.version, Ear()))
