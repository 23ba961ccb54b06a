"""What a session may do, and what limits it."""

from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.node import capabilities, seccomp
from tests.gateway.node import ALLOCATION, Node

UNSHARE = "unshare --user true && echo made a user namespace"


async def test_a_session_has_no_rights_and_can_gain_only_those_of_the_environment(node: Node) -> None:
    only = (5, 6, 7)
    await node.sync(msgspec.structs.replace(node.access, capabilities=only))
    out = (await node.ssh("grep ^Cap /proc/self/status; sudo grep ^Cap /proc/self/status"))[1]
    sets = [line.split() for line in out.splitlines()]
    holder, root = dict(sets[:5]), dict(sets[5:])
    bounding = sum(1 << number for number in only)
    assert int(holder["CapEff:"], 16) == int(holder["CapPrm:"], 16) == int(holder["CapAmb:"], 16) == 0
    assert int(holder["CapBnd:"], 16) == int(root["CapEff:"], 16) == bounding


async def test_a_session_has_the_filter_of_its_environment(node: Node, tmp_path: Path) -> None:
    assert "made a user namespace" in (await node.ssh(UNSHARE))[1]
    path = tmp_path / "filter"
    path.write_bytes(seccomp.compile_bpf(seccomp.profile(capabilities.PLAIN)))
    await node.sync(msgspec.structs.replace(node.access, seccomp=str(path)))
    code, out, _ = await node.ssh(f"grep ^Seccomp: /proc/self/status; sudo id -u; {UNSHARE}")
    assert out.split() == ["Seccomp:", "2", "0"]
    assert code != 0


async def test_a_session_without_its_filter_does_not_run(node: Node) -> None:
    await node.sync(msgspec.structs.replace(node.access, seccomp="/nowhere"))
    code, out, error = await node.ssh("echo ran")
    assert (code, out) == (255, "")
    assert error.startswith("The session could not be started")


async def test_sessions_and_connections_join_their_control_groups(node: Node) -> None:
    root = next(path for path in (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")) if path.is_dir())
    inner, outer = root / "gateway-session", root / "gateway-connection"
    for folder in (inner, outer):
        folder.mkdir()
    try:
        groups = {"cgroups": (str(inner),), "connection_cgroups": (str(outer),)}
        await node.sync(msgspec.structs.replace(node.access, **groups))
        async with node.session(command="echo ready; read line") as live:
            await live.see("ready")
            assert (inner / "cgroup.procs").read_text().split()
            assert len((outer / "cgroup.procs").read_text().split()) >= 2
        await node.gateway.close_environment(ALLOCATION, "over")
        assert not (outer / "cgroup.procs").read_text().split()
    finally:
        await node.reset()
        for folder in (inner, outer):
            while True:
                try:
                    folder.rmdir()
                except OSError:
                    continue
                break


async def test_open_files_are_limited(node: Node) -> None:
    await node.sync(msgspec.structs.replace(node.access, open_files=123))
    assert (await node.ssh("ulimit -n; ulimit -Hn"))[1].split() == ["123", "123"]


async def test_a_banner_is_shown_to_login_shells_on_a_terminal_only(node: Node, tmp_path: Path) -> None:
    banner = tmp_path / "banner"
    banner.write_text("storage is nearly full\n")
    await node.sync(msgspec.structs.replace(node.access, banner=str(banner)))
    assert await node.ssh("echo quiet") == (0, "quiet\n", "")
    async with node.session("-tt") as live:
        await live.see("storage is nearly full")


async def test_an_image_without_sshd_is_said_in_the_answer(node: Node, tmp_path: Path) -> None:
    state = await node.sync(msgspec.structs.replace(node.access, image=str(tmp_path)))
    assert not state.is_open
    assert state.detail.startswith("the base image cannot be used")


@pytest.mark.parametrize("id", ["../escape", "", ".hidden", "a/b"])
async def test_an_id_is_never_a_path(node: Node, id: str) -> None:
    with pytest.raises(Exception, match="there is no such environment"):
        await node.gateway.sync(id)
