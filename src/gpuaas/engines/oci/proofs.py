"""Proofs of a removal: checks for each kind of leftover, with the findings."""

import contextlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from gpuaas.engines.node import flows, processes
from gpuaas.wire.environments import ProofItem

LISTENING = "0A"


def item(name: str, residue: list[str], looked: str) -> ProofItem:
    return ProofItem(item=name, ok=not residue, evidence=f"left: {', '.join(residue)}" if residue else looked)


def process_residue(uids: Collection[int], seen: list[tuple[int, str]]) -> ProofItem:
    """Check processes by uid if the range belongs to the environment, and by pid for those seen in it."""
    left = {pid for pid, birth in seen if birth and processes.born(pid) == birth and not processes.has_ended(pid)}
    left |= set(processes.of_uids(uids)) if uids else set()
    looked = f"none with uid {_words(uids)}; " if uids else ""
    return item("processes", [str(pid) for pid in sorted(left)], f"{looked}all {len(seen)} seen inside have ended")


def file_residue(folder: Path, *, kept: str = "") -> ProofItem:
    """Check files. `kept` may stay: the record of a removal that is not proven yet."""
    if kept:
        left = [str(path) for path in _entries(folder) if path.name != kept]
        return item("files", left, f"only {kept} of {folder.name} is kept, until the rest is gone")
    return item("files", [str(folder)] if os.path.lexists(folder) else [], f"{folder.name} is gone from disk")


def mount_residue(folder: Path) -> ProofItem:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    left = [line.split()[4] for line in lines if str(folder) in line]
    return item("mounts", left, f"none of {len(lines)} mounts names it")


def device_residue(folder: Path) -> ProofItem:
    """Check loop devices: one keeps a disk image with its data after the file was deleted."""
    left = []
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(FileNotFoundError):
            if path.read_text().startswith(f"{folder}/"):
                left.append(f"/dev/{path.parts[3]}")
    return item("devices", left, "no loop device has its disk")


def port_residue(port: int | None, pids: Iterable[int]) -> ProofItem:
    """Check the port; other programs than these processes may have taken it meanwhile."""
    if port is None:
        return item("port", [], "it had none")
    listeners = set(_listeners(port))
    left = [f"process {pid} still listens on {port}" for pid in pids if listeners & _sockets(pid)]
    return item("port", left, f"nobody here listens on {port}")


def network_residue(residue: list[str], address: str) -> ProofItem:
    found = flows.of(address)
    live = [line for line in found if "ESTABLISHED" in line]
    return item(
        "network",
        residue + [f"live flow of {address}" for _ in live],
        f"no namespace, no interface, no live flow of {address} ({len(found)} closing)",
    )


def uid_residue(uids: Collection[int]) -> ProofItem:
    """Check that no process and no shared memory has its ids. Its files were deleted with its root disk."""
    left = [f"process {pid}" for pid in processes.of_uids(uids)]
    for kind in ("shm", "sem", "msg"):
        for line in _lines(Path(f"/proc/sysvipc/{kind}"))[1:]:
            left += [f"{kind} {line.split()[1]}"] if any(int(w) in uids for w in line.split() if w.isdigit()) else []
    return item("uid", left, f"{_words(uids)} owns no process and no memory segment")


def shared_memory_residue(uids: Collection[int]) -> ProofItem:
    left = [str(path) for path in _entries(Path("/dev/shm")) if path.lstat().st_uid in uids]  # noqa: S108
    return item("shared_memory", left, "the node has no file of it in /dev/shm; its own was removed with its mounts")


def volumes_whole(volumes: tuple[str, ...], gone: list[str]) -> ProofItem:
    """Check that data of volumes still exists."""
    looked = f"{len(volumes)} are unmounted, and their data exists" if volumes else "none was mounted"
    return ProofItem(item="volumes", ok=not gone, evidence=f"data is gone: {', '.join(gone)}" if gone else looked)


def group_residue(residue: list[str]) -> ProofItem:
    return item("control_groups", residue, "none by its name")


def _words(uids: Collection[int]) -> str:
    if isinstance(uids, range):
        return f"{uids[0]} to {uids[-1]}"
    return " or ".join(str(uid) for uid in sorted(uids))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


def _listeners(port: int) -> list[str]:
    """Inodes of listening sockets on a port, from the kernel's table."""
    inodes = []
    for path in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in _lines(path)[1:]:
            words = line.split()
            if words[3] == LISTENING and int(words[1].rsplit(":", 1)[1], 16) == port:
                inodes.append(words[9])
    return inodes


def _sockets(pid: int) -> set[str]:
    """Inodes of the sockets that a process has; raises when it cannot be looked at, unless it is gone."""
    found = set()
    for path in _entries(Path(f"/proc/{pid}/fd")):
        try:
            target = str(path.readlink())
        except FileNotFoundError:
            continue  # the descriptor of this very listing
        if target.startswith("socket:["):
            found.add(target.removeprefix("socket:[").removesuffix("]"))
    return found
