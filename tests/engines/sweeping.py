"""Ends everything that real engines below a folder left on this machine, found without asking their code."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from gpuaas.engines.oci.ids import CLAIMS
from gpuaas.engines.sandbox.site import UIDS_PER_BLOCK, Site

PROC, NAMESPACES, INTERFACES, CGROUPS = (
    Path("/proc"),
    Path("/run/netns"),
    Path("/sys/class/net"),
    Path("/sys/fs/cgroup"),
)


def sweep(folder: Path) -> None:
    """Kill the processes of every engine in this folder, and remove its networks, rules and control groups."""
    for lock in folder.rglob("lock"):
        if (lock.parent / "environments").is_dir():
            sweep_site(Site(lock.parent))


def sweep_site(site: Site) -> None:
    for claim in CLAIMS.glob("*"):
        if claim.readlink() == site.root:
            claim.unlink()
    for pid in processes_of(site):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for path in NAMESPACES.glob(f"gpuaas-{site.tag}-*"):
        subprocess.run(["ip", "netns", "del", path.name], check=False)
    for path in INTERFACES.glob(f"g{site.tag}-*"):
        subprocess.run(["ip", "link", "del", path.name], check=False, capture_output=True)
    subprocess.run(["nft", "delete", "table", "inet", f"gpuaas_{site.tag}"], check=False, capture_output=True)
    for pattern in (f"gpuaas-{site.tag}/**/", f"*/gpuaas-{site.tag}/**/"):
        for path in sorted(CGROUPS.glob(pattern), reverse=True):
            with contextlib.suppress(OSError):  # its last process may still be ending
                path.rmdir()


def processes_of(site: Site) -> Iterator[int]:
    for pid in [path for path in PROC.iterdir() if path.name.isdigit()]:
        if site.mark in text_of(pid / "cmdline") or f"{site.root}" in text_of(pid / "cmdline") or has_uid_of(site, pid):
            yield int(pid.name)


def has_uid_of(site: Site, pid: Path) -> bool:
    first = site.init_uid(0)
    return any(first <= uid < first + UIDS_PER_BLOCK for uid in uids_of(pid))


def uids_of(pid: Path) -> set[int]:
    lines = re.findall(r"^Uid:(.*)$", text_of(pid / "status"), re.MULTILINE)
    return {int(uid) for line in lines for uid in line.split()}


def text_of(path: Path) -> str:
    """Empty when it is gone."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
