"""What root inside can do, and what nobody inside can: each tried from inside, as root."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gpuaas.engines.node import capabilities
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import config
from gpuaas.engines.oci.ids import COUNT, HOLDER
from gpuaas.wire.environments import Isolation
from tests.engines.benches import Key, OciBench, ignore, keys, oci, spec
from tests.engines.openssh import OpenSsh

ID = "isolation"
PRIVATE = "a secret of the machine"
BLOCKED = (
    "mount -t tmpfs tmpfs /mnt",
    "mount --bind /tmp /mnt",
    "umount /etc/gpuaas",
    "umount /proc/meminfo",
    "mount -o remount,rw /etc/gpuaas",
    "mount -o remount,bind,rw /opt/gpuaas/runtimes",
    "touch /etc/gpuaas/x",
    "touch /opt/gpuaas/runtimes/x",
    "touch /opt/gpuaas/bin/x",
    "mv /etc/gpuaas /etc/mine",
    "rm -rf /etc/gpuaas",
    "ln -sfT /tmp /opt/gpuaas/runtimes",
    "unshare --mount true",
    "unshare --user true",
    "unshare --net true",
    "nsenter --target 1 --mount true",
    "hostname other",
    "sh -c ': > /proc/sys/kernel/hostname'",
    "sh -c ': >> /proc/sys/vm/drop_caches'",
    "sh -c ': >> /proc/sysrq-trigger'",
    "sh -c ': >> /sys/fs/cgroup/pids/pids.max'",
    "ip link add dummy0 type dummy",
    "ip addr add 192.0.2.99/32 dev eth0",
    "mknod /tmp/disk b 254 0",
    "dmesg",
    "renice -n -5 -p 1",
    "sh -c 'kill -9 1; ! kill -0 1'",
)
"""None of them would harm the node if it worked."""

CROWD = """
import errno, os, signal
children = []
try:
    while len(children) < 100:
        if not (pid := os.fork()): signal.pause()
        children.append(pid)
