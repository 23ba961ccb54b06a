"""Control groups of a running process, in every hierarchy of cgroup v1 or v2."""

import os
from pathlib import Path

from gpuaas.engines.base import EngineError

UNIFIED = ""  # cgroup v2, as /proc/<pid>/cgroup names it
INIT_SCOPE = "init.scope"  # the group that systemd creates for itself and expects at its start
MOST_GROUPS, DEEPEST = 1_000, 16  # below the delegated group; all groups of a node share 65,535 ids
DELEGATED = ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads")


def folders_of(pid: int) -> tuple[str, ...]:
    """The folders of the groups of a process, without the roots of hierarchies."""
    return tuple(_folders(pid).values())


def hand_over(pid: int, owner: int) -> None:
    """Delegate a group to systemd, which creates groups below it. The files of its limits are not delegated.

    Pid 1 starts in a leaf: with cgroup v2, a group with delegated controllers cannot contain processes, and
    sessions join the group of pid 1.
    """
    folder = _folders(pid).get(UNIFIED)
    if folder is None:
        raise EngineError("this node cannot offer systemd", "cgroup v2 is not mounted")
    Path(folder, "cgroup.max.descendants").write_text(str(MOST_GROUPS))
    Path(folder, "cgroup.max.depth").write_text(str(DEEPEST))
    leaf = Path(folder, INIT_SCOPE)
    leaf.mkdir()
    (leaf / "cgroup.procs").write_text(str(pid))
    for name in DELEGATED:
        os.chown(f"{folder}/{name}", owner, owner)
        os.chown(f"{leaf}/{name}", owner, owner)


def _folders(pid: int) -> dict[str, str]:
    mounted = _mounts()
    found = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        root, target = mounted.get(controllers, ("", ""))
        if target and path.startswith(root) and path != root:
            found[controllers] = f"{target}/{path.removeprefix(root).lstrip('/')}"
    return found


def _mounts() -> dict[str, tuple[str, str]]:
    """Controllers, as in /proc/<pid>/cgroup → mounted group and mount point; the last mount is on top."""
    known = {line.split("\t")[0] for line in Path("/proc/cgroups").read_text().splitlines()[1:]}
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = (*after.split(" "), "", "")[:3]
        words = before.split(" ")
        root, target = words[3].rstrip("/"), words[4]
        if kind == "cgroup2":
            found[UNIFIED] = (root, target)
        elif kind == "cgroup":
            named = [each for each in options.split(",") if each in known or each.startswith("name=")]
            found[",".join(named)] = (root, target)
    return found
