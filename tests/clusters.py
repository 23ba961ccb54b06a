"""PostgreSQL clusters that a test may stop, freeze, fill, copy and promote; with a streaming standby."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpuaas.core.embedded import SHARED, SYSTEM_USER, binaries, installed
from gpuaas.core.owners import Owner, system_user

START_SECONDS = 60.0
SMALL_DISK = "1500m"
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "max_wal_senders": "5",
    "shared_buffers": "64MB",
    "hot_standby": "on",
    "fsync": "off",  # only the server is killed, never the machine
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "io_method": "sync",
    "wal_keep_size": "256MB",
}


class ClusterError(Exception):
    """PostgreSQL did not do what the test asked for."""


class Cluster:
    """One data folder with one server, reached by a socket in `folder`."""

    def __init__(self, folder: Path, owner: Owner) -> None:
        self.folder, self._owner = folder, owner
        self.data = folder / "data"
        self._programs = binaries(installed(), owner, SHARED)

    def _run(self, program: str, *arguments: str) -> str:
        ran = self._owner.run(str(self._programs / program), *arguments, cwd=self.folder)
        if ran.returncode != 0:
            raise ClusterError(f"{program} {' '.join(arguments)}: {ran.stdout[-2000:]}")
        return ran.stdout

    def make(self) -> None:
        self._folder()
        self._run("initdb", "-D", "data", "-U", "gpuaas", "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8")
        self.configure(**SETTINGS)

    def _folder(self) -> None:
        self.folder.mkdir(exist_ok=True)
        os.chown(self.folder, self._owner.uid, self._owner.gid)
        self.folder.chmod(0o755)

    def configure(self, **settings: str) -> None:
        """Appended, so the last value of a setting counts; `reload` or a start puts it in force."""
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def copy_from(self, primary: "Cluster", name: str) -> None:
        """A streaming standby of `primary`."""
        self._folder()
        self._run(
            "pg_basebackup", "-D", "data", "-h", str(primary.folder), "-U", "gpuaas", "-X", "stream", "-R", "-cfast"
        )
        self.configure(cluster_name=name, synchronous_standby_names="")

    def start(self) -> None:
        options = f"-k {self.folder}"
        self._run("pg_ctl", "start", "-w", "-t", str(int(START_SECONDS)), "-D", "data", "-l", "log", "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        self.thaw()
        with suppress(ClusterError):
            self._run("pg_ctl", "stop", "-w", "-D", "data", "-m", mode)

    def is_up(self) -> bool:
        try:
            return self.sql("select 1") == "1"
        except ClusterError:
            return False

    def promote(self) -> None:
        self._run("pg_ctl", "promote", "-w", "-D", "data")

    def reload(self) -> None:
        self._run("pg_ctl", "reload", "-D", "data")

    def sql(self, statement: str, database: str = "postgres") -> str:
        return self._run("psql", "-h", str(self.folder), "-U", "gpuaas", "-d", database, "-Atqc", statement).strip()

    def pids(self) -> list[int]:
        """Of the server and all its backends."""
        try:
            head = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(head)], capture_output=True, check=False)
        except (OSError, ValueError):
            return []
        return [head, *map(int, children.stdout.split())]

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)


class Pair:
    """A primary, its standby, and one address that leads to whichever is in service."""

    def __init__(self, folder: Path, owner: Owner) -> None:
        self.folder, self._owner = folder, owner
        self.primary, self.standby = Cluster(folder / "a", owner), Cluster(folder / "b", owner)
        self._door = folder / "now"
        self._serial = 0
        self.is_small = False  # on a disk of its own, that a test may fill

    @property
    def dsn(self) -> str:
        """Of a login as an operator would make it: no superuser."""
        return f"postgresql://gpuaas_login@/gpuaas?host={self._door}"

    @property
    def admin_dsn(self) -> str:
        return f"postgresql://gpuaas@/gpuaas?host={self._door}"

    def lead_to(self, cluster: Cluster) -> None:
        new = self.folder / "new"
        new.symlink_to(cluster.folder)
        new.rename(self._door)

    def make(self) -> None:
        self.primary.make()
        self.primary.start()
        self.primary.sql("create role gpuaas_login login createrole createdb")
        self.primary.sql("create database gpuaas owner gpuaas_login")
        self.lead_to(self.primary)

    def add_standby(self) -> None:
        """A new one, streaming before this returns."""
        self._serial += 1
        shutil.rmtree(self.standby.folder, ignore_errors=True)  # one that failed over, and is of no use any more
        self.standby = Cluster(self.folder / f"b{self._serial}", self._owner)
        self.standby.copy_from(self.primary, "standby")
        self.standby.start()
        until(lambda: self.primary.sql("select count(*) from pg_stat_replication where state = 'streaming'") == "1")

    def fail_over(self) -> None:
        """The primary dies at once, and the standby takes its place."""
        self.primary.stop("immediate")
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary
        self.lead_to(self.primary)

    def lose_touch(self) -> None:
        """From now on the standby gets nothing more, and commits do not wait for it."""
        self.standby.sql("alter system set primary_conninfo = ''")
        self.standby.reload()
        until(lambda: self.primary.sql("select count(*) from pg_stat_replication") == "0")

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """No byte is left on the disk of the servers; only where `is_small`."""
        filler = self.folder / "filler"
        try:
            with filler.open("wb", buffering=0) as out, suppress(OSError):
                while (free := shutil.disk_usage(self.folder).free) > 0:
                    out.write(b"\0" * min(free, 1 << 20))
            yield
        finally:
            filler.unlink(missing_ok=True)

    def stop(self) -> None:
        for cluster in (self.primary, self.standby):
            if cluster.data.exists():
                cluster.stop()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise ClusterError("it did not come to be in time")
        time.sleep(0.05)


@contextmanager
def pair(disk: str = SMALL_DISK) -> Iterator[Pair]:
    """A running primary with an empty database `gpuaas`; all of it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-pg-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))  # noqa: S108
    me = pwd.getpwuid(os.geteuid())
    entry = system_user(SYSTEM_USER) if me.pw_uid == 0 else me
    folder.chmod(0o755)
    is_small = (
        me.pw_uid == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={disk},mode=755", "tmpfs", str(folder)], check=False
        ).returncode
    )
    made = Pair(folder, Owner(entry.pw_name, entry.pw_uid, entry.pw_gid))
    made.is_small = is_small
    try:
        made.make()
        yield made
    finally:
        made.stop()
        if is_small:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)
