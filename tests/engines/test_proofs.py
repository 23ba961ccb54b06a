"""Each look for residue sees what it is there to see: something is planted, and the look reports it."""

import asyncio
import os
import socket
import subprocess
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from gpuaas.engines.node import processes
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.ports import Recency, try_listen
from gpuaas.engines.oci import proofs
from gpuaas.engines.oci.environments import facts_of
from gpuaas.engines.oci.network import Networks
from tests.engines.benches import Key, keys, spec
from tests.patience import PATIENCE_SECONDS

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
SPARE_UID = 1_899_999_990


async def test_a_process_that_stayed_is_seen() -> None:
    child = await asyncio.create_subprocess_exec("sleep", "1000")
    seen = [(child.pid, processes.born(child.pid))]
    assert not proofs.process_residue(set(), seen).ok
    await processes.end(child.pid, lambda _: True)
    await child.wait()
    assert proofs.process_residue(set(), seen).ok


def test_a_process_that_ended_and_was_not_collected_is_no_residue() -> None:
    with subprocess.Popen(["sleep", "1000"]) as child:
        seen = [(child.pid, processes.born(child.pid))]
        assert not proofs.process_residue(set(), seen).ok
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert processes.born(child.pid) == seen[0][1], "its number is not free yet"
        assert proofs.process_residue(set(), seen).ok


@needs_root
async def test_a_process_with_the_uid_is_seen() -> None:
    uid = SPARE_UID + os.getpid() % 7
    child = await asyncio.create_subprocess_exec("setpriv", f"--reuid={uid}", "sleep", "1000")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while proofs.process_residue({uid}, []).ok:
            await asyncio.sleep(0.01)
    child.kill()
    await child.wait()
    assert proofs.process_residue({uid}, []).ok


def test_a_number_used_again_by_another_process_is_no_residue() -> None:
    assert proofs.process_residue(set(), [(os.getpid(), "1")]).ok


def test_a_folder_that_stayed_is_seen(tmp_path: Path) -> None:
    assert not proofs.file_residue(tmp_path).ok
    (tmp_path / "dangling").symlink_to("/nowhere")
    assert not proofs.file_residue(tmp_path / "dangling").ok
    assert proofs.file_residue(tmp_path / "gone").ok


def test_a_mount_that_stayed_is_seen() -> None:
    assert not proofs.mount_residue(Path("/proc")).ok
    assert proofs.mount_residue(Path("/no/such/folder")).ok


def test_a_listener_of_ours_is_seen_and_another_programs_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not proofs.port_residue(port, [os.getpid()]).ok
    assert proofs.port_residue(port, [os.getpid()]).ok


def test_shared_memory_that_stayed_is_seen() -> None:
    path = Path("/dev/shm") / f"gpuaas-test-{os.getpid()}"  # noqa: S108 (the place that is looked at)
    path.touch()
    try:
        assert not proofs.shared_memory_residue({os.getuid()}).ok
    finally:
        path.unlink()
    assert proofs.shared_memory_residue({SPARE_UID}).ok


def test_a_live_flow_and_an_interface_that_stayed_are_residue() -> None:
    assert not proofs.network_residue(["interface g-0"], "192.0.2.77").ok
    assert proofs.network_residue([], "192.0.2.77").ok


@needs_root
async def test_a_network_is_seen_until_it_is_removed() -> None:
    tag = f"{os.getpid() % 0xFFFFFF:06x}"
    networks = Networks(tag, IPv4Network("198.18.0.0/21"))
    await networks.open(set())
    child = await asyncio.create_subprocess_exec("unshare", "--net", "sleep", "1000")
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while processes.namespace(child.pid, "net") == str(Path("/proc/self/ns/net").readlink()):
                await asyncio.sleep(0.01)
        await networks.attach(0, child.pid)
        assert len(networks.residue(0)) == 1
        await networks.remove(0)
        assert networks.residue(0) == []
    finally:
        child.kill()
        await child.wait()
        await networks.close(remove=True)


@needs_root
async def test_a_control_group_is_seen_until_it_is_removed() -> None:
    limits = Limits(f"test{os.getpid()}")
    if not limits.make("a", vcpus=1, memory_mib=64):
        pytest.skip("control groups cannot be written here")
    assert not proofs.group_residue(limits.residue("a")).ok
    await limits.remove("a")
    limits.close()
    assert proofs.group_residue(limits.residue("a")).ok


def test_the_limits_of_version_2_are_written_as_the_kernel_wants_them(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids")
    limits = Limits("tag", tmp_path)
    assert limits.version == "2"
    (folder,) = limits.make("a", vcpus=3, memory_mib=64)
    written = {path.name: path.read_text() for path in Path(folder).iterdir()}
    assert written == {"cpu.max": "300000 100000", "memory.max": "67108864", "pids.max": "8192"}
    assert limits.found("a", 1) == {}, "nothing is in force for a process that is not a member"


def test_facts_with_a_path_for_a_name_are_left_out() -> None:
    wanted = spec("a", keys(1, Key()))
    wanted.facts["../../escape"] = "x"
    assert "../../escape" not in facts_of(wanted)
    assert facts_of(wanted)["sku"] == "h100.1x"


def test_the_least_recently_used_comes_first_also_after_a_restart(tmp_path: Path) -> None:
    recency = Recency(tmp_path / "ports.json", range(10, 14))
    for number in (10, 11, 12, 13, 11):
        recency.touch(number)
    assert list(recency.order()) == [10, 12, 13, 11]
    assert list(Recency(tmp_path / "ports.json", range(10, 15)).order()) == [14, 10, 12, 13, 11]
    (tmp_path / "ports.json").write_text("torn")
    assert list(Recency(tmp_path / "ports.json", range(10, 12)).order()) == [10, 11]


def test_a_port_in_use_is_told_from_a_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert try_listen("127.0.0.1", taken.getsockname()[1]) is None
