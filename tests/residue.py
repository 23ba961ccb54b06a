"""A test run has namespaces and a folder of its own, and fails if anything of it is left at its end.

A plugin of pytest, named in `tests/conftest.py`. As root the run enters private network and mount namespaces, so that
two runs on one machine never meet and everything found there at the end is a leftover of this run. Orphaned processes
become children of the pytest process (it is their subreaper) and are found there.
"""

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuaas.core.embedded import SYSTEM_USER
from gpuaas.engines.oci.ids import CLAIMS
from tests import postgres
from tests.orphans import OrphanReaper

RUN = "GPUAAS_TESTS_RUN"
HOST_NETWORK = "GPUAAS_TESTS_HOST_NETWORK"
"""Set it to run in the machine's own network, for a test that downloads something."""
CLONE_NEWNS, CLONE_NEWNET, PR_SET_CHILD_SUBREAPER = 0x0002_0000, 0x4000_0000, 36
GRACE_SECONDS = 20.0
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only looked at
DEFAULT_FOLDER = Path("/var/lib/gpuaas")
ENTER = """
set -e
mount --make-rprivate /
ip link set lo up
ip link add outside type veth peer name beyond
ip addr add 192.0.2.1/30 dev outside
ip link set outside up
ip link set beyond up
ip route add default via 192.0.2.2
mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
mount --make-shared /run/netns
# A sysfs of the new network. It replaces the old one as a whole: environments may mount only what they see whole.
mount -t sysfs sysfs "$1"
mount --rbind /sys/fs/cgroup "$1/fs/cgroup"
mount --move "$1" /sys
for root in "${@:3}"; do
    mkdir "$root/$2"
    mount --bind "$root/$2" "$root"
done
"""
BASELINE = pytest.StashKey["Baseline"]()
REAPER = pytest.StashKey[OrphanReaper]()


class Baseline:
    """What there was before the first test, and the folder of this run."""

    def __init__(self) -> None:
        self.id = os.environ[RUN] = secrets.token_hex(3)
        self.folder = Path(tempfile.mkdtemp(prefix=f"gpuaas-run-{self.id}-"))
        self.folder.chmod(0o755)
        self.is_isolated = HOST_NETWORK not in os.environ and isolate(self.folder, f"gpuaas-run-{self.id}")
        become_subreaper()
        os.environ["TMPDIR"] = str(self.folder)
        tempfile.tempdir = None  # read TMPDIR again
        self._mounts, self._users = mounts(), users()
        self._had_default_folder = DEFAULT_FOLDER.exists()

    def leftovers(self) -> list[str]:
        """Everything of this run that is still on the machine, after a while to let it end."""
        found: list[str] = []
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and (found := list(self._look())):
            time.sleep(0.1)
        return found

    def _look(self) -> Iterator[str]:
        yield from (f"process {pid}: {command}" for pid, command in descendants(os.getpid()))
        yield from (f"mount {path}" for path in sorted(self._new_mounts()))
        yield from (f"loop device {line}" for line in loop_devices(self.folder))
        yield from (f"system user {name}" for name in sorted(users() - self._users))
        yield from (f"id block {path.name}" for path in CLAIMS.glob("*") if str(self.folder) in str(path.readlink()))
        if DEFAULT_FOLDER.exists() and not self._had_default_folder:
            yield f"folder {DEFAULT_FOLDER}"
        yield from (f"folder {path}" for path in SHARED_MEMORY.glob(f"*{self.id}*"))
        if self.is_isolated:
            yield from (f"control group {path}" for path in control_groups())
            yield from (f"network namespace {path.name}" for path in Path("/run/netns").iterdir())
            yield from (f"network interface {name}" for name in interfaces() - BUILT_IN_INTERFACES)
            yield from (f"nft {table}" for table in output("nft", "list", "tables").splitlines())

    def _new_mounts(self) -> set[str]:
        """In the machine's own mount namespace others mount too: there only what is in our folder is ours."""
        new = mounts() - self._mounts
        return new if self.is_isolated else {path for path in new if path.startswith(str(self.folder))}

    def remove(self) -> None:
        """End what is left, so that a failed run leaves nothing either."""
        for pid, _ in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for path in sorted(self._new_mounts(), reverse=True):
            subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)
        for root in control_group_roots() if self.is_isolated else ():
            subprocess.run(["umount", str(root)], check=True)
            for group in sorted((root / f"gpuaas-run-{self.id}").glob("**/"), reverse=True):
                group.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)


# Ours, which carry a default route that leads nowhere; and those that the kernel puts into every new namespace.
BUILT_IN_INTERFACES = {
    "lo",
    "outside",
    "beyond",
    "sit0",
    "tunl0",
    "gre0",
    "gretap0",
    "erspan0",
    "ip6tnl0",
    "ip6gre0",
    "ip_vti0",
    "ip6_vti0",
}


def isolate(folder: Path, group: str) -> bool:
    """Enter private network and mount namespaces, and a control group; whether this machine permits it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        return False
    roots = [str(path) for path in control_group_roots() if os.access(path, os.W_OK)]
    subprocess.run(["bash", "-c", ENTER, "bash", str(folder), group, *roots], check=True)
    return True


def become_subreaper() -> None:
    """An orphan becomes a child of this process, not of pid 1."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> list[tuple[int, str]]:
    """Processes below this one, with their command lines; ended ones are reaped or ignored."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    parents.setdefault(int(parent), []).append(int(path.name))
    found, waiting = [], [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return [(each, command_line(each)) for each in found]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ").strip()[:200]
    except OSError:
        return ""


def interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


def mounts() -> set[str]:
    return {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


def control_group_roots() -> list[Path]:
    """Where engines make control groups: the one tree of version 2, or the tree of each controller of version 1."""
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted({(root / name).resolve() for name in ("cpu", "memory", "pids") if (root / name).is_dir()})


def control_groups() -> list[Path]:
    return [path for root in control_group_roots() for path in root.glob("*/")]


def users() -> set[str]:
    """The system user of the embedded PostgreSQL belongs to the product and stays, as after an installation."""
    names = {line.partition(":")[0] for line in Path("/etc/passwd").read_text().splitlines()}
    return names - {SYSTEM_USER}


def loop_devices(folder: Path) -> list[str]:
    return [line for line in output("losetup", "--all").splitlines() if str(folder) in line]


def output(*command: str) -> str:
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""


def is_controller(config: pytest.Config) -> bool:
    return not hasattr(config, "workerinput")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if is_controller(config):
        config.stash[BASELINE] = Baseline()
        config.stash[REAPER] = OrphanReaper(has_workers=bool(config.getoption("numprocesses", default=None)))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """After the workers have ended: the run fails if it left anything."""
    baseline = session.config.stash.get(BASELINE, None)
    if baseline is None:
        return
    session.config.stash[REAPER].stop()
    postgres.stop(session.config)
    found = baseline.leftovers()
    if found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        report(session.config, found)


def report(config: pytest.Config, found: list[str]) -> None:
    say: Callable[[str], None] = print
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):
        reporter.section("left behind by this run", red=True)
        say = reporter.write_line
    for line in found:
        say(line)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if baseline := config.stash.get(BASELINE, None):
        baseline.remove()
