"""Root inside an environment with init `systemd` may mount. What that does to volumes, and to what the node says."""

import asyncio
import itertools
import os
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
import pytest
from _pytest.mark import ParameterSet

from gpuaas.engines.base import EngineError
from gpuaas.engines.storage.mount_tables import LONGEST_PATH, MOST_MOUNTS
from gpuaas.wire.environments import Init, Mount
from gpuaas.wire.storage import AccessMode, Backend
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys, spec
from tests.engines.test_oci_storage import Machine, new
from tests.interop.people import BOOTED
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
WAIT = "echo in; exec sleep 1000000"
COPY = """
import ctypes, time
assert ctypes.CDLL(None).syscall(428, -100, b"/data", 1) > 0  # open_tree, which copies the mount
print("in", flush=True)
time.sleep(1e6)
"""
HOLDERS = {
    "namespace": f"unshare --mount sh -c 'cd /data; {WAIT}'",
    "locked": f"unshare --mount --user --map-root-user sh -c '{WAIT}'",
    "copy": f"python3 -c '{COPY}'",
}
LONG = "/".join(["d" * 200] * 15)


@pytest.fixture
async def here(real: OciBench, allocation_id: str) -> Machine:
    return await systemd_machine(real, allocation_id)


async def systemd_machine(bench: OciBench, id: str) -> Machine:
    ada = Key()
    made = await bench.engine.ensure(msgspec.structs.replace(spec(id, keys(1, ada)), init=Init.SYSTEMD), ignore)
    way = await bench.log_in(made, ada)
    assert isinstance(way, SshWay)
    return Machine(bench, id, made, way)


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


@pytest.mark.parametrize("backend", [Backend.LOCAL, pytest.param(Backend.SHARED, marks=pytest.mark.soak)])
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


@pytest.mark.parametrize("backend", list(Backend))
async def test_a_volume_that_root_inside_mounted_again_is_not_detached(here: Machine, backend: Backend) -> None:
    """Else another allocation would become its only writer while this one still writes."""
    volume = await new(here.bench, backend)
    await here.attach(volume)
    await here.says("sudo mkdir -p /keep /data/sub; sudo mount --bind /data/sub /keep")
    with pytest.raises(EngineError, match=r"in use: systemd \(pid 1\) has it mounted at /keep"):
        await here.detach(volume)
    assert await here.says("sudo touch /data/still && ls /data/still") == "/data/still", "it was left where it was"
    await here.detach(volume, force=True)
    assert await here.says("sudo ls -A /keep; grep -c 'keep' /proc/self/mountinfo") == "0"
    items = await here.bench.engine.volumes.delete(volume, ignore)
    assert all(item.ok for item in items), items


SAMPLE = ((Backend.LOCAL, "copy"), (Backend.SHARED, "namespace"))


def keepers() -> Iterator[ParameterSet]:
    """Each way of keeping a volume of each backend; `make test-lab` runs a sample."""
    for backend, how in itertools.product(Backend, HOLDERS):
        yield pytest.param(backend, how, marks=() if (backend, how) in SAMPLE else pytest.mark.soak)


@pytest.mark.parametrize(("backend", "how"), list(keepers()))
async def test_a_volume_that_a_process_keeps_is_not_detached(here: Machine, backend: Backend, how: str) -> None:
    volume = await new(here.bench, backend)
    await here.attach(volume)
    keeper = await here.way.connection.create_process(f"sudo {HOLDERS[how]}")
    assert (await keeper.stdout.readline()).strip() == "in"
    with pytest.raises(EngineError, match=r"in use: (?:sleep|python3) \(pid \d+\) (?:has it mounted|keeps it)"):
        await here.detach(volume)
    assert await here.says("grep -c ' /data ' /proc/self/mountinfo") == "1", "it was left where it was"
    assert "ended" in await here.detach(volume, force=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await keeper.wait()
    assert await here.says("grep -c ' /data ' /proc/self/mountinfo") == "0"
    items = await here.bench.engine.volumes.delete(volume, ignore)
    assert all(item.ok for item in items), items


async def test_a_service_with_mounts_of_its_own_does_not_keep_a_volume_that_it_does_not_use(here: Machine) -> None:
    volume = await new(here.bench, Backend.LOCAL)
    await here.attach(volume)
    service = "systemd-run --quiet --property=PrivateTmp=yes --property=ProtectSystem=yes sleep 1000000"
    assert await here.says(f"{BOOTED}; sudo {service} && echo ok") == "ok"
    assert await here.detach(volume) == "unmounted"
    items = await here.bench.engine.volumes.delete(volume, ignore)
    assert all(item.ok for item in items), items
