"""Tests the guarantees of a storage backend with real processes; a separate program, using only the standard library.

    storage_trial.py image|served|folder FOLDER IMAGE

The file system of the image, or the folder served by a daemon, is mounted on the folder first, visible only to this
program.
"""

# ruff: noqa: PTH102, PTH104, PTH107, PTH116, PTH123, PTH208 (plain strings start faster)

import contextlib
import errno
import fcntl
import json
import os
import signal
import sys
from collections.abc import Callable

from gpuaas.engines.node import kernel
from gpuaas.engines.storage import mounting, serving

WRITERS, LINES, MOUNTS = 4, 200, 16
BLOCK = 1 << 20
STRANGER = 65_534
HOLDER, IDS = 1000, 65_536
RANGES = (1_890_000_000, 1_890_100_000)  # of two fictitious environments
Evidence = tuple[bool, str]


def side_by_side(count: int, work: Callable[[int], None]) -> bool:
    """Run each in a separate process; return whether all succeeded."""
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(number)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    ends = [os.waitpid(child, 0)[1] for child in children]
    return not any(ends)


def concurrent_writers(folder: str) -> Evidence:
    path = f"{folder}/appended"

    def work(number: int) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for line in range(LINES):
            os.write(descriptor, f"{number}-{line}".ljust(127).encode() + b"\n")

    ended = side_by_side(WRITERS, work)
    with open(path) as file:
        lines = [line.strip() for line in file]
    wanted = {f"{number}-{line}" for number in range(WRITERS) for line in range(LINES)}
    whole = ended and len(lines) == len(wanted) and set(lines) == wanted
    return whole, f"{WRITERS} processes appended {len(lines)} of {len(wanted)} lines to one file"


