"""PostgreSQL clusters of a test's own: a primary with a streaming standby, dumps, and restores into a new cluster."""

import asyncio
import os
import pwd
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import asyncpg

from gpuaas.core.embedded import ADMISSION, HERE, Embedded, binaries
from gpuaas.core.owners import Owner, put
from tests.live import eventually

SETTINGS = {"fsync": "off", "full_page_writes": "on", "shared_buffers": "32MB", "max_connections": "100"}
ROLES = ("gpuaas_owner", "gpuaas_api", "gpuaas_operator", "gpuaas_worker")


class Cluster(Embedded):
    """Admits its own user and the test as superuser, and for replication."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, settings=SETTINGS)

    def _configure(self, data: Path, owner: Owner) -> None:
        super()._configure(data, owner)
        me = pwd.getpwuid(os.geteuid()).pw_name
        names = "".join(f'house "{name}" postgres\n' for name in sorted({me, owner.name}))
        put(data, "pg_hba.conf", f"local replication all peer map=house\n{ADMISSION}", owner)
        put(data, "pg_ident.conf", f'house "{me}" "/^gpuaas(_[a-z0-9_]+)?$"\n{names}', owner)

    @property
    def host(self) -> str:
        return str(self._door())

    async def sql(self, statement: str) -> object:
        """As superuser."""
        connection = await asyncpg.connect(f"postgresql://postgres@/gpuaas?host={quote(self.host, safe='/')}")
        try:
            if ";" in statement:
                return await connection.execute(statement)
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    async def tool(self, program: str, *arguments: str, cwd: Path | None = None, text: str | None = None) -> str:
        """One of PostgreSQL's programs, run as the server's user."""
        owner = self._owner()
        path = str(binaries(self.package, owner, self.shared) / program)
        done = await asyncio.to_thread(owner.run, path, *arguments, cwd=cwd or self.data, text=text)
        assert done.returncode == 0, f"{program}: {done.stdout[-2000:]}"
        return done.stdout

    async def standby(self, folder: Path) -> "Cluster":
        """A streaming standby, made by pg_basebackup."""
        other, owner = Cluster(folder), self._owner()
        folder.mkdir(mode=0o711)
        other.data.mkdir(mode=0o700)
        os.chown(other.data, owner.uid, owner.gid)
        connect = ("--host", self.host, "--username", "postgres")
        await self.tool(
            "pg_basebackup", *connect, "--pgdata", HERE, "--wal-method=stream", "-R", "-c", "fast", cwd=other.data
        )
        await other.start()
        return other

    async def catch_up(self, standby: "Cluster") -> None:
        """Until the standby has all that was committed here."""
        here = await self.sql("select pg_current_wal_lsn()::text")

        async def has_all() -> bool:
            return bool(await standby.sql(f"select pg_last_wal_replay_lsn() >= '{here}'::pg_lsn"))

        await eventually(has_all)

    async def stop_streaming(self) -> None:
        """Of a standby: what the primary commits from now on will be lost."""
        await self.sql("alter system set primary_conninfo = ''")
        await self.sql("select pg_reload_conf()")

        async def is_alone() -> bool:
            return not await self.sql("select count(*) from pg_stat_wal_receiver")

        await eventually(is_alone)

    async def promote(self) -> None:
        assert await self.sql("select pg_promote(true, 30)")

    async def kill(self) -> None:
        """The whole server at once, as a power cut would."""
        for pid in self._processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        async def is_gone() -> bool:
            return not self._processes()

        await eventually(is_gone)

    async def dump(self) -> str:
        return await self.tool("pg_dump", "--host", self.host, "--username", "postgres", "gpuaas")

    async def restore(self, dump: str) -> None:
        """Into a new cluster, as docs/runbooks/unknown-environments.md says."""
        for role in ROLES:
            await self.sql(f"create role {role} nologin")
            await self.sql(f"grant {role} to gpuaas")
        await self.tool(
            *("psql", "--host", self.host, "--username", "postgres", "--quiet", "-v", "ON_ERROR_STOP=1", "gpuaas"),
            text=dump,
        )


@asynccontextmanager
async def place() -> AsyncIterator[Path]:
    """A folder that the servers' user can walk through; nothing of it is left."""
    memory = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a private folder in it
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-failover-", dir=memory if os.access(memory, os.W_OK) else None))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def new_cluster(folder: Path) -> Cluster:
    folder.mkdir(mode=0o711)
    made = Cluster(folder)
    await made.start()
    return made


def either(first: Cluster, second: Cluster) -> str:
    """The DSN of whichever of both takes writes."""
    hosts = quote(f"{first.host},{second.host}", safe="/,")
    return f"postgresql://gpuaas@/gpuaas?host={hosts}&target_session_attrs=read-write"
