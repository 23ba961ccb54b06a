"""The embedded PostgreSQL through crashes, races and awkward folders; every server here is a real one."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from gpuaas.core.embedded import MAJOR, SOCKET, SYSTEM_USER, Embedded, EmbeddedError, binaries, installed
from gpuaas.core.owners import Owner, is_private, runs, system_user

FAST = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "20"}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a cluster that was made and stopped: making one takes most of what a server costs."""
    embedded = Embedded(tmp_path_factory.mktemp("made") / "pg", settings=FAST)
    await embedded.start()
    await embedded.stop()
    return embedded.data


@pytest.fixture
async def unborn(tmp_path: Path) -> AsyncIterator[Embedded]:
    """Of which nothing was made yet."""
    embedded = Embedded(tmp_path / "pg", settings=FAST)
    yield embedded
    await embedded.stop()


@pytest.fixture
def server(unborn: Embedded, cluster: Path) -> Embedded:
    unborn.folder.mkdir(mode=0o700)
    subprocess.run(["cp", "--archive", str(cluster), str(unborn.data)], check=True)
    return unborn


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can walk into, as `/var/lib` is."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


async def ask(dsn: str, question: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


def end_brutally(embedded: Embedded) -> None:
    pid = embedded.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


async def test_start_gives_an_owned_database_and_no_superuser(unborn: Embedded) -> None:
    dsn = await unborn.start()
    facts = (
        "select rolcreaterole and rolcreatedb and not rolsuper and not rolbypassrls from pg_roles where rolname = user"
    )
    assert await ask(dsn, facts) is True
    owner = "select pg_get_userbyid(datdba) from pg_database where datname = current_database()"
    assert await ask(dsn, owner) == "gpuaas"
    assert await ask(dsn, "show server_encoding") == "UTF8"
    assert await ask(dsn, "show data_checksums") == "on"
    assert await ask(dsn, "show listen_addresses") == ""


async def test_fsync_stays_on_unless_a_test_says_otherwise(tmp_path: Path) -> None:
    plain = Embedded(tmp_path / "pg")
    assert plain.settings.get("fsync", "on") == "on"
    assert plain.settings["synchronous_commit"] == "on"


@as_root
async def test_root_is_not_admitted_as_the_superuser(server: Embedded) -> None:
    dsn = await server.start()
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        await ask(dsn.replace("//gpuaas@", "//postgres@"), "select 1")


@as_root
async def test_another_user_of_the_machine_cannot_reach_the_socket(server: Embedded) -> None:
    await server.start()
    nobody = pwd.getpwnam("nobody")
    ls = Owner("nobody", nobody.pw_uid, nobody.pw_gid).run("/bin/ls", str(server.data / SOCKET), cwd=Path("/"))
    assert "Permission denied" in ls.stdout


async def test_roles_made_by_gpuaas_can_log_in(server: Embedded) -> None:
    dsn = await server.start()
    await ask(dsn, "create role gpuaas_api login")
    assert await ask(dsn.replace("//gpuaas@", "//gpuaas_api@"), "select current_user") == "gpuaas_api"


async def test_a_second_start_adopts_the_running_server(server: Embedded) -> None:
    dsn = await server.start()
    pid = server.pid
    other = Embedded(server.folder, settings=FAST)
    assert (await other.start(), other.pid) == (dsn, pid)


async def test_two_starts_at_once_make_one_server(unborn: Embedded) -> None:
    others = [Embedded(unborn.folder, settings=FAST) for _ in range(3)]
    answers = await asyncio.gather(*(one.start() for one in others))
    assert len(set(answers)) == 1
    assert len({one.pid for one in others}) == 1
    assert list(unborn.folder.glob("new-*")) == []


async def test_stop_ends_every_process_and_start_brings_the_data_back(server: Embedded) -> None:
    dsn = await server.start()
    await ask(dsn, "create table kept (n int)")
    await server.stop()
    assert server._processes() == set()
    assert server.pid is None
    with pytest.raises(FileNotFoundError):
        await ask(dsn, "select 1")
    assert await ask(await server.start(), "select count(*) from kept") == 0


async def test_stop_without_a_server_does_nothing(tmp_path: Path) -> None:
    await Embedded(tmp_path / "never").stop()
    assert not (tmp_path / "never").exists()


async def test_what_was_committed_survives_kill_9(server: Embedded) -> None:
    dsn = await server.start()
    await ask(dsn, "create table kept as select 7 as n")
    end_brutally(server)
    assert await ask(await server.start(), "select n from kept") == 7


async def test_a_stale_pid_file_naming_a_living_process_is_not_believed(server: Embedded) -> None:
    await server.start()
    pid_file = (server.data / "postmaster.pid").read_text()
    await server.stop()
    owner = server._owner()
    with stranger(owner) as other:
        stale = "\n".join([str(other), *pid_file.split("\n")[1:]])
        for name in ("postmaster.pid", f"{SOCKET}.lock"):
            (server.data / name).write_text(stale)
            os.chown(server.data / name, owner.uid, owner.gid)
        assert server.pid is None
        assert await ask(await server.start(), "select 1") == 1
        assert server.pid not in (None, other)


class stranger:  # noqa: N801 - reads as a statement
    """A living process of the server's own user that is not a server."""

    def __init__(self, owner: Owner) -> None:
        dropped = {"user": owner.uid} if os.geteuid() != owner.uid else {}
        self.process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **dropped)  # type: ignore[call-overload]

    def __enter__(self) -> int:
        pid = self.process.pid
        assert isinstance(pid, int)
        return pid

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


