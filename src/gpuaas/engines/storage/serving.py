"""Shows a folder with mapped owners through bindfs, for file systems that the kernel cannot idmap (FUSE, NFS).

Uses only the standard library.
"""

# ruff: noqa: PTH102, PTH116, PTH123, PTH208 (plain strings start faster)

import contextlib
import os
import re
import resource
import time
from collections.abc import Sequence

from gpuaas.engines.node.kernel import (
    MNT_DETACH,
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_NOSYMFOLLOW,
    clone_tree,
    libc,
    mount,
    place_at,
    set_attributes,
    unshare_mounts,
)
from gpuaas.engines.storage.mount_lines import MountLine
from gpuaas.engines.storage.mounting import STAGE, Refused, born

TARGET = f"{STAGE}/to"
KIND = "bindfs"
FIRST_ID = 900_000_000
"""Root's owner id of a served volume on disk. bindfs can only add to ids, so it is below those of environments."""

START_SECONDS = 20.0
OPEN_FILES = 65_536  # the daemon opens the files that people open
OOM_SCORE = "300"  # OOM score: as sshd of connections, after sessions
RIGHTS = "-all,+chown,+dac_override,+dac_read_search,+fowner,+fsetid,+sys_admin"
NAME = re.compile(rf"{STAGE}/(?P<volume>vol_[0-9a-z]+)@(?P<pid>\d+)\.(?P<born>\d+)")


def serve(source: str, volume_id: str, offset: int, groups: Sequence[str] = ()) -> int:
    """A FUSE mount of the folder in which every id is `offset` higher. bindfs serves it and ends with the last mount.

    bindfs runs as root and resolves paths that another environment may change meanwhile, so it sees the folder through
    a mount that follows no links. `groups` are folders of control groups that limit it."""
    unshare_mounts()
    tree = clone_tree(source)
    set_attributes(tree, add=MOUNT_ATTR_NOSYMFOLLOW | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID)
    mount("stage", STAGE, "tmpfs", options="mode=700,size=64k")  # may hide files that were opened before
    os.mkdir(TARGET)
    said = os.memfd_create("said")
    daemon = os.fork()
    if daemon == 0:
        become_bindfs(tree, volume_id, offset, said, groups)
    release = keep_until_taken(daemon)
    try:
        wait_until_served(daemon, said)
        return clone_tree(TARGET)
    finally:
        os.close(release)


def become_bindfs(tree: int, volume_id: str, offset: int, said: int, groups: Sequence[str]) -> None:
    """bindfs names its mount after the folder. The name identifies the serving process, so that the mount of a dead
    process is recognised in the mount table."""
    try:
        os.setsid()
        os.chdir("/")
        nothing = os.open("/dev/null", os.O_RDWR)
        for number, descriptor in enumerate((nothing, said, said)):
            os.dup2(descriptor, number)
        write_file("/proc/self/oom_score_adj", OOM_SCORE)
        for folder in groups:
            write_file(f"{folder}/cgroup.procs", "0")
        source = f"{STAGE}/{volume_id}@{os.getpid()}.{born(os.getpid())}"
        os.mkdir(source)
        place_at(tree, source)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        os.closerange(3, most)  # the parent may have passed extra descriptors, such as its pipes
        few = min(most, OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))
        rights = ("--no-new-privs", "--inh-caps", "-all", "--bounding-set", RIGHTS)
        options = ("-f", "--multithreaded", "-o", f"subtype={KIND},big_writes")
        owners = (f"--uid-offset={offset}", f"--gid-offset={offset}")
        command = ("setpriv", *rights, "--", KIND, *options, *owners, source, TARGET)
        os.execvp(command[0], command)  # noqa: S606 (the engine's own command)
    except OSError as error:
        os.write(said, str(error).encode())
    finally:
        os._exit(1)


def keep_until_taken(daemon: int) -> int:
    """Start a process that removes the mount from the daemon's namespace after the descriptor is closed or this process
    died. Otherwise the daemon would keep its mount and run forever."""
    wait, release = os.pipe2(os.O_CLOEXEC)
    if os.fork() == 0:
        try:
            os.close(release)
            os.setsid()
            os.dup2(wait, 0)
            os.closerange(1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # keep no pipe of the caller open
            os.read(0, 1)
            if libc.umount2(TARGET.encode(), MNT_DETACH) < 0:
                os.kill(daemon, 9)
        finally:
            os._exit(0)
    os.close(wait)
    return release


def wait_until_served(daemon: int, said: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while os.stat(TARGET).st_dev == os.stat(STAGE).st_dev:
        if os.waitpid(daemon, os.WNOHANG)[0] or time.monotonic() > deadline:
            os.lseek(said, 0, os.SEEK_SET)
            raise Refused(f"bindfs does not serve the volume: {os.read(said, 500).decode(errors='replace').strip()}")
        time.sleep(0.002)


def daemons_of(volume_id: str, offset: int) -> list[int]:
    """Processes of the node that serve this volume to the environment with these ids."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = read_file(f"/proc/{name}/cmdline").split(b"\0")
            is_ours = os.stat(f"/proc/{name}").st_uid == 0 and f"--uid-offset={offset}".encode() in words
            if is_ours and any(word.startswith(f"{STAGE}/{volume_id}@".encode()) for word in words):
                found.append(int(name))
    return found


def write_file(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def served_volume(line: MountLine) -> tuple[str, bool] | None:
    """Parse a line of the mount table: the served volume, and whether its daemon runs."""
    found = NAME.fullmatch(line.source) if line.kind == f"fuse.{KIND}" else None
    return (found["volume"], is_alive(found["pid"], found["born"])) if found else None


def is_alive(pid: str, birth: str) -> bool:
    try:
        state, *words = read_file(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
    except OSError:
        return False
    return words[18].decode() == birth and state != b"Z"
