"""A volume that was detached can be written by somebody else at once: nobody inside may keep a way to it.

Each keeper holds the volume in a way that the descriptors and mounts of processes do not show. It says `in`, waits for
a line, and then writes."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import AsyncIterator, Iterator

import asyncssh
import pytest
from _pytest.mark import ParameterSet

from gpuaas.engines.base import EngineError
from gpuaas.engines.storage.volumes import mentions
from gpuaas.wire.environments import EnvironmentState
from gpuaas.wire.storage import Backend, VolumeRef
from tests.engines.benches import Key, OciBench, eventually, ignore, keys, spec
from tests.engines.test_oci_root_inside_and_volumes import systemd_machine
from tests.engines.test_oci_storage import Machine, machine, new
from tests.interop.people import BOOTED
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PRELUDE = """
import ctypes, os, socket, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
FILES, FS, MOUNTS, MOVE, PRIVATE = 0x400, 0x200, 0x20000, 0x2000, 0x44000

def checked(result):
    assert result >= 0, os.strerror(ctypes.get_errno())
    return result

def copy():
    return checked(libc.syscall(428, -100, b"/data", 1))  # open_tree

def park(descriptor):
    ends = socket.socketpair()
    socket.send_fds(ends[0], [b"x"], [descriptor])
    os.close(descriptor)
    return lambda: socket.recv_fds(ends[1], 1, 1)[1][0]

def own_mounts():
    checked(libc.unshare(MOUNTS | FS))
    checked(libc.mount(b"none", b"/", None, PRIVATE, None))

def wait():
    print("in", flush=True)
    sys.stdin.readline()

def write(folder):
    os.close(os.open("late", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder))
    print("written", flush=True)

def in_thread(prepare):
    ready, go = threading.Event(), threading.Event()
    def work():
        folder = prepare()
        ready.set()
        go.wait()
        write(folder())
    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    wait()
    go.set()
    thread.join()

def opened():
    return os.open("/data", os.O_RDONLY)
"""
PLAIN = {
    "in flight": """
take = park(opened())
wait()
write(take())
""",
    "thread with descriptors of its own": """
def prepare():
    checked(libc.unshare(FILES))
    folder = opened()
    return lambda: folder
in_thread(prepare)
""",
}
AS_ROOT = {
    "namespace kept by a descriptor": """
made, told = os.pipe()
stay, leave = os.pipe()
child = os.fork()
if child == 0:
    os.close(leave)
    own_mounts()
    os.write(told, b"1")
    os.read(stay, 1)
    os._exit(0)
os.read(made, 1)
namespace = os.open(f"/proc/{child}/ns/mnt", os.O_RDONLY)
os.close(leave)
os.waitpid(child, 0)
wait()
checked(libc.setns(namespace, MOUNTS))
write(opened())
""",
    "thread with mounts of its own": """
def prepare():
    checked(libc.unshare(FILES))
    own_mounts()
    checked(libc.mount(b"/data", b"/mnt", None, MOVE, None))
    return lambda: os.open("/mnt", os.O_RDONLY)
in_thread(prepare)
""",
    "copy in flight": """
take = park(copy())
wait()
write(take())
""",
    "overlay": """
for folder in ("/data/upper", "/data/work", "/lower", "/over"):
    os.mkdir(folder)
layers = b"lowerdir=/lower,upperdir=/data/upper,workdir=/data/work"
checked(libc.mount(b"overlay", b"/over", b"overlay", 0, layers))
wait()
write(os.open("/over", os.O_RDONLY))
""",
    "overlay that is not mounted": """
for folder in ("/data/upper", "/data/work", "/lower"):
    os.mkdir(folder)
context = checked(libc.syscall(430, b"overlay", 0))  # fsopen, fsconfig, fsmount
for name, value in ((b"lowerdir", b"/lower"), (b"upperdir", b"/data/upper"), (b"workdir", b"/data/work")):
    checked(libc.syscall(431, context, 1, name, value, 0))
checked(libc.syscall(431, context, 6, None, None, 0))
folder = checked(libc.syscall(432, context, 0, 0))
os.close(context)
wait()
write(folder)
""",
    "mapped": """
