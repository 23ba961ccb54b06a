"""Ends everything that real engines below a folder left on this machine, found without asking their code."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from gpuaas.engines.node.site import Site
from gpuaas.engines.oci.ids import CLAIMS, ids_of
from tests.patience import PATIENCE_SECONDS

PROC, NAMESPACES, INTERFACES, CGROUPS = (
    Path("/proc"),
    Path("/run/netns"),
    Path("/sys/class/net"),
    Path("/sys/fs/cgroup"),
)


def sweep(folder: Path) -> None:
    """Kill the processes of every engine in this folder, and remove its networks, rules and control groups."""
    for root in [Path(root) for root, below, _ in os.walk(folder) if prune(below)]:
        sweep_site(Site(root))


def prune(below: list[str]) -> bool:
    """Whether this is the folder of an engine; nothing below one is looked at, and no file system that is dead."""
    is_engine = "environments" in below
    below[:] = [] if is_engine else below
    return is_engine


def sweep_site(site: Site) -> None:
    claims = [claim for claim in CLAIMS.glob("*") if claim.readlink() == site.root]
    for pid in processes_of(site, [ids_of(int(claim.name)) for claim in claims]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for claim in claims:
        claim.unlink()
    subprocess.run(["umount", "--lazy", str(site.root / "lxcfs" / "mount")], check=False, capture_output=True)
    for path in NAMESPACES.glob(f"gpuaas-{site.tag}-*"):
        subprocess.run(["ip", "netns", "del", path.name], check=False)
    for path in INTERFACES.glob(f"g{site.tag}-*"):
        subprocess.run(["ip", "link", "del", path.name], check=False, capture_output=True)
    subprocess.run(["nft", "delete", "table", "inet", f"gpuaas_{site.tag}"], check=False, capture_output=True)
    for pattern in (f"gpuaas-{site.tag}/**/", f"*/gpuaas-{site.tag}/**/"):
        for path in sorted(CGROUPS.glob(pattern), reverse=True):
            remove_group(path)


def remove_group(path: Path) -> None:
    """Its last process may still be ending."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while path.exists():
        try:
            path.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def processes_of(site: Site, ids: list[range]) -> Iterator[int]:
    for pid in [path for path in PROC.iterdir() if path.name.isdigit()]:
        if str(site.root) in text_of(pid / "cmdline") or any(uid in each for uid in uids_of(pid) for each in ids):
            yield int(pid.name)


def uids_of(pid: Path) -> set[int]:
    lines = re.findall(r"^Uid:(.*)$", text_of(pid / "status"), re.MULTILINE)
    return {int(uid) for line in lines for uid in line.split()}


def text_of(path: Path) -> str:
    """Empty when it is gone."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
