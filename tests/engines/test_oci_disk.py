"""The size that was sold: what an environment sees of it, and that a full root disk is full for itself alone."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuaas.wire.environments import EnvironmentState
from tests.engines.benches import Key, OciBench, ignore, keys, spec
from tests.engines.openssh import OpenSsh

ID = "disk"
WANTED = replace(spec(ID, keys(1)), vcpus=1, memory_mib=384, disk_gib=1)
GIB = 1 << 30


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


async def test_a_full_root_disk_is_full_inside_only(
    oci_bench: OciBench, ssh: OpenSsh, allocation_id: str, tmp_path: Path
) -> None:
    """Most of it by blocks that are reserved and not written: the test does not wear out the machine."""
    image = oci_bench.root / "environments" / ID / "disk.img"
    before = os.statvfs(image).f_bavail * os.statvfs(image).f_frsize
    filled = await ssh.run(
        "fallocate -l $(($(df --output=avail -B1 / | tail -1) - (8 << 20))) ~/most && cat /dev/zero > ~/rest"
    )
    assert "No space left on device" in filled.err
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


async def test_the_node_never_mounts_the_disk_in_its_own_table(oci_bench: OciBench, ssh: OpenSsh) -> None:
    """What is mounted for an environment ends with it, and nobody on the node stumbles into it."""
    assert str(oci_bench.root / "environments") not in Path("/proc/self/mountinfo").read_text()
