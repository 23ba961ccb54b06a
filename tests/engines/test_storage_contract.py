"""What every engine promises of volumes. One suite, every engine."""

import asyncio
import os
from datetime import UTC, datetime
from itertools import count

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import Mount
from gpuaas.wire.storage import (
    AccessMode,
    Backend,
    PresentVolume,
    VolumeOwnership,
    VolumeRef,
    WantedMount,
    WritePolicy,
)
from tests.engines.benches import Bench, Key, ignore, keys, spec

_numbers = count(1)  # with the process: other workers see the same loop devices


@pytest.fixture(params=list(Backend))
def volume(request: pytest.FixtureRequest) -> VolumeRef:
    return VolumeRef(volume_id=f"vol_{os.getpid()}x{next(_numbers)}x", backend=request.param, size_gib=1)


def at(volume: VolumeRef, path: str = "/data", mode: AccessMode = AccessMode.READ_WRITE) -> WantedMount:
    return WantedMount(volume=volume, mount_path=path, access_mode=mode)


async def mounts(bench: Bench, allocation_id: str) -> tuple[Mount, ...]:
    return next(one.mounts for one in await bench.engine.observe() if one.allocation_id == allocation_id)


async def test_a_volume_is_attached_to_a_running_environment_seen_and_detached(
    bench: Bench, allocation_id: str, volume: VolumeRef
) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    made = await bench.engine.volumes.ensure(volume, None, ignore)
    assert made.volume_id == volume.volume_id
    for _ in range(2):  # asking twice is free
        await bench.engine.mounts.attach(allocation_id, at(volume), ignore)
        seen = await mounts(bench, allocation_id)
        assert seen == (Mount(volume_id=volume.volume_id, mount_path="/data", read_only=False),)
    for _ in range(2):
        await bench.engine.mounts.detach(allocation_id, volume, "/data", force=False, on_phase=ignore)
        assert await mounts(bench, allocation_id) == ()


async def test_a_mount_outlives_the_agent_and_not_a_boot(bench: Bench, allocation_id: str, volume: VolumeRef) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    await bench.engine.volumes.ensure(volume, None, ignore)
    await bench.engine.mounts.attach(allocation_id, at(volume, mode=AccessMode.READ_ONLY), ignore)
    before = await mounts(bench, allocation_id)
    await bench.crash()
    assert await mounts(bench, allocation_id) == before
    assert before[0].read_only
    await bench.engine.ensure(spec(allocation_id, keys(1, Key()), boot=2), ignore)
    assert await mounts(bench, allocation_id) == ()


async def test_a_volume_that_is_not_there_and_a_machine_that_is_not_there_are_refused(
    bench: Bench, allocation_id: str, volume: VolumeRef
) -> None:
    with pytest.raises(EngineError, match="not on this node"):
        await bench.engine.mounts.attach(allocation_id, at(volume), ignore)
    await bench.engine.volumes.ensure(volume, None, ignore)
    with pytest.raises(EngineError, match="not running"):
        await bench.engine.mounts.attach(allocation_id, at(volume), ignore)
    assert await bench.engine.mounts.detach(allocation_id, volume, "/data", force=False, on_phase=ignore)


async def test_another_volume_at_the_same_path_is_refused(bench: Bench, allocation_id: str, volume: VolumeRef) -> None:
    other = VolumeRef(volume_id=f"{volume.volume_id}b", backend=volume.backend, size_gib=1)
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    for each in (volume, other):
        await bench.engine.volumes.ensure(each, None, ignore)
    await bench.engine.mounts.attach(allocation_id, at(volume), ignore)
    with pytest.raises(EngineError, match="another volume"):
        await bench.engine.mounts.attach(allocation_id, at(other), ignore)
    assert [one.volume_id for one in await mounts(bench, allocation_id)] == [volume.volume_id]


