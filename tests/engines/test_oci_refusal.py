"""A node that cannot make environments says what it lacks, and makes none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import EnvironmentState
from tests.engines.benches import Key, OciBench, ignore, keys, place, spec

WITHOUT = 'mount --bind /dev/null "$(command -v {program})" && exec "$@"'


@pytest.fixture
def bench(port_ranges: Iterator[range]) -> Iterator[OciBench]:
    with place(0) as folder:
        yield OciBench(folder, ports=next(port_ranges))


async def missing(bench: OciBench) -> tuple[str, ...]:
    """What the engine reports, which makes, removes and claims nothing."""
    await bench.begin()
    try:
        found = (await bench.engine.probe()).missing
        for verb in (bench.engine.ensure(spec("a", keys(1, Key())), ignore), bench.engine.remove("a", ignore)):
            with pytest.raises(EngineError) as refused:
                await verb
            told = (refused.value.reason, refused.value.detail)
            assert told == ("this node cannot make environments", f"missing: {', '.join(found)}")
        with pytest.raises(EngineError, match="cannot look"):
            await bench.engine.observe()  # there is no folder: nobody knows what was in it
    finally:
        await bench.kill()
    assert not bench.root.exists()
    return found


async def test_what_is_not_installed_is_named(bench: OciBench) -> None:
    """In a mount namespace of the agent's own."""
    bench.wrap = ("unshare", "--mount", "sh", "-c", WITHOUT.format(program="conmon"), "sh")
    assert await missing(bench) == ("the program conmon",)


@pytest.mark.parametrize("user", ["--map-user=1234", "--map-root-user"])
async def test_an_agent_without_root_is_told_so(bench: OciBench, user: str) -> None:
    """In a user namespace, where also the id of root is not root of the node."""
    bench.wrap = ("unshare", "--user", user, "--keep-caps")
    assert "root" in await missing(bench)


async def test_without_a_base_image_nothing_is_made_and_what_to_do_is_told(bench: OciBench, tmp_path: Path) -> None:
    bench.images = tmp_path
    await bench.begin()
    try:
        with pytest.raises(EngineError) as refused:
            await bench.engine.ensure(spec("a", keys(1, Key())), ignore)
        assert refused.value.reason == "this node has no base image"
        assert "gpuaas node image build" in refused.value.detail
        facts = await bench.engine.probe()
        assert facts.missing == ("a base image: run `gpuaas node image build`",)
        assert len(facts.gpus) == 8, "they exist; the server does not sell them while something is missing"
        assert [one for one in await bench.engine.observe() if one.state is not EnvironmentState.BROKEN] == []
    finally:
        await bench.end()