tree = copy()
file = os.open("mapped", os.O_CREAT | os.O_RDWR, 0o644, dir_fd=tree)
os.ftruncate(file, 4096)
libc.mmap.restype = ctypes.c_void_p  # Python's own mmap keeps a descriptor
memory = libc.mmap(None, ctypes.c_size_t(4096), 3, 1, file, ctypes.c_long(0))
os.close(file)
os.close(tree)
wait()
ctypes.memmove(memory, b"late", 4)
print("written", flush=True)
""",
}
SAMPLE = (
    (Backend.LOCAL, "in flight"),
    (Backend.SHARED, "thread with descriptors of its own"),
    (Backend.LOCAL, "copy in flight"),
    (Backend.SHARED, "copy in flight"),
    (Backend.SHARED, "namespace kept by a descriptor"),
    (Backend.SHARED, "overlay"),
)


def keepers() -> Iterator[ParameterSet]:
    """`make test-lab` runs a sample."""
    for backend, how in itertools.product(Backend, (*PLAIN, *AS_ROOT)):
        yield pytest.param(backend, how, marks=() if (backend, how) in SAMPLE else pytest.mark.soak)


@pytest.fixture
async def here(real: OciBench, allocation_id: str, how: str) -> AsyncIterator[Machine]:
    made = await (machine if how in PLAIN else systemd_machine)(real, allocation_id)
    yield made
    await real.engine.remove(allocation_id, ignore)


@pytest.mark.parametrize(("backend", "how"), list(keepers()))
async def test_what_keeps_a_volume_is_no_way_to_it_once_it_is_detached(
    here: Machine, backend: Backend, how: str
) -> None:
    volume = await new(here.bench, backend)
    await here.attach(volume)
    await here.says(f"sudo chmod 777 /data; cat > ~/keep.py <<'X'\n{PRELUDE}{(PLAIN | AS_ROOT)[how]}\nX")
    sudo = "" if how in PLAIN else f"{BOOTED}; sudo "
    keeper = await here.way.connection.create_process(f"{sudo}python3 ~/keep.py")
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await keeper.stdout.readline()).strip() == "in", await keeper.stderr.read()
    with pytest.raises(EngineError, match="the volume is in use"):
        await here.detach(volume)
    await here.detach(volume, force=True)
    assert mentions(volume.volume_id) == []
    before = files_of(here, volume)
    with contextlib.suppress(BrokenPipeError, asyncssh.ConnectionLost):  # it has ended
        keeper.stdin.write("go\n")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await keeper.wait()
    assert files_of(here, volume) == before


def files_of(here: Machine, volume: VolumeRef) -> dict[str, bytes]:
    """Of a shared volume. A local one has no device any more, and nobody can reach its files."""
    if volume.backend is Backend.LOCAL:
        return {}
    folder = here.bench.shared / volume.volume_id / "data"
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("how", ["in flight"])
async def test_an_environment_that_was_stopped_to_detach_a_volume_boots_again(here: Machine, how: str) -> None:
    volume = await new(here.bench, Backend.SHARED)
    await here.attach(volume)
    await here.says(f"cat > ~/keep.py <<'X'\n{PRELUDE}{PLAIN[how]}\nX")
    keeper = await here.way.connection.create_process("python3 ~/keep.py")
    assert (await keeper.stdout.readline()).strip() == "in"
    phases = list[str]()

    async def on_phase(phase: str, note: str) -> None:
        phases.append(f"{phase}: {note}")

    note = await here.bench.engine.mounts.detach(here.id, volume, "/data", force=True, on_phase=on_phase)
    assert note.startswith("the environment was stopped to detach it by force, because the volume is in use: something")
    assert phases[-1].startswith("environment_stopping: the volume is in use")

    async def is_stopped() -> bool:
        seen = next(one for one in await here.bench.engine.observe() if one.allocation_id == here.id)
        return seen.state is EnvironmentState.STOPPED

    await eventually(is_stopped)
    again = await here.bench.engine.ensure(spec(here.id, keys(1, Key())), ignore)
    assert again.state is EnvironmentState.RUNNING
    assert again.mounts == ()