async def test_a_half_made_cluster_is_made_again(unborn: Embedded) -> None:
    half = unborn.folder / "new-half"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text(str(MAJOR))
    assert await ask(await unborn.start(), "select 1") == 1
    assert not half.exists()


async def test_a_server_outlives_the_process_that_started_it(server: Embedded) -> None:
    script = (
        "import asyncio, os, signal, sys; from pathlib import Path; from gpuaas.core.embedded import Embedded\n"
        f"asyncio.run(Embedded(Path(sys.argv[1]), settings={FAST!r}).start()); os.kill(os.getpid(), signal.SIGKILL)"
    )
    starter = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(server.folder))
    assert await starter.wait() == -signal.SIGKILL
    before = server.pid
    assert before is not None
    await server.start()
    assert server.pid == before


async def test_a_long_path_gets_a_short_private_door(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path / ("long" * 20) / ("longer" * 10), settings=FAST)
    try:
        dsn = await embedded.start()
        door = embedded._door()
        assert len(str(door / SOCKET)) <= 107
        assert is_private(door.parent)
        assert await ask(dsn, "select 1") == 1
        door.unlink()  # as a cleaner of temporary folders would
        assert await ask(await embedded.start(), "select 1") == 1
    finally:
        await embedded.stop()
    assert not door.parent.exists()


async def test_a_door_that_is_not_ours_alone_is_refused(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path / ("long" * 20) / ("longer" * 10), settings=FAST)
    laid = embedded._door().parent
    laid.mkdir(mode=0o777)
    laid.chmod(0o777)
    try:
        with pytest.raises(EmbeddedError, match="writable by other users"):
            await embedded.start()
    finally:
        laid.rmdir()


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    broken = Embedded(tmp_path / "pg", settings={**FAST, "shared_buffers": "a lot"})
    with pytest.raises(EmbeddedError, match="invalid value for parameter"):
        await broken.start()
    assert list(broken.folder.glob("new-*")) == []


async def test_a_folder_of_another_version_is_refused_with_a_next_step(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path / "pg")
    embedded.data.mkdir(parents=True)
    (embedded.data / "PG_VERSION").write_text("15\n")
    with pytest.raises(EmbeddedError, match="pg_dump"):
        await embedded.start()


@as_root
async def test_as_root_the_server_runs_under_its_own_user_in_folders_it_cannot_walk(unborn: Embedded) -> None:
    unborn.folder.mkdir(mode=0o700)
    await unborn.start()
    uid = pwd.getpwnam(SYSTEM_USER).pw_uid
    assert unborn.data.stat().st_uid == uid
    assert Path(f"/proc/{unborn.pid}").stat().st_uid == uid
    assert (unborn.folder.stat().st_uid, unborn.folder.stat().st_mode & 0o777) == (0, 0o700)


@as_root
async def test_an_ordinary_user_runs_it_as_itself(open_folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    me = Owner("nobody", nobody.pw_uid, nobody.pw_gid)
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    os.chown(home, me.uid, me.gid)
    script = (
        f"import sys; sys.path += {sys.path!r}\n"
        "import asyncio, os; from pathlib import Path; from gpuaas.core.embedded import Embedded\n"
        "async def main():\n"
        f"    server = Embedded(Path(sys.argv[1]), settings={FAST!r})\n"
        "    dsn = await server.start()\n"
        "    print(dsn, Path(f'/proc/{server.pid}').stat().st_uid == os.getuid())\n"
        "    await server.stop()\n"
        "asyncio.run(main())"
    )
    pythons = [sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"]
    python = next((path for path in pythons if runs(Path(path), me)), None)
    if python is None or me.run("/bin/ls", str(Path(__file__).parent), str(installed()), cwd=Path("/")).returncode:
        pytest.skip("nobody cannot reach a Python of this version, this code or its dependencies")
    answer = await asyncio.to_thread(me.run, python, "-c", script, str(home / "pg"), cwd=home)
    assert answer.stdout == f"postgresql://gpuaas@/gpuaas?host={home}/pg/data True\n"


@as_root
async def test_programs_out_of_reach_are_copied_to_where_the_server_can_run_them(
    tmp_path: Path, open_folder: Path
) -> None:
    real = installed()
    (tmp_path / real.name).symlink_to(real)
    (tmp_path / f"{real.name}.libs").symlink_to(real.with_name(f"{real.name}.libs"))
    tmp_path.chmod(0o700)
    entry = system_user(SYSTEM_USER)
    owner = Owner(entry.pw_name, entry.pw_uid, entry.pw_gid)
    found = binaries(tmp_path / real.name, owner, open_folder / "shared")
    assert found.is_relative_to(open_folder)
    assert runs(found / "initdb", owner)
    assert binaries(tmp_path / real.name, owner, open_folder / "shared") == found
