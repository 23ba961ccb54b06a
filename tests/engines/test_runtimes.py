"""What every engine promises of runtime bundles. One suite, every engine."""

import asyncio

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.runtimes import IN_USE, NOT_STAGED
from tests.engines.benches import Bench, Key, ignore, keys
from tests.engines.benches import spec as environment
from tests.engines.remote_runtimes import Ear
from tests.runtimes.wheels import BROKEN, descriptor, spec

PHASES = ["preparing", "downloading", "installing", "checking", "staged"]


async def test_a_bundle_is_staged_with_evidence_and_asking_again_finds_it_whole(bench: Bench) -> None:
    ear, bundle = Ear(), spec(bench.wheels, "1.0")
    staged = await bench.engine.runtimes.stage(bundle, ear)
    assert ear.phases == PHASES
    assert (staged.slug, staged.version, staged.digest, staged.drift) == ("python-data", "1.0", bundle.digest, [])
    assert staged.health
    again = Ear()
    assert await bench.engine.runtimes.stage(bundle, again, manifest=staged.manifest) == staged
    assert again.phases == ["staged"]
    assert staged in await bench.engine.runtimes.staged()


async def test_many_at_once_stage_it_once(bench: Bench) -> None:
    bundle = spec(bench.wheels, "1.1")
    made = await asyncio.gather(*(bench.engine.runtimes.stage(bundle, Ear()) for _ in range(3)))
    assert len({one.staged_at for one in made}) == 1


async def test_a_bundle_that_fails_its_check_is_told_why_and_leaves_nothing(bench: Bench) -> None:
    bundle = spec(bench.wheels, "1.2", check=[*BROKEN, "fail"])
    with pytest.raises(EngineError) as refusal:
        await bench.engine.runtimes.stage(bundle, Ear())
    assert refusal.value.reason.startswith("its health check failed: ")
    assert refusal.value.detail
    assert ("python-data", "1.2") not in {(one.slug, one.version) for one in await bench.engine.runtimes.staged()}


async def test_another_recipe_never_takes_the_name_of_one_that_is_there(bench: Bench) -> None:
    await bench.engine.runtimes.stage(spec(bench.wheels, "1.3"), Ear())
    with pytest.raises(EngineError) as refusal:
        await bench.engine.runtimes.stage(spec(bench.wheels, "1.3", check=["python", "-c", "1"]), Ear())
    assert refusal.value.reason == "another bundle has this name and version here"


async def test_what_is_staged_outlives_the_agent(bench: Bench) -> None:
    staged = await bench.engine.runtimes.stage(spec(bench.wheels, "1.0"), Ear())
    await bench.crash()
    assert staged in await bench.engine.runtimes.staged()


async def test_the_newest_descriptor_is_current_until_it_is_cleared(bench: Bench, allocation_id: str) -> None:
    one, other = spec(bench.wheels, "1.0"), spec(bench.wheels, "2.0")
    for bundle in (one, other):
        await bench.engine.runtimes.stage(bundle, Ear())
    await bench.engine.ensure(environment(allocation_id, keys(1, Key())), ignore)
    assert await bench.engine.runtimes.descriptor(allocation_id) is None
    for wanted in (one, one, other, one):
        await bench.engine.runtimes.write_descriptor(allocation_id, descriptor(wanted))
        assert await bench.engine.runtimes.descriptor(allocation_id) == descriptor(wanted)
    await bench.crash()
    assert await bench.engine.runtimes.descriptor(allocation_id) == descriptor(one)
    await bench.engine.ensure(environment(allocation_id, keys(1, Key()), boot=2), ignore)
    assert await bench.engine.runtimes.descriptor(allocation_id) == descriptor(one)
    await bench.engine.runtimes.write_descriptor(allocation_id, None)
    assert await bench.engine.runtimes.descriptor(allocation_id) is None


async def test_a_bundle_that_is_not_here_cannot_be_current(bench: Bench, allocation_id: str) -> None:
    await bench.engine.ensure(environment(allocation_id, keys(1, Key())), ignore)
    with pytest.raises(EngineError) as refusal:
        await bench.engine.runtimes.write_descriptor(allocation_id, descriptor(spec(bench.wheels, "9.9")))
    assert refusal.value.reason == NOT_STAGED
    assert await bench.engine.runtimes.descriptor(allocation_id) is None


async def test_a_bundle_is_removed_with_proof_and_asking_again_finds_it_gone(bench: Bench) -> None:
    bundle = spec(bench.wheels, "1.4")
    await bench.engine.runtimes.stage(bundle, Ear())
    for _ in range(2):
        proofs = await bench.engine.runtimes.unstage(bundle.slug, bundle.version, ear := Ear())
        assert (ear.phases, {proof.ok for proof in proofs}) == (["removing", "removed"], {True})
        assert (bundle.slug, bundle.version) not in {
            (one.slug, one.version) for one in await bench.engine.runtimes.staged()
        }
    assert (await bench.engine.runtimes.stage(bundle, Ear())).health


async def test_a_bundle_that_is_current_somewhere_is_never_removed(bench: Bench, allocation_id: str) -> None:
    bundle, other = spec(bench.wheels, "1.5"), spec(bench.wheels, "1.0")
    for each in (bundle, other):
        await bench.engine.runtimes.stage(each, Ear())
    await bench.engine.ensure(environment(allocation_id, keys(1, Key())), ignore)
    await bench.engine.runtimes.write_descriptor(allocation_id, descriptor(bundle))
    with pytest.raises(EngineError) as refusal:
        await bench.engine.runtimes.unstage(bundle.slug, bundle.version, Ear())
    assert (refusal.value.reason, allocation_id in refusal.value.detail) == (IN_USE, True)
    assert bundle.version in {one.version for one in await bench.engine.runtimes.staged()}
    await bench.engine.runtimes.write_descriptor(allocation_id, descriptor(other))
    assert await bench.engine.runtimes.unstage(bundle.slug, bundle.version, Ear())


async def test_nobodys_environment_gets_no_runtime(bench: Bench, allocation_id: str) -> None:
    bundle = spec(bench.wheels, "1.0")
    await bench.engine.runtimes.stage(bundle, Ear())
    with pytest.raises(EngineError) as refusal:
        await bench.engine.runtimes.write_descriptor(allocation_id, descriptor(bundle))
    assert refusal.value.reason == "there is no such environment here"