def locks(folder: str) -> Evidence:
    path = f"{folder}/counter"
    with open(path, "w") as file:
        file.write("0")

    def work(_: int) -> None:
        for _ in range(LINES):
            with open(path, "r+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                count = int(file.read() or "0")
                file.seek(0)
                file.write(str(count + 1))
                file.flush()

    ended = side_by_side(WRITERS, work)
    with open(path) as file:
        found = int(file.read())
    return ended and found == WRITERS * LINES, f"a counter under one lock came to {found} of {WRITERS * LINES}"


def visibility(folder: str) -> Evidence:
    def work(number: int) -> None:
        if number == 0:
            for turn in range(LINES):
                with open(f"{folder}/turn.new", "w") as file:
                    file.write(str(turn))
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(f"{folder}/turn.new", f"{folder}/turn")
            return
        last = -1
        while last < LINES - 1:
            with contextlib.suppress(FileNotFoundError), open(f"{folder}/turn") as file:
                seen = int(file.read())
                if seen < last:
                    raise ValueError("an older state came back")
                last = seen

    ok = side_by_side(2, work)
    return ok, f"{LINES} replaced files were seen by another process, none half and none out of order"


def quota(folder: str, *, is_image: bool) -> Evidence:
    path, written = f"{folder}/filled", 0
    free = os.statvfs(folder)
    try:
        with open(path, "wb") as file:
            while written < (free.f_frsize * free.f_blocks * 2 if is_image else 8 * BLOCK):
                file.write(os.urandom(BLOCK))
                file.flush()
                written += BLOCK
            os.fsync(file.fileno())
        is_refused = False
    except OSError as error:
        is_refused = error.errno in (errno.ENOSPC, errno.EDQUOT)
    used = os.stat(path).st_blocks * 512
    os.remove(path)
    if is_image:
        return is_refused, f"a write beyond the size was {'refused' if is_refused else 'taken'} after {used} bytes"
    honest = abs(used - written) <= BLOCK
    return honest, f"measured, not enforced: {written} bytes written, {used} measured"


def project_isolation(folder: str) -> Evidence:
    closed = f"{folder}/closed"
    os.mkdir(closed, 0o700)
    with open(f"{closed}/secret", "w") as file:
        file.write("1")

    def work(_: int) -> None:
        os.setgroups([])
        os.setgid(STRANGER)
        os.setuid(STRANGER)
        with contextlib.suppress(PermissionError):
            os.listdir(closed)
            raise ValueError("another uid listed a volume")
        with contextlib.suppress(PermissionError), open(f"{closed}/secret"):
            raise ValueError("another uid read a volume")

    return side_by_side(1, work), "another uid could neither list nor read a volume's folder"


def many_mounts(folder: str) -> Evidence:
    os.mkdir(f"{folder}/seen")

    def work(number: int) -> None:
        kernel.unshare_mounts()
        target = f"{folder}/at-{number}"
        os.mkdir(target)
        kernel.place_at(kernel.clone_tree(f"{folder}/seen"), target)
        with open(f"{target}/{number}", "w") as file:
            file.write(str(number))

    ok = side_by_side(MOUNTS, work)
    found = len(os.listdir(f"{folder}/seen"))
    return ok and found == MOUNTS, f"{found} of {MOUNTS} mounts in separate namespaces wrote to one volume"


def node_loss(folder: str) -> Evidence:
    """A writer is killed while it holds the lock, in the middle of a line."""
    path = f"{folder}/journal"
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.lockf(held, fcntl.LOCK_EX)
        os.write(held, b"synced\n")
        os.fsync(held)
        os.write(held, b"half")
        os.write(tell, b"1")
        signal.pause()
    os.read(ready, 1)
    with open(path, "r+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            was_held = False
        except OSError:
            was_held = True
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        fcntl.lockf(file, fcntl.LOCK_EX)
        kept = file.read().startswith("synced\n")
    return was_held and kept, "a killed writer's lock was held until its death, then free; what it had synced was there"


def one_owner(folder: str, views: list[int], owner: int) -> Evidence:
    """A file of the holder in one environment belongs to the holder in another one."""
    os.mkdir(f"{folder}/owned", 0o700)
    os.chown(f"{folder}/owned", owner, owner)
    made = "owned/file"

    def work(_: int) -> None:
        with kernel.as_file_owner(RANGES[0] + HOLDER):
            os.close(os.open(made, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=views[0]))

    ended = side_by_side(1, work)
    owners = [os.stat(made, dir_fd=view).st_uid - first for view, first in zip(views, RANGES, strict=True)]
    ok = ended and owners == [HOLDER, HOLDER]
    return ok, f"a file of {HOLDER} in one environment belongs to {owners[1]} in another"


def view(folder: str, first: int, *, is_served: bool) -> int:
    """The folder as seen by an environment with this id range."""
    if is_served:
        return serving.serve(folder, "vol_trial", first - serving.FIRST_ID)
    tree = kernel.clone_tree(folder)
    mounting.idmap(tree, [mounting.VOLUME_UID - HOLDER, first, IDS])
    return tree


def main() -> None:
    kind, folder, image = sys.argv[1:]
    is_image, is_served = kind == "image", kind == "served"
    owner = serving.FIRST_ID + HOLDER if is_served else mounting.VOLUME_UID
    kernel.unshare_mounts()
    if is_image:
        kernel.place_at(mounting.mount_image(image), folder)
    views = [view(folder, first, is_served=is_served) for first in RANGES]
    if is_served:
        tree = serving.serve(folder, "vol_trial", 0)
        kernel.unshare_mounts()  # the daemon would keep the mounts in its namespace and continue
        kernel.place_at(tree, folder)
    checks: dict[str, Callable[[str], Evidence]] = {
        "concurrent_writers": concurrent_writers,
        "locks": locks,
        "visibility": visibility,
        "quota": lambda where: quota(where, is_image=is_image),
        "project_isolation": project_isolation,
        "many_mounts": many_mounts,
        "node_loss": node_loss,
        "one_owner": lambda where: one_owner(where, views, owner),
    }
    for name, check in checks.items():
        try:
            ok, evidence = check(folder)
        except (OSError, ValueError) as error:
            ok, evidence = False, str(error)
        sys.stdout.write(json.dumps({"check": name, "ok": ok, "evidence": evidence}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
