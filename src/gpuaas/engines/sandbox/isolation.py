"""What keeps an environment apart, read from the kernel for its running pid 1; nothing here is taken on trust."""

import os

from gpuaas.engines.sandbox import processes
from gpuaas.engines.sandbox.nursery import INSIDE_UID
from gpuaas.wire.environments import Isolation

KINDS = {"mnt": "mount", "pid": "pid", "ipc": "ipc", "uts": "uts", "user": "user", "net": "network"}


def outside_uid(uid_map: str, inside: int) -> int:
    """A line of the map is: first inside, first outside, how many."""
    for line in uid_map.splitlines():
        first, outside, count = (int(number) for number in line.split())
        if first <= inside < first + count:
            return outside + inside - first
    return inside


def find(pid: int, limits: dict[str, str], uid: int = INSIDE_UID) -> Isolation:
    """`uid` is the person's as seen inside; without a user namespace that is the machine's own number."""
    here = os.getpid()
    own = tuple(name for kind, name in KINDS.items() if _differs(pid, here, kind))
    fields = processes.status(pid)
    has_no_new_privileges = fields.get("NoNewPrivs") == "1"
    missing = {name: "shared with the machine" for name in KINDS.values() if name not in own}
    if not has_no_new_privileges:
        missing["no_new_privileges"] = "the kernel does not report it"
    if int(fields.get("CapBnd", "f"), 16) != 0:
        missing["capabilities"] = f"the bounding set is {fields.get('CapBnd', 'unknown')}"
    for name in ("cpu", "memory", "pids"):
        if name not in limits:
            missing[f"limit:{name}"] = "this agent may not write control groups here"
    missing["limit:disk"] = "home and tmp share the node's disk"
    return Isolation(
        namespaces=own,
        uid=outside_uid((processes.PROC / str(pid) / "uid_map").read_text(), uid),
        network="own" if "network" in own else "shared",
        no_new_privileges=has_no_new_privileges,
        limits=limits,
        missing=missing,
    )


def _differs(pid: int, here: int, kind: str) -> bool:
    theirs = processes.namespace(pid, kind)
    return bool(theirs) and theirs != processes.namespace(here, kind)
