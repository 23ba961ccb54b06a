"""Root inside an environment with init `systemd` may mount. What that does to volumes, and to what the node says."""

import os
from datetime import UTC, datetime

import msgspec
import pytest

from gpuaas.engines.storage.mount_tables import LONGEST_PATH, MOST_MOUNTS
from gpuaas.wire.environments import Init, Mount
from gpuaas.wire.storage import AccessMode, Backend
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys, spec
from tests.engines.test_oci_storage import Machine, new

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
LONG = "/".join(["d" * 200] * 15)


@pytest.fixture
async def here(real: OciBench, allocation_id: str) -> Machine:
    ada = Key()
    made = await real.engine.ensure(
        msgspec.structs.replace(spec(allocation_id, keys(1, ada)), init=Init.SYSTEMD), ignore
    )
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    return Machine(real, allocation_id, made, way)


async def mounts_of(here: Machine) -> tuple[Mount, ...]:
    return next(one.mounts for one in await here.bench.engine.observe() if one.allocation_id == here.id)


async def test_a_folder_that_is_named_like_a_volume_is_none(here: Machine) -> None:
    """Else the proof of the removal would demand the data of a volume that never was, for ever."""
    own = await new(here.bench)
    await here.attach(own)
    shared = str(here.bench.shared)
    for folder in ("/x/vol_zz/data", f"{shared}/vol_zy/data", "/data/vol_zx/data"):
        said = await here.says(f"sudo mkdir -p {folder} /y{folder} && sudo mount --bind {folder} /y{folder} && echo ok")
        assert said == "ok"
    assert await mounts_of(here) == (Mount(volume_id=own.volume_id, mount_path="/data", read_only=False),)
    items = await here.bench.engine.remove(here.id, ignore)
    assert all(item.ok for item in items), items


@pytest.mark.parametrize("backend", list(Backend))
async def test_mounting_a_volume_very_often_does_not_make_reports_large(here: Machine, backend: Backend) -> None:
    first, second = await new(here.bench, backend), await new(here.bench, backend)
    await here.attach(first)
    binds = f"for n in $(seq 200); do mkdir -p /k/{LONG}/$n; mount --bind /data /k/{LONG}/$n; done; echo ok"
    assert await here.says(f"sudo sh -c '{binds}'") == "ok"
    await here.attach(second, "/mnt/second")
    mounts = await mounts_of(here)
    assert len(mounts) <= MOST_MOUNTS
    assert all(len(one.mount_path) <= LONGEST_PATH for one in mounts)
    assert {(first.volume_id, "/data"), (second.volume_id, "/mnt/second")} <= {
        (one.volume_id, one.mount_path) for one in mounts
    }
    samples = await here.bench.engine.samples.take(datetime.now(UTC))
    assert len(msgspec.json.encode([one for one in samples if one.allocation_id == here.id])) < 1 << 16


@pytest.mark.parametrize("backend", list(Backend))
async def test_root_inside_cannot_make_a_read_only_volume_writable(here: Machine, backend: Backend) -> None:
    volume = await new(here.bench, backend)
    await here.attach(volume, mode=AccessMode.READ_ONLY)
    await here.says("sudo mkdir /again; sudo mount --bind /data /again")
    for command in (
        "mount -o remount,bind,rw /data",
        "mount -o remount,bind,rw /again",
        "mount -o remount,bind,suid,dev,ro /data",
        "unshare --mount mount -o remount,bind,rw /data",
        "unshare --mount --user --map-root-user mount -o remount,bind,rw /data",
    ):
        assert "permission denied" in await here.says(f"sudo {command}"), command
    assert "Read-only file system" in await here.says("sudo touch /data/x")
    await here.says("sudo umount /again")
    assert await here.detach(volume) == "unmounted"
