"""Everything that one engine has on its node, found without asking the engine: compared before and after a test."""

import contextlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuaas.engines.node.site import Site
from gpuaas.engines.oci.ids import CLAIMS, ids_of
from tests.engines.sweeping import CGROUPS, INTERFACES, NAMESPACES, PROC, text_of, uids_of

LISTENING = "0A"
NAMESPACE = re.compile(r"(mnt|net|pid|user|ipc|uts|cgroup):\[\d+\]")
FOLDERS = ("environments", "runc", "connections", "terminals", "gateway", "staging")
"""Below an engine's folder: what environments, containers, connections and bundles in the making leave."""


@dataclass(frozen=True)
class Footprint:
    """Lines, each of which begins with its kind; how often each was found."""

    lines: Counter[str]

    def differences(self, later: "Footprint") -> list[str]:
        left, gone = later.lines - self.lines, self.lines - later.lines
        return [f"left: {line}" for line in left.elements()] + [f"gone: {line}" for line in gone.elements()]


@dataclass(frozen=True)
class Ground:
    """Where an engine leaves its footprint. `mounts` is the mount table of its node."""

    site: Site
    ports: range
    mounts: Path = PROC / "self" / "mountinfo"

    def look(self) -> Footprint:
        return Footprint(Counter(line for looked in LOOKS for line in looked(self)))

    @property
    def root(self) -> str:
        return str(self.site.root)

    def ids(self) -> list[range]:
        return [ids_of(int(claim.name)) for claim in CLAIMS.glob("*") if _target(claim) == self.root]


def _target(link: Path) -> str:
    """Empty when another engine has just removed it."""
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""


def processes(ground: Ground) -> Iterator[str]:
    """By control group, id and command line; and the namespaces that the engine's own processes hold open."""
    ids = ground.ids()
    for path in PROC.iterdir():
        if not path.name.isdigit() or re.search(r"^State:\s+Z", text_of(path / "status"), re.MULTILINE):
            continue
        command = text_of(path / "cmdline").replace("\0", " ").strip()
        group = re.search(rf"/gpuaas-{ground.site.tag}/([^/\n]+)", text_of(path / "cgroup"))
        if group or ground.root in command or any(uid in each for uid in uids_of(path) for each in ids):
            yield f"process {command}" + (f" in {group[1]}" if group else "")
        if ground.root in command:
            yield from (f"namespace {kind} held by {command}" for kind in held_namespaces(path))


def held_namespaces(process: Path) -> Iterator[str]:
    try:
        for path in (process / "fd").iterdir():
            if found := NAMESPACE.fullmatch(str(path.readlink())):
                yield found[1]
    except OSError:
        return  # it has just ended


def mounts(ground: Ground) -> Iterator[str]:
    """Of its files, and namespaces that were kept by a mount."""
    for line in text_of(ground.mounts).splitlines():
        if ground.root in line or " - nsfs " in line:
            yield f"mount {line.split()[4]}"


def loop_devices(ground: Ground) -> Iterator[str]:
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        if str(ground.site.root.parent) in (file := text_of(path).strip()):
            yield f"loop device of {file}"


def networks(ground: Ground) -> Iterator[str]:
    yield from (f"interface {path.name}" for path in INTERFACES.glob(f"g{ground.site.tag}-*"))
    yield from (f"network namespace {path.name}" for path in NAMESPACES.glob(f"*{ground.site.tag}*"))


def rules(ground: Ground) -> Iterator[str]:
    """Without numbers that the kernel gives, and without counts."""
    command = ["nft", "-j", "list", "table", "inet", f"gpuaas_{ground.site.tag}"]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    for item in json.loads(found.stdout)["nftables"] if found.returncode == 0 else ():
        for kind, content in item.items():
            kept = {name: value for name, value in content.items() if name not in ("handle", "elem")}
            if kind != "metainfo":
                yield f"nft {kind} {json.dumps(kept, sort_keys=True)}"


def control_groups(ground: Ground) -> Iterator[str]:
    """Of every controller; the engine's own above them stays."""
    for pattern in (f"gpuaas-{ground.site.tag}/*/**/", f"*/gpuaas-{ground.site.tag}/*/**/"):
        yield from (f"control group {path}" for path in CGROUPS.glob(pattern))


def id_ranges(ground: Ground) -> Iterator[str]:
    yield from (f"id range {ids}" for ids in ground.ids())


def shared_memory(ground: Ground) -> Iterator[str]:
    ids = ground.ids()
    for path in Path("/dev/shm").iterdir():  # noqa: S108 - only looked at
        with contextlib.suppress(FileNotFoundError):  # of another program, and just removed
            if any(path.lstat().st_uid in each for each in ids):
                yield f"shared memory {path.name}"


def files(ground: Ground) -> Iterator[str]:
    for name in FOLDERS:
        folder = ground.site.root / name
        yield from (f"file {path}" for path in (*folder.glob("*"), *folder.glob("*/*")))


def ports(ground: Ground) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        for line in text_of(PROC / "net" / table).splitlines()[1:]:
            words = line.split()
            port = int(words[1].rsplit(":", 1)[1], 16)
            if words[3] == LISTENING and port in ground.ports:
                yield f"port {port}"


LOOKS = (*(processes, mounts, loop_devices, networks, rules, control_groups, id_ranges, shared_memory, files, ports),)
