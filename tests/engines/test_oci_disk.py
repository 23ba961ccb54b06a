"""The size that was sold: what an environment sees of it, and that a full root disk is full for itself alone."""

import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuaas.domain.metrics.findings import findings
from gpuaas.engines.node import processes
from gpuaas.engines.oci.view_keeper import ViewKeeper
from gpuaas.engines.oci.views import FILES, Lxcfs
from gpuaas.wire.environments import EnvironmentState
from gpuaas.wire.storage import AccessMode, Backend, VolumeRef, WantedMount
from tests.engines.benches import Key, OciBench, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh

ID = "disk"
WANTED = replace(spec(ID, keys(1)), vcpus=1, memory_mib=384, disk_gib=1)
GIB = 1 << 30
VOLUME = VolumeRef(volume_id="vol_full", backend=Backend.LOCAL, size_gib=1)
DATA = WantedMount(volume=VOLUME, mount_path="/data", access_mode=AccessMode.READ_WRITE)
FILL = "fallocate -l $(($(df --output=avail -B1 {0} | tail -1) - (8 << 20))) {0}/most && cat /dev/zero > {0}/rest"
"""Most of it by blocks that are reserved and not written: the test does not wear out the machine."""


@pytest.fixture(scope="module")
async def ssh(oci_bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenSsh]:
    ada = Key()
    environment = await oci_bench.engine.ensure(replace(WANTED, keys=keys(1, ada)), ignore)
    yield OpenSsh(tmp_path_factory.mktemp("disk"), environment, ada)
    await oci_bench.engine.remove(ID, ignore)


async def test_programs_see_the_size_that_was_sold(ssh: OpenSsh) -> None:
    assert await ssh.says("nproc; getconf _NPROCESSORS_ONLN; grep -c ^processor /proc/cpuinfo") == "1\n1\n1"
    assert await ssh.says("free -m | awk '/Mem:/ { print $2 }'") == str(WANTED.memory_mib)
    assert await ssh.says("python3 -c 'import os; print(len(os.sched_getaffinity(0)))'") == "1"
    size = int(await ssh.says("df --output=size -B1 / | tail -1"))
    assert 0.9 * GIB < size <= GIB
    assert size == int(await ssh.says("df --output=size -B1 ~ | tail -1"))


async def test_views_work_again_after_the_death_of_lxcfs(oci_bench: OciBench, ssh: OpenSsh) -> None:
    """First while there is no agent, so that the broken files are seen; then under an agent, which acts at once."""
    lxcfs, pid = Lxcfs(oci_bench.root / "lxcfs"), oci_bench.first_process(ID)
    keeper = ViewKeeper(lxcfs, lambda: datetime.now(UTC))
    assert keeper.broken(pid) == []

    await oci_bench.kill()
    await kill_lxcfs(lxcfs)
    assert keeper.broken(pid) == list(FILES)
    for name in FILES:
        with pytest.raises(OSError, match="endpoint is not connected"):
            oci_bench.inside(ID, name).read_bytes()
    await oci_bench.begin()
    await eventually(lambda: is_renewed(keeper, pid))
    assert await oci_bench.engine.changed_facts() == {}, "it was started with this agent"
    await kill_lxcfs(lxcfs)
    await eventually(lambda: is_renewed(keeper, pid))
    assert oci_bench.first_process(ID) == pid
    assert await ssh.says("free -m | awk '/Mem:/ { print $2 }'") == str(WANTED.memory_mib)
    (fact,) = (await oci_bench.engine.changed_facts()).values()
    assert "ended unexpectedly 1 time " in fact.value
    samples = await oci_bench.engine.samples.take(datetime.now(UTC))
    assert [one.broken_views for one in samples if one.allocation_id == ID] == [()]


async def test_a_full_root_disk_is_full_inside_only(
    oci_bench: OciBench, ssh: OpenSsh, allocation_id: str, tmp_path: Path
) -> None:
    image = oci_bench.root / "environments" / ID / "disk.img"
    before = os.statvfs(image).f_bavail * os.statvfs(image).f_frsize
    assert await full_disks(oci_bench, ID) == ""
    assert "No space left on device" in (await ssh.run(FILL.format("$HOME"))).err
    assert await full_disks(oci_bench, ID) == "The disk at / is full."
    for path in ("~/x", "/usr/local/x", "/var/log/x"):
        assert "No space left on device" in (await ssh.run(f"sudo dd if=/dev/zero of={path} bs=1M count=1")).err, path
    assert await ssh.says("echo alive > /dev/shm/x && cat /dev/shm/x") == "alive"
    found = image.stat()
    assert found.st_size == GIB
    assert found.st_blocks * 512 <= GIB
    assert before - os.statvfs(image).f_bavail * os.statvfs(image).f_frsize < GIB
    ada = Key()
    neighbour = await oci_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    assert await OpenSsh(tmp_path, neighbour, ada).says(
        "dd if=/dev/zero of=x bs=1M count=4 2> /dev/null; stat -c %s x"
    ) == (str(4 << 20))
    assert await full_disks(oci_bench, allocation_id) == ""
    await oci_bench.engine.remove(allocation_id, ignore)


async def test_an_environment_with_a_full_disk_boots_again_and_lets_its_person_in(
    oci_bench: OciBench, ssh: OpenSsh
) -> None:
    """After the test above; full or not, the answer is the same."""
    ada = Key()
    again = await oci_bench.engine.ensure(replace(WANTED, boot=2, keys=keys(2, ada)), ignore)
    assert (again.state, again.boot) == (EnvironmentState.RUNNING, 2)
    way = await oci_bench.log_in(again, ada)
    assert way is not None


async def test_a_full_volume_is_reported_with_its_path(oci_bench: OciBench, ssh: OpenSsh) -> None:
    """After the tests above, which filled the root disk: that it has space again is seen as well."""
    ada, engine = Key(), oci_bench.engine
    await engine.set_keys(ID, keys(3, ada))
    environment = next(one for one in await engine.observe() if one.allocation_id == ID)
    person = OpenSsh(ssh.folder, environment, ada)
    await person.says("rm -f ~/most ~/rest")
    await engine.volumes.ensure(VOLUME, None, ignore)
    await engine.mounts.attach(ID, DATA, ignore)
    assert await full_disks(oci_bench, ID) == ""
    assert "No space left on device" in (await person.run(FILL.format("/data"))).err
    assert await full_disks(oci_bench, ID) == "The disk at /data is full."
    assert await person.says("echo alive > ~/y && cat ~/y") == "alive"
    await engine.mounts.detach(ID, VOLUME, DATA.mount_path, force=True, on_phase=ignore)
    assert await full_disks(oci_bench, ID) == ""
    assert all(item.ok for item in await engine.volumes.delete(VOLUME, ignore))


async def full_disks(bench: OciBench, allocation_id: str) -> str:
    """What the health of an allocation says of them, from a sample of the node."""
    samples = {one.allocation_id: one for one in await bench.engine.samples.take(datetime.now(UTC))}
    return "".join(one.words for one in findings(samples[allocation_id]) if one.code == "disk_full")


async def test_the_node_never_mounts_the_disk_in_its_own_table(oci_bench: OciBench, ssh: OpenSsh) -> None:
    """What is mounted for an environment ends with it, and nobody on the node stumbles into it."""
    assert str(oci_bench.root / "environments") not in Path("/proc/self/mountinfo").read_text()


async def kill_lxcfs(lxcfs: Lxcfs) -> None:
    pid = lxcfs.pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert await processes.gone(pid)


async def is_renewed(keeper: ViewKeeper, pid: int) -> bool:
    return keeper.broken(pid) == []
