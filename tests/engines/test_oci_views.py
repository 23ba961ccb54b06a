"""What an environment sees of the node: a real lxcfs, started, adopted, killed and stopped; CPUs by use."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import processes
from gpuaas.engines.oci.view_keeper import ViewKeeper
from gpuaas.engines.oci.views import Lxcfs, choose_cpus, format_cpus, parse_cpus
from tests.residue import RUN

needs_lxcfs = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("lxcfs") or not Path("/dev/fuse").exists(), reason="needs root and lxcfs"
)
MEMORY_MIB = 256
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
STARTER = """
import asyncio, pathlib, sys
from gpuaas.engines.oci.views import Lxcfs
print(asyncio.run(Lxcfs(pathlib.Path(sys.argv[1])).ensure()))
"""


@pytest.fixture
async def lxcfs() -> AsyncIterator[Lxcfs]:
    folder = Path(os.environ["TMPDIR"]) / "views"  # every part of the path must be open to the ids inside
    found = Lxcfs(folder)
    yield found
    await found.stop()
    assert not found.is_mounted()
    assert processes.with_argument(str(found.mount)) == []
    shutil.rmtree(folder, ignore_errors=True)


@needs_lxcfs
async def test_it_starts_once_and_is_no_child_of_the_agent_s_session(lxcfs: Lxcfs) -> None:
    assert not await lxcfs.is_alive()
    first, second = await asyncio.gather(lxcfs.ensure(), lxcfs.ensure())
    assert first == second == lxcfs.pid()
    assert await lxcfs.is_alive()
    assert os.getsid(first) != os.getsid(0)
    for mount in lxcfs.mounts():
        assert Path(mount["source"]).read_text()


@needs_lxcfs
async def test_an_agent_that_starts_again_adopts_it(lxcfs: Lxcfs) -> None:
    pid = await lxcfs.ensure()
    after = Lxcfs(lxcfs.folder)
    assert await after.is_alive()
    assert await after.ensure() == pid


@needs_lxcfs
async def test_it_survives_the_process_that_started_it(lxcfs: Lxcfs) -> None:
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, str(lxcfs.folder)), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await started.communicate()
    assert lxcfs.pid() == int(output)
    assert await lxcfs.is_alive()


@needs_lxcfs
async def test_one_that_is_being_executed_is_not_taken_for_one_that_ended(tmp_path: Path, lxcfs: Lxcfs) -> None:
    """The kernel shows no arguments of a process for a moment while it becomes another program."""
    program = tmp_path / "slow"
    program.write_text("""#!/bin/sh\nARGUMENTS="$*" exec sh -c 'sleep 0.1; exec lxcfs $ARGUMENTS'\n""")
    program.chmod(0o755)
    assert await Lxcfs(lxcfs.folder, program=str(program)).ensure() == lxcfs.pid()


@needs_lxcfs
async def test_one_that_was_killed_is_not_alive_and_is_replaced(lxcfs: Lxcfs) -> None:
    pid = await lxcfs.ensure()
    os.kill(pid, signal.SIGKILL)
    assert await processes.gone(pid, 10)
    assert lxcfs.is_mounted(), "a killed lxcfs leaves its mount"
    assert not await lxcfs.is_alive()
    assert await lxcfs.ensure() != pid
    assert await lxcfs.is_alive()


@needs_lxcfs
async def test_one_that_hangs_is_not_alive(lxcfs: Lxcfs) -> None:
    pid = await lxcfs.ensure()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert not await Lxcfs(lxcfs.folder, answer_seconds=0.5).is_alive()
    finally:
        os.kill(pid, signal.SIGCONT)


@needs_lxcfs
async def test_stopping_leaves_nothing_and_may_be_repeated(lxcfs: Lxcfs) -> None:
    await lxcfs.stop()
    pid = await lxcfs.ensure()
    await lxcfs.stop()
    assert processes.has_ended(pid)
    assert not lxcfs.is_mounted()
    assert sorted(path.name for path in lxcfs.folder.iterdir()) == ["lxcfs.log"]
    await lxcfs.stop()


@needs_lxcfs
async def test_a_pid_of_another_process_in_its_file_is_left_alone(lxcfs: Lxcfs) -> None:
    lxcfs.folder.mkdir()
    (lxcfs.folder / "lxcfs.pid").write_text(f"{os.getpid()}\n")
    assert lxcfs.pid() is None
    await lxcfs.stop()
    assert not (lxcfs.folder / "lxcfs.pid").exists()


@needs_lxcfs
async def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    program = tmp_path / "lxcfs"
    program.write_text("#!/bin/sh\necho no fuse here\nexit 1\n")
    program.chmod(0o755)
    failing = Lxcfs(tmp_path / "views", program=str(program))
    with pytest.raises(EngineError, match="lxcfs did not start: no fuse here"):
        await failing.ensure()
    assert not failing.mount.exists()


