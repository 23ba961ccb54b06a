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


async def refusal(bench: OciBench) -> EngineError:
    with pytest.raises(EngineError) as refused:
        await bench.begin()
    await bench.kill()
    return refused.value


async def test_what_is_not_installed_is_named(bench: OciBench) -> None:
    """In a mount namespace of the agent's own."""
    bench.wrap = ("unshare", "--mount", "sh", "-c", WITHOUT.format(program="conmon"), "sh")
    told = await refusal(bench)
    assert (told.reason, told.detail) == ("this node cannot make environments", "missing: the program conmon")


async def test_an_agent_without_root_is_told_so(bench: OciBench) -> None:
    """It has the id of root, in a user namespace where that is nobody's."""
    bench.wrap = ("unshare", "--user", "--map-user=1234", "--keep-caps")
    assert "missing: root" in (await refusal(bench)).detail


async def test_without_a_base_image_nothing_is_made_and_what_to_do_is_told(bench: OciBench, tmp_path: Path) -> None:
    bench.images = tmp_path
    await bench.begin()
    try:
        with pytest.raises(EngineError) as refused:
            await bench.engine.ensure(spec("a", keys(1, Key())), ignore)
        assert refused.value.reason == "this node has no base image"
        assert "gpuaas node image build" in refused.value.detail
        facts = await bench.engine.probe()
        assert "a base image" in facts.facts["isolation"].value
        assert facts.gpus == (), "a node that can make nothing has nothing to sell"
        assert [one for one in await bench.engine.observe() if one.state is not EnvironmentState.BROKEN] == []
    finally:
        await bench.end()
