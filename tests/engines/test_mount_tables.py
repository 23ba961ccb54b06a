"""Mount tables of environments: root inside decides how large they are and what the folders in them are called."""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.devices import Devices
from gpuaas.engines.images.node_images import NodeImages
from gpuaas.engines.node.records import Records
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import liveness
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.environments import Observer, Running
from gpuaas.engines.storage import mount_lines
from gpuaas.engines.storage.mount_tables import MountTables
from gpuaas.wire.environments import EnvironmentState, Init, Mount
from gpuaas.wire.gateway import AccessState
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys, spec
from tests.engines.test_oci_storage import Machine, new

NAMES = ("plain", "a b", "tab\tand\nline", r"back\slash", r"\040", r"\134040", "#1", "é \\ \\")
VOLUME = b"7 1 7:1 / /data rw - ext4 /dev/loop1 rw\n"
MANY = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mount(b"tmpfs", b"/srv", b"tmpfs", 0, None) == 0
assert libc.mount(None, b"/srv", None, 1 << 18, None) == 0  # private, so that the kernel makes no copies of copies
os.chdir("/srv")
for _ in range(15):
    os.mkdir(" " * 255)
    os.chdir(" " * 255)
os.mkdir("a")
os.mkdir("b")
for _ in range(200):
    assert libc.mount(b"a", b"b", None, 4096, None) == 0
print("done")
"""


def escaped(name: str) -> bytes:
    """As the kernel writes it: only what would part words or lines, and the backslash."""
    return b"".join(b"\\%03o" % each if each in b" \t\n\\#" else bytes([each]) for each in name.encode())


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_read_as_it_was_given(name: str) -> None:
    table = b"1 0 8:1 /%b /%b rw,ro shared:1 - ext4 %b rw\n" % ((escaped(name),) * 3)
    (line,) = mount_lines.lines_of(table)
    assert (line.root, line.path, line.source) == (f"/{name}", f"/{name}", name)
    assert (line.id, line.device, line.kind, line.is_read_only) == ("1", "8:1", "ext4", True)


def test_a_table_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_bytes(VOLUME * 100)
    assert mount_lines.read_table(str(table), most=100 * len(VOLUME)) == VOLUME * 100
    with pytest.raises(mount_lines.TableTooLargeError, match="its mount table is larger than 0 MiB"):
        mount_lines.read_table(str(table), most=100 * len(VOLUME) - 1)


def test_lines_of_a_large_table_are_read_one_part_after_another(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    count = 3 * mount_lines.CHUNK // len(VOLUME)
    table.write_bytes(VOLUME * count)
    assert [line.path for line in mount_lines.all_lines(str(table))] == ["/data"] * count


def test_a_device_that_is_mounted_often_is_looked_up_once() -> None:
    asked = []

    def backing_file(device: str) -> str:
        asked.append(device)
        return "/n/vol_1/disk.img"

    shown = MountTables(Path("/n"), None, backing_file=backing_file).shown(VOLUME * 1000)
    assert (len(shown), asked) == (1000, ["7:1"])


class RecordingTables(MountTables):
    def __init__(self) -> None:
        super().__init__(Path("/n"), None)
        self.threads: list[threading.Thread] = []

    def reported(self, pid: int | None) -> list[Mount]:
        self.threads.append(threading.current_thread())
        return super().reported(pid)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path)
    found.open()
    yield found
    found.close()


async def test_no_mount_table_is_read_in_the_event_loop(site: Site) -> None:
    init = liveness.record(site.root, os.getpid())
    running = {"a": Running(init=init, boot=1, access=AccessState(allocation_id="a", is_open=True))}
    clock = partial(datetime.now, UTC)
    containers = Containers(site, NodeImages(site.root, now=clock), (), clock)
    tables = RecordingTables()
    observer = Observer(Records(site.environments), running, containers, Devices(), tables=tables)
    assert await observer.all() == []
    assert tables.threads
    assert threading.current_thread() not in tables.threads


async def test_mounts_in_a_table_that_is_too_large_are_unknown(real: OciBench, allocation_id: str) -> None:
    """Neither are they reported as gone, nor does the environment keep anybody from removing it."""
    ada = Key()
    made = await real.engine.ensure(
        msgspec.structs.replace(spec(allocation_id, keys(1, ada)), init=Init.SYSTEMD), ignore
    )
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    here, volume = Machine(real, allocation_id, made, way), await new(real)
    await here.attach(volume)
    # In the home directory: while systemd boots, it may still empty /tmp.
    assert await here.says(f"cat > ~/many.py <<'X'\n{MANY}\nX\nsudo python3 ~/many.py") == "done"
    seen = next(one for one in await real.engine.observe() if one.allocation_id == here.id)
    assert seen.state is EnvironmentState.UNKNOWN
    assert "its mount table is larger than 4 MiB" in seen.detail
    with pytest.raises(EngineError, match="mounts of the environment are unknown"):
        await here.attach(await new(real), "/mnt/second")
    items = await real.engine.remove(here.id, ignore)
    assert all(item.ok for item in items), items
    assert next(item.evidence for item in items if item.item == "volumes").startswith("1 are unmounted")
