"""Each kind of thing that an engine could leave on its node is found when it is planted."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from gpuaas.engines.node.site import Site
from gpuaas.engines.oci.ids import CLAIMS, IdRanges
from tests import footprints
from tests.engines.sweeping import CGROUPS, remove_group
from tests.footprints import Ground
from tests.residue import control_group_roots

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PORT = 29_990 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))  # all workers share one network
Plant = Callable[[Ground], AbstractContextManager[None]]


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    site = Site(tmp_path / "node")
    for name in footprints.FOLDERS:
        (site.root / name).mkdir(parents=True)
    ids = IdRanges(site.root)
    ids.open(site.seed)
    yield Ground(site, range(PORT, PORT + 1))
    ids.close()


@contextmanager
def running(*command: str, user: int | None = None, pass_fds: tuple[int, ...] = ()) -> Iterator[int]:
    process = subprocess.Popen(command, user=user, stdin=subprocess.PIPE, pass_fds=pass_fds)
    try:
        yield process.pid
    finally:
        process.kill()
        process.communicate()


@contextmanager
def by_command(ground: Ground) -> Iterator[None]:
    with running("sh", "-c", "read line", ground.root):
        yield


@contextmanager
def by_id(ground: Ground) -> Iterator[None]:
    with running("cat", user=ground.ids()[0][70_000]):
        yield


@contextmanager
def held_namespace(ground: Ground) -> Iterator[None]:
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    with running("sh", "-c", "read line", ground.root, pass_fds=(descriptor,)):
        os.close(descriptor)
        yield


@contextmanager
def group(ground: Ground, hierarchy: Path) -> Iterator[Path]:
    folder = hierarchy / f"gpuaas-{ground.site.tag}" / "left"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        remove_group(folder)
        folder.parent.rmdir()


@contextmanager
def control_group(ground: Ground) -> Iterator[None]:
    """Also of a controller by which nothing is limited, but in which the runtime makes one."""
    unlimited = [path for path in (CGROUPS / "freezer", CGROUPS / "devices") if path.is_dir()]
    with group(ground, (unlimited or control_group_roots())[0]):
        yield


@contextmanager
def by_group(ground: Ground) -> Iterator[None]:
    with group(ground, control_group_roots()[-1]) as folder, running("cat") as pid:
        (folder / "cgroup.procs").write_text(str(pid))
        yield


@contextmanager
def ran(*pairs: tuple[str, str]) -> Iterator[None]:
    """Each command, and at the end what undoes it."""
    for do, _ in pairs:
        subprocess.run(do.split(), check=True)
    try:
        yield
    finally:
        for _, undo in reversed(pairs):
            subprocess.run(undo.split(), check=True)


@contextmanager
def mount(ground: Ground) -> Iterator[None]:
    place = ground.site.root / "place"
    place.mkdir()
    with ran((f"mount -t tmpfs tmpfs {place}", f"umount {place}")):
        yield


@contextmanager
def kept_namespace(ground: Ground) -> Iterator[None]:
    place = ground.site.root.parent / "namespace"
    place.touch()
    with ran((f"mount --bind /proc/self/ns/net {place}", f"umount {place}")):
        yield


@contextmanager
def loop_device(ground: Ground) -> Iterator[None]:
    image = ground.site.root / "disk.img"
    image.write_bytes(bytes(1 << 20))
    device = subprocess.run(
        ["losetup", "--find", "--show", image], check=True, capture_output=True, text=True
    ).stdout.strip()
    image.unlink()  # its data stays for as long as the device has it
    with ran(("true", f"losetup --detach {device}")):
        yield


@contextmanager
def interface(ground: Ground) -> Iterator[None]:
    name = f"g{ground.site.tag}-7"
    with ran((f"ip link add {name} type veth peer name p{ground.site.tag}", f"ip link del {name}")):
        yield


@contextmanager
def network_namespace(ground: Ground) -> Iterator[None]:
    name = f"gpuaas-{ground.site.tag}-7"
    with ran((f"ip netns add {name}", f"ip netns del {name}")):
        yield


@contextmanager
def rule(ground: Ground) -> Iterator[None]:
    table = f"table inet gpuaas_{ground.site.tag}"
    with ran((f"nft add {table}", f"nft delete {table}")):
        yield


@contextmanager
def id_range(ground: Ground) -> Iterator[None]:
    """A second block of the same engine."""
    (taken,) = (path for path in CLAIMS.glob("*") if path.readlink() == ground.site.root)
    other = next(path for n in range(26) if not os.path.lexists(path := taken.with_name(str(n))))
    other.symlink_to(ground.site.root)
    try:
        yield
    finally:
        other.unlink()


@contextmanager
def shared_memory(ground: Ground) -> Iterator[None]:
    file = Path(f"/dev/shm/left-{ground.site.tag}")  # noqa: S108
    file.touch()
    os.chown(file, ground.ids()[0][70_000], -1)
    try:
        yield
    finally:
        file.unlink()


def file(name: str) -> Plant:
    """What conmon, the runtime or the gateway leave in their folders."""

    @contextmanager
    def planted(ground: Ground) -> Iterator[None]:
        path = ground.site.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        yield

    return planted


@contextmanager
def port(_: Ground) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", PORT)):
        yield


PLANTS: dict[str, tuple[str, Plant]] = {
    "a process by its command": ("process sh -c read line", by_command),
    "a process by its ids": ("process cat", by_id),
    "a process by its control group": ("process cat in left", by_group),
    "a namespace that is held open": ("namespace net held by", held_namespace),
    "a namespace kept by a mount": ("mount ", kept_namespace),
    "a mount": ("mount ", mount),
    "a loop device of an erased disk": ("loop device of", loop_device),
    "an interface": ("interface g", interface),
    "a network namespace": ("network namespace gpuaas-", network_namespace),
    "an nft table": ("nft table", rule),
    "a control group": ("control group", control_group),
    "an id range": ("id range", id_range),
    "shared memory": ("shared memory", shared_memory),
    "a waiting container": ("file ", file("runc/left/exec.fifo")),
    "an exit file": ("file ", file("environments/left/exits")),
    "a connection": ("file ", file("connections/left/connection.json")),
    "a terminal": ("file ", file("terminals/left.json")),
    "a session socket": ("file ", file("gateway/left/session.sock")),
    "a listening port": (f"port {PORT}", port),
}


@pytest.mark.parametrize("name", PLANTS)
def test_what_is_left_is_found(ground: Ground, name: str) -> None:
    words, plant = PLANTS[name]
    before = ground.look()
    with plant(ground):
        assert any(line.startswith(f"left: {words}") for line in before.differences(ground.look()))


def test_what_is_gone_is_found(ground: Ground) -> None:
    with by_command(ground):
        before = ground.look()
    assert [line[:22] for line in before.differences(ground.look())] == ["gone: process sh -c re"]