async def test_a_deleted_volume_is_proven_gone_and_never_comes_back(bench: Bench, volume: VolumeRef) -> None:
    await bench.engine.volumes.ensure(volume, None, ignore)
    proofs = await bench.engine.volumes.delete(volume, ignore)
    assert proofs
    assert all(proof.ok and proof.evidence for proof in proofs)
    with pytest.raises(EngineError, match="not on this node"):
        await bench.engine.volumes.measure(volume)
    with pytest.raises(EngineError, match="deleted"):
        await bench.engine.volumes.ensure(volume, None, ignore)


def owned(volume: VolumeRef, name: str = "data") -> VolumeOwnership:
    return VolumeOwnership(
        tenant_id="ten_a",
        project_id="proj_a",
        name=name,
        size_gib=volume.size_gib,
        backend=volume.backend,
        write_policy=WritePolicy.SINGLE_WRITER,
        protected=True,
        snapshot_id=None,
        created_by="user_a",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    )


async def listed(bench: Bench, volume: VolumeRef) -> PresentVolume | None:
    found = [one for one in await bench.engine.volumes.present() if one.volume_id == volume.volume_id]
    return found[0] if found else None


async def test_a_volume_is_listed_with_its_ownership_record_until_it_is_deleted(
    bench: Bench, volume: VolumeRef
) -> None:
    assert await listed(bench, volume) is None
    made = await bench.engine.volumes.ensure(volume, None, ignore, ownership=owned(volume))
    seen = await listed(bench, volume)
    assert seen is not None
    assert (seen.backend, seen.quota, seen.ownership) == (volume.backend, made.quota, owned(volume))
    await bench.engine.volumes.snapshot(volume, f"snap_{volume.volume_id[4:]}", ignore)
    await bench.crash()
    assert await listed(bench, volume) == seen
    renamed = owned(volume, name="renamed")
    await bench.engine.volumes.set_ownership(volume, renamed)
    mine = [one for one in await bench.engine.volumes.present() if volume.volume_id[4:] in one.volume_id]
    assert [(one.volume_id, one.ownership) for one in mine] == [(volume.volume_id, renamed)], "a snapshot is no volume"
    await bench.engine.volumes.delete(volume, ignore)
    assert await listed(bench, volume) is None


async def test_a_volume_without_a_record_is_listed_and_gets_one(bench: Bench, volume: VolumeRef) -> None:
    """As an older version made it."""
    await bench.engine.volumes.ensure(volume, None, ignore)
    seen = await listed(bench, volume)
    assert seen is not None
    assert (seen.ownership, seen.detail) == (None, "")
    await bench.engine.volumes.ensure(volume, None, ignore, ownership=owned(volume))
    seen = await listed(bench, volume)
    assert seen is not None
    assert seen.ownership == owned(volume)


async def test_removing_an_environment_leaves_its_volumes(bench: Bench, allocation_id: str, volume: VolumeRef) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    await bench.engine.volumes.ensure(volume, None, ignore)
    await bench.engine.mounts.attach(allocation_id, at(volume), ignore)
    assert all(item.ok for item in await bench.engine.remove(allocation_id, ignore))
    assert (await bench.engine.volumes.measure(volume)).volume_id == volume.volume_id


async def test_many_attaches_at_once_make_one_mount(bench: Bench, allocation_id: str, volume: VolumeRef) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    await bench.engine.volumes.ensure(volume, None, ignore)
    await asyncio.gather(*(bench.engine.mounts.attach(allocation_id, at(volume), ignore) for _ in range(5)))
    assert len(await mounts(bench, allocation_id)) == 1


@pytest.mark.parametrize("backend", list(Backend))
async def test_a_conformance_run_tries_everything_and_says_what_it_saw(bench: Bench, backend: Backend) -> None:
    checks = await bench.engine.volumes.conform(backend, ignore)
    assert {check.check for check in checks} == {
        *("concurrent_writers", "locks", "visibility", "quota", "project_isolation", "many_mounts", "node_loss"),
        "one_owner",
    }
    assert all(check.ok and check.evidence for check in checks), checks
