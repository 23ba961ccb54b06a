"""What a person inside cannot do, each tried from inside; and that the checks would notice if they could."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gpuaas.core.settings import default_data_folder
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.site import Site
from gpuaas.main.agent import platform_folders
from tests.engines.benches import ORDINARY_UID, Key, SandboxBench, ignore, keys, sandbox, spec
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS

PRIVATE = "a secret of the machine"


@pytest.fixture
async def ssh(real: SandboxBench, allocation_id: str, tmp_path: Path) -> AsyncIterator[OpenSsh]:
    ada = Key()
    environment = await real.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    yield OpenSsh(tmp_path, environment, ada)
    await real.engine.remove(allocation_id, ignore)


async def test_the_isolation_in_force_is_told(real: SandboxBench, ssh: OpenSsh, request: pytest.FixtureRequest) -> None:
    isolation = ssh.environment.isolation
    assert isolation is not None
    assert {"mount", "pid", "ipc", "uts", "user"} <= set(isolation.namespaces)
    assert isolation.no_new_privileges
    assert isolation.uid != 0
    assert "limit:disk" in isolation.missing
    if "as root" in request.node.name:
        assert isolation.network == "own"
        assert {"cpu", "memory", "pids"} <= set(isolation.limits) | {
            name.removeprefix("limit:") for name in isolation.missing
        }
    else:
        assert isolation.network == "shared"
        assert isolation.uid == (os.geteuid() or ORDINARY_UID)
        assert "network" in isolation.missing


async def test_a_machine_full_of_processes_refuses_one_more_and_lives_on(
    root_bench: SandboxBench, allocation_id: str, tmp_path: Path
) -> None:
    ada = Key()
    environment = await root_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    ssh, group = OpenSsh(tmp_path, environment, ada), Limits(Site(root_bench.root).tag).folders(allocation_id)
    if "pids" not in group:
        pytest.skip("needs control groups")
    most = group["pids"] / "pids.max"
    limit = most.read_text()
    most.write_text("1")  # its first process is that one
    assert "refused" in (await ssh.run("true")).err
    most.write_text(limit)
    assert await ssh.says("echo alive") == "alive"
    await root_bench.engine.remove(allocation_id, ignore)


async def test_the_person_has_no_privileges(ssh: OpenSsh) -> None:
    status = await ssh.says("grep -E '^(NoNewPrivs|Cap)' /proc/self/status")
    fields = dict(line.split() for line in status.splitlines())
    assert fields.pop("NoNewPrivs:") == "1"
    assert set(fields.values()) == {"0000000000000000"}
    assert await ssh.says("id -u") == "1000"


@pytest.mark.parametrize(
    "attempt",
    [
        "unshare --user --map-root-user id",
        "su -c id root < /dev/null",
        "mount -t tmpfs tmpfs /mnt",
        "mount -o remount,rw /usr",
        "chroot / id",
        "nsenter --target 1 --mount id",
        "echo x > /proc/sys/kernel/hostname",
        "hostname other",
        "kill -9 1 && ! kill -0 1",
        "cat /proc/1/environ",
        "ls /proc/1/fd",
        "touch /usr/x",
        "touch /etc/x",
        "touch /x",
        "chmod 777 /",
        "ip link add dummy0 type dummy",
        "dd if=/dev/vda of=/dev/null count=1",
        "mknod /tmp/disk b 254 0",
        "cat /etc/shadow",
        "ls /root/.ssh",
        "sysctl -w kernel.core_pattern=x",
    ],
)
async def test_there_is_no_way_up(ssh: OpenSsh, attempt: str) -> None:
    outcome = await ssh.run(attempt)
    assert outcome.code not in (0, 255), outcome


async def test_a_setuid_program_gives_nothing(ssh: OpenSsh) -> None:
    """Every program with the bit set, asked for what it runs as: the mounts ignore the bit."""
    assert "nosuid" in await ssh.says("findmnt -no OPTIONS /usr")
    assert "nosuid" in await ssh.says("findmnt -no OPTIONS -T ~")
    script = "cp /usr/bin/id ~/id && chmod u+s ~/id && ~/id -u"
    assert await ssh.says(script) == "1000"


async def test_nothing_of_the_machine_or_platform_is_visible(real: SandboxBench, ssh: OpenSsh) -> None:
    real.root.parent.joinpath("secret").mkdir(exist_ok=True)
    (real.root.parent / "secret" / "file").write_text(PRIVATE)
    visible = (await ssh.says("ls -A /; ls -A /home /run /root 2>/dev/null; ls -A /tmp")).split()
    assert set(visible) <= {
        *("bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "mnt", "opt", "proc", "root", "run", "sbin"),
        *("srv", "sys", "tmp", "usr", "var", "/home:", "/run:", "/root:", "ada", "user", "gpuaas-reboot"),
    }
    for path in (
        real.root,
        real.root.parent / "secret",
        Path("/work"),
        Path("/var/lib"),
        Path("/proc/sys/../../root/x"),
    ):
        assert (await ssh.run(f"test -e {path}")).code == 1, path


async def test_no_private_file_of_etc_is_there(ssh: OpenSsh) -> None:
    names = (await ssh.says("cd /etc; find . -name '*shadow*' -o -name 'ssh_host*' -o -name 'sudoers*'")).split()
    assert names == []
    assert await ssh.says("cut -d: -f1 /etc/passwd") == "root\nada\nnobody"


async def test_temporary_folders_and_memory_are_its_own(ssh: OpenSsh, tmp_path: Path) -> None:
    marker = f"gpuaas-{ssh.environment.allocation_id}-{os.getpid()}"
    await ssh.says(f"touch /tmp/{marker} /var/tmp/{marker} /dev/shm/{marker}")
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108 (the machine's own, where nothing may appear)
        assert not Path(folder, marker).exists()


async def test_a_network_of_its_own_reaches_neither_neighbour_nor_machine(
    root_bench: SandboxBench, allocation_id: str, tmp_path: Path
) -> None:
    ada = Key()
    one, two = [
        OpenSsh(tmp_path, await root_bench.engine.ensure(spec(f"{allocation_id}{n}", keys(1, ada)), ignore), ada)
        for n in "pq"
    ]
    listener = (
        "import socket; s = socket.create_server(('0.0.0.0', 4321)); print('up', flush=True);"
        " [s.accept() for _ in iter(int, 1)]"
    )
    server = await two.spawn("ssh", *two.options(), two.target, f'python3 -c "{listener}"')
    assert server.stdout is not None
    await server.stdout.readline()
    neighbour = await two.says("hostname -I")
    gateway = await one.says("ip route show default | cut -d' ' -f3")
    with socket.create_server(("0.0.0.0", 0)) as service:  # noqa: S104 (the very thing that must not be reached)
        port = service.getsockname()[1]
        assert await reaches(two, "127.0.0.1", 4321)  # the check itself can succeed
        with socket.create_connection((neighbour.split()[0], 4321), timeout=5):
            pass  # and the machine can reach in, so it is the rules that keep the neighbour out
        assert not await reaches(one, neighbour.split()[0], 4321)
        for address in (gateway, "127.0.0.1", *_addresses_of_this_machine()):
            assert not await reaches(one, address, port), address
        assert not await reaches(one, "127.0.0.1", one.environment.port or 0)
    server.kill()
    await server.communicate()
    for ssh in (one, two):
        await root_bench.engine.remove(ssh.environment.allocation_id, ignore)


async def reaches(ssh: OpenSsh, address: str, port: int) -> bool:
    return (await ssh.run(f"timeout 1 bash -c 'exec 3<>/dev/tcp/{address}/{port}'")).code == 0


def _addresses_of_this_machine() -> set[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("203.0.113.1", 9))  # sends nothing: only asks which address would be used
        return {probe.getsockname()[0]}


async def test_the_way_out_is_translated(root_bench: SandboxBench, allocation_id: str, tmp_path: Path) -> None:
    """A machine beyond this one, in a namespace of the test's own, sees this machine and not the environment."""
    ada = Key()
    environment = await root_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    ssh, tag = OpenSsh(tmp_path, environment, ada), f"t{os.getpid()}"
    await ssh.outcome("ip", "netns", "add", tag)
    try:
        for line in (
            f"link add {tag} type veth peer name eth0 netns {tag}",
            f"addr add 198.51.100.1/30 dev {tag}",
            f"link set {tag} up",
            f"-n {tag} addr add 198.51.100.2/30 dev eth0",
            f"-n {tag} link set eth0 up",
        ):
            assert (await ssh.outcome("ip", *line.split())).code == 0, line
        Path(f"/proc/sys/net/ipv4/conf/{tag}/forwarding").write_text("1")
        code = (
            "import socket; s = socket.create_server(('0.0.0.0', 80)); print('up', flush=True); print(s.accept()[1][0])"
        )
        beyond = await ssh.spawn("ip", "netns", "exec", tag, "python3", "-c", code)
        assert beyond.stdout is not None
        await beyond.stdout.readline()
        assert await reaches(ssh, "198.51.100.2", 80)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await beyond.communicate())[0] == b"198.51.100.1\n"
    finally:
        await ssh.outcome("ip", "link", "del", tag)
        await ssh.outcome("ip", "netns", "del", tag)
        await root_bench.engine.remove(allocation_id, ignore)


async def test_two_engines_on_one_machine_do_not_meet(
    root_bench: SandboxBench, port_ranges: Iterator[range], allocation_id: str
) -> None:
    wanted = spec(allocation_id, keys(1, Key()))
    async with sandbox(uid=0, ports=next(port_ranges)) as other:
        here = await root_bench.engine.ensure(wanted, ignore)
        there = await other.engine.ensure(wanted, ignore)
        assert here.isolation is not None
        assert there.isolation is not None
        assert here.isolation.uid != there.isolation.uid
        await other.engine.remove(allocation_id, ignore)
    assert [one.state for one in await root_bench.engine.observe() if one.allocation_id == allocation_id] == ["running"]
    await root_bench.engine.remove(allocation_id, ignore)


def test_an_agent_hides_its_folder_and_the_platform_around_it_but_no_stranger(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    assert platform_folders(folder) == (folder,)
    (tmp_path / "master.key").touch()
    assert platform_folders(folder) == (folder, tmp_path)
    default = default_data_folder()
    assert platform_folders(default / "agent") == (default / "agent", default)