@needs_lxcfs
async def test_a_death_is_counted_once_however_often_the_start_fails(tmp_path: Path) -> None:
    program = tmp_path / "lxcfs"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    times = count()
    keeper = ViewKeeper(Lxcfs(tmp_path / "views", program=str(program)), lambda: NOON + timedelta(seconds=next(times)))
    told = set()
    for _ in range(3):
        with pytest.raises(EngineError, match="lxcfs did not start"):
            await keeper.revive()
        told.add(keeper.fact().value)
    assert len(told) == 1
    assert "ended unexpectedly 1 time since the agent started, noticed last at 2026-01-01 12:00:00 UTC" in told.pop()


@needs_lxcfs
async def test_each_death_is_counted(lxcfs: Lxcfs) -> None:
    keeper = ViewKeeper(lxcfs, lambda: NOON)
    for times in ("1 time ", "2 times "):
        await keeper.revive()
        assert times in keeper.fact().value
        await lxcfs.stop()


@needs_lxcfs
@pytest.mark.skipif(not shutil.which("runc"), reason="needs runc")
async def test_a_container_sees_the_memory_and_cpus_that_it_has(lxcfs: Lxcfs) -> None:
    await lxcfs.ensure()
    online = parse_cpus(Path("/sys/devices/system/cpu/online").read_text())
    config = container(lxcfs.mounts(), choose_cpus(1, {online[0]: 1}, online))
    bundle = lxcfs.folder / "bundle"
    for name in ("usr", "proc", "sys", "dev"):
        (bundle / "root" / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (bundle / "root" / name).symlink_to(f"usr/{name}")
    (bundle / "config.json").write_text(json.dumps(config))
    command = ["runc", "--root", str(bundle / "runc"), "run", "--bundle", str(bundle), f"views-{os.environ[RUN]}"]
    done = await asyncio.to_thread(
        lambda: subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60
        )
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["memory"] == MEMORY_MIB * 1024
    assert (seen["cpuinfo"], seen["nproc"]) == (1, 1)
    assert seen["uptime"] < 60
    assert seen["written"] == "refused"


LOOK = """
import json, os, pathlib
text = lambda path: pathlib.Path(path).read_text()
try:
    pathlib.Path("/proc/meminfo").write_text("x"); written = "yes"
except OSError:
    written = "refused"
memory = next(int(line.split()[1]) for line in text("/proc/meminfo").splitlines() if line.startswith("MemTotal"))
print(json.dumps({
    "memory": memory, "cpuinfo": text("/proc/cpuinfo").count("processor"), "nproc": len(os.sched_getaffinity(0)),
    "uptime": float(text("/proc/uptime").split()[0]), "written": written,
}))
"""


def container(mounts: list[dict[str, Any]], cpus: str) -> dict[str, Any]:
    mapping = [{"containerID": 0, "hostID": 100_000, "size": 65_536}]
    return {
        "ociVersion": "1.0.2",
        "root": {"path": "root"},
        "process": {"cwd": "/", "args": ["/usr/bin/python3", "-c", LOOK], "user": {"uid": 0, "gid": 0}},
        "mounts": [
            {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            # A new sysfs shows more than the one of a test run, which is covered in part: the kernel forbids it.
            {"destination": "/sys", "type": "bind", "source": "/sys", "options": ["rbind", "ro"]},
            *mounts,
        ],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("user", "mount", "pid", "ipc", "uts", "network")],
            "uidMappings": mapping,
            "gidMappings": mapping,
            "cgroupsPath": f"/views-{os.environ[RUN]}",
            "resources": {"memory": {"limit": MEMORY_MIB << 20}, "cpu": {"cpus": cpus}},
        },
    }


def test_the_least_used_cpus_are_chosen() -> None:
    assert choose_cpus(2, {0: 1, 1: 0, 2: 2}, range(4)) == "1,3"
    assert choose_cpus(3, {}, range(8)) == "0-2"
    assert choose_cpus(64, {0: 9}, [0, 1]) == "0-1"
    with pytest.raises(ValueError, match="0 of 2 CPUs"):
        choose_cpus(0, {}, [0, 1])
    with pytest.raises(ValueError, match="1 of 0 CPUs"):
        choose_cpus(1, {}, [])


@given(
    st.integers(1, 40), st.dictionaries(st.integers(0, 31), st.integers(0, 5)), st.sets(st.integers(0, 31), min_size=1)
)
def test_the_size_is_what_was_sold_and_no_idle_cpu_is_passed_over(
    vcpus: int, in_use: dict[int, int], online: set[int]
) -> None:
    chosen = set(parse_cpus(choose_cpus(vcpus, in_use, online)))
    assert len(chosen) == min(vcpus, len(online))
    assert chosen <= online
    for left in online - chosen:
        assert all(in_use.get(cpu, 0) <= in_use.get(left, 0) for cpu in chosen)


@given(st.sets(st.integers(0, 300)))
def test_a_cpuset_survives_its_own_format(cpus: set[int]) -> None:
    assert set(parse_cpus(format_cpus(cpus))) == cpus
