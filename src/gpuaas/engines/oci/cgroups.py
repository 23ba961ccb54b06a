"""Control groups of a running process, in every hierarchy of cgroup v1 or v2 that the node has."""

import os
from pathlib import Path

from gpuaas.engines.base import EngineError


def folders_of(pid: int) -> tuple[str, ...]:
    mounted = _mounts()
    found = []
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if path != "/" and (root := mounted.get(names)) is not None:
            found.append(f"{root}{path}")
    return tuple(found)


def hand_over(pid: int, owner: int) -> None:
    """systemd makes groups below its own. It cannot change its limits: their files are not handed over."""
    mounted = _mounts().get("")
    if mounted is None:
        raise EngineError("this node cannot offer systemd", "cgroup v2 is not mounted")
    path = next(
        line.split(":", 2)[2] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line[0] == "0"
    )
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(f"{mounted}{path}/{name}", owner, owner)


def _mounts() -> dict[str, str]:
    """Controllers as /proc/<pid>/cgroup names them → where their hierarchy is mounted."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = (*after.split(" "), "", "")[:3]
        if kind == "cgroup2":
            found[""] = before.split(" ")[4]
        elif kind == "cgroup":
            known = [each for each in options.split(",") if each in _controllers() or each.startswith("name=")]
            found[",".join(known)] = before.split(" ")[4]
    return found


def _controllers() -> frozenset[str]:
    lines = Path("/proc/cgroups").read_text().splitlines()[1:]
    return frozenset(line.split("\t")[0] for line in lines)