except OSError as error: print(errno.errorcode[error.errno])
for pid in children: os.kill(pid, 9)
"""
PERMITTED = (
    "touch /usr/x /etc/x /x",
    "chmod 700 /usr/local",
    "chroot / true",
    "useradd --system somebody",
    "chown somebody /x",
    "su somebody -s /bin/true",
    "python3 -c 'import socket; socket.create_server((str(), 80))'",
    "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'",
)


@pytest.fixture(scope="module")
async def ssh(oci_bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenSsh]:
    """One environment for all tests here, which leave it as it is."""
    ada = Key()
    environment = await oci_bench.engine.ensure(spec(ID, keys(1, ada)), ignore)
    yield OpenSsh(tmp_path_factory.mktemp("isolation"), environment, ada)
    await oci_bench.engine.remove(ID, ignore)


def isolation(ssh: OpenSsh) -> Isolation:
    assert ssh.environment.isolation is not None
    return ssh.environment.isolation


async def codes(ssh: OpenSsh, attempts: tuple[str, ...]) -> dict[str, int]:
    """How each of them ended, as root inside."""
    script = "".join(f"sudo {attempt} > /dev/null 2>&1 < /dev/null; echo $?\n" for attempt in attempts)
    outcome = await ssh.run("bash -s", text=script)
    return dict(zip(attempts, map(int, outcome.out.split()), strict=True))


def test_the_isolation_in_force_is_told(ssh: OpenSsh) -> None:
    told = isolation(ssh)
    assert {"mount", "pid", "ipc", "uts", "user", "network"} == set(told.namespaces)
    assert {"cpu", "memory", "pids", "disk"} == set(told.limits)
    assert (told.network, told.missing) == ("own", {})


async def test_every_namespace_is_its_own(ssh: OpenSsh) -> None:
    for kind in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"):
        assert await ssh.says(f"readlink /proc/self/ns/{kind}") != str(Path(f"/proc/self/ns/{kind}").readlink())


async def test_ids_inside_are_a_range_that_nobody_else_on_the_node_has(ssh: OpenSsh) -> None:
    first = isolation(ssh).uid - HOLDER
    for map in ("uid_map", "gid_map"):
        assert (await ssh.says(f"cat /proc/self/{map}")).split() == ["0", str(first), str(COUNT)]
    assert first > 1_000_000
    assert (await ssh.says("id -u; sudo id -u")).split() == [str(HOLDER), "0"]


async def test_rights_are_those_of_a_container_and_of_one_who_may_reboot(ssh: OpenSsh) -> None:
    fields = "grep -E '^(NoNewPrivs|CapEff|CapBnd|Seccomp):' /proc/self/status"
    mask = f"{sum(1 << capabilities.NUMBERS[name] for name in capabilities.DOCKER_DEFAULT | {'CAP_SYS_BOOT'}):016x}"
    holder, root = [
        dict(line.split() for line in (await ssh.says(f"{who}{fields}")).splitlines()) for who in ("", "sudo ")
    ]
    assert holder == {"CapEff:": "0" * 16, "CapBnd:": mask, "NoNewPrivs:": "0", "Seccomp:": "2"}
    assert root == {**holder, "CapEff:": mask}


async def test_root_inside_cannot_leave_or_change_what_is_the_platforms(ssh: OpenSsh) -> None:
    before = await ssh.says("cat /proc/self/mountinfo | wc -l; ls /etc/gpuaas /opt/gpuaas")
    found = await codes(ssh, BLOCKED)
    assert [attempt for attempt, code in found.items() if code in (0, 126, 127)] == []
    assert await ssh.says("cat /proc/self/mountinfo | wc -l; ls /etc/gpuaas /opt/gpuaas") == before


async def test_root_inside_is_root_of_everything_else(ssh: OpenSsh) -> None:
    assert await codes(ssh, PERMITTED) == dict.fromkeys(PERMITTED, 0)
    assert await ssh.says("stat -c %U:%G /usr/x /x") == "root:root\nsomebody:root"


async def test_a_socket_to_the_hypervisor_is_refused_at_its_creation(ssh: OpenSsh) -> None:
    attempt = "import socket\ntry: socket.socket(socket.AF_VSOCK, {})\nexcept OSError as error: print(error.errno)"
    for kind in ("socket.SOCK_STREAM", "socket.SOCK_DGRAM"):
        assert await ssh.says(f'sudo python3 -c "{attempt.format(kind)}"') == "97"  # EAFNOSUPPORT


async def test_devices_are_the_harmless_ones_and_its_gpus(ssh: OpenSsh) -> None:
    devices = "for one in $(find /dev -not -type d); do ! [ -c $one -o -b $one ] || echo $one; done"
    harmless = {f"/dev/{name}" for name in ("full", "null", "random", "tty", "urandom", "zero", "ptmx", "pts/ptmx")}
    links = {"/dev/stdin", "/dev/stdout", "/dev/stderr"}
    assert set((await ssh.says(devices)).split()) - harmless - links == {"/dev/gpuaas-simulated0"}


async def test_nothing_of_the_machine_or_platform_is_visible(oci_bench: OciBench, ssh: OpenSsh) -> None:
    secret = oci_bench.root.parent / "secret"
    secret.write_text(PRIVATE)
    visible = (await ssh.says("sudo ls -A / /home /root")).split()
    assert set(visible) <= {
        *("bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "platform", "proc", "root"),
        *("run", "sbin", "srv", "sys", "tmp", "usr", "var", "/:", "/home:", "/root:", "ada", ".bashrc"),
        *(".profile", "x"),
    }
    for path in (oci_bench.root, secret, Path("/work"), Path("/var/lib/gpuaas"), Path("/run/gpuaas")):
        assert (await ssh.run(f"sudo test -e {path}")).code == 1, path
    assert await ssh.says("ls -A /platform | wc -l") == "0"


async def test_environments_share_no_secret_of_their_image(ssh: OpenSsh) -> None:
    assert await ssh.says("sudo find /etc/ssh -name 'ssh_host*'") == ""
    assert await ssh.says("cat /etc/machine-id") == ""
    assert await ssh.says("sudo awk -F: '$2 !~ /^[!*]/' /etc/shadow") == ""


async def test_temporary_folders_and_memory_are_its_own(ssh: OpenSsh) -> None:
    marker = f"gpuaas-{ID}-{os.getpid()}"
    await ssh.says(f"touch /tmp/{marker} /var/tmp/{marker} /dev/shm/{marker}; rm /tmp/{marker}")
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108 (the machine's own, where nothing may appear)
        assert not Path(folder, marker).exists()


async def test_an_environment_full_of_processes_refuses_one_more_and_lives_on(
    oci_bench: OciBench, ssh: OpenSsh
) -> None:
    most = Limits(Site(oci_bench.root).tag).folders(ID)["pids"] / "pids.max"
    limit = most.read_text()
    assert int(limit) == config.tasks(1)
    most.write_text("24")
    try:
        assert await ssh.says(f'python3 -c "{CROWD}"') == "EAGAIN"
    finally:
        most.write_text(limit)
    assert await ssh.says("echo alive") == "alive"


async def test_two_engines_on_one_machine_do_not_meet(
    oci_bench: OciBench, ssh: OpenSsh, port_ranges: Iterator[range]
) -> None:
    async with oci(ports=next(port_ranges)) as other:
        there = await other.engine.ensure(spec(ID, keys(1, Key())), ignore)
        assert there.isolation is not None
        assert abs(there.isolation.uid - isolation(ssh).uid) >= COUNT
        await other.engine.remove(ID, ignore)
    seen = [one for one in await oci_bench.engine.observe() if one.allocation_id == ID]
    assert seen == [ssh.environment]
    assert await ssh.says("free -m | grep -c Mem") == "1", "its view of the memory is not the other's"
