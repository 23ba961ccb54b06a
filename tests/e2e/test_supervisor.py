"""What `gpuaas up` does about folders, ports, logs and children that will not live."""

import asyncio
import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from gpuaas.cli.complaints import Complaint
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.main import children, up, up_file
from gpuaas.main.children import Child, keep_small
from gpuaas.main.demo import Demo
from gpuaas.main.up_file import ADMIN, USER
from tests.e2e.stack import run
from tests.live import eventually
from tests.patience import PATIENCE_SECONDS


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_we_make_lets_people_through_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        up.prepare(tmp_path / "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o711


@pytest.mark.parametrize("kept", [0o711, 0o755, 0o775])
def test_a_folder_that_was_there_is_left_as_it_is(tmp_path: Path, kept: int) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    folder.chmod(kept)
    up.prepare(folder)
    assert (mode(folder), (folder / "logs").is_dir()) == (kept, True)


def test_a_folder_that_everybody_writes_in_is_refused_untouched(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    with pytest.raises(Complaint, match="everybody") as refused:
        up.prepare(folder)
    assert str(folder / "gpuaas") in refused.value.next_step
    assert (mode(folder), list(folder.iterdir())) == (0o1777, [])


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Complaint):
        up.prepare(tmp_path / "file")


async def test_a_taken_port_is_told_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = await run(sys.executable, "-m", "gpuaas.main", "up", "--data", str(tmp_path / "d"), "--port", str(port))
    assert ran.code == 1
    assert (f"port {port}" in ran.err, f"next: gpuaas up --port {port + 1}" in ran.err) == (True, True)
    assert not (tmp_path / "d" / "postgres").exists()


async def test_a_child_stopped_while_it_is_being_started_is_ended(tmp_path: Path) -> None:
    child = Child("sleeper", ["sleep", "1000"], tmp_path / "sleeper.log", {})
    child.start()
    await asyncio.sleep(0)  # the task has begun; the process is on its way
    await asyncio.wait_for(child.stop(), PATIENCE_SECONDS)
    assert child.is_crash_looping  # nothing will start it again


async def test_a_child_that_cannot_live_is_given_up_with_its_last_words(tmp_path: Path) -> None:
    child = Child("poet", ["sh", "-c", "echo alas; exit 3"], tmp_path / "poet.log", {})
    child.start()

    async def is_crash_looping() -> bool:
        return child.is_crash_looping

    await eventually(is_crash_looping)
    await child.stop()
    assert set(child.last_words()) == {"alas"}


def test_a_long_log_begins_anew_under_its_writer_and_one_old_one_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with log.open("ab") as writer:
        for round in (b"1", b"2"):
            writer.write(round * (children.LOG_BYTES + 1))
            writer.flush()
            keep_small(log)
            keep_small(log)
        writer.write(b"after")
    assert log.read_bytes() == b"after"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["server.log", "server.log.old"]
    assert (tmp_path / "server.log.old").read_bytes()[:1] == b"2"


async def test_the_demo_may_come_after_a_start_without_it(migrated: str, tmp_path: Path) -> None:
    file, clock = tmp_path / "up.json", SystemClock()
    db = await connect(migrated, DbRole.WORKER, hints=Hints("up"), size=2)
    try:
        world = Demo(db, Ids(clock), clock.now())
        bare = up_file.people("http://a", demo=False, kept=up_file.read(file))
        up_file.write(file, await world.ensure_people(bare, demo=False))
        full = up_file.people("http://b", demo=True, kept=up_file.read(file))
        made = await world.ensure_people(full, demo=True)
    finally:
        await db.close()
    assert [user.email for user in made.users] == [USER, ADMIN]
    assert made.users[1] == bare.users[0]
    assert (made.url, made.tenant, bool(made.project_id)) == ("http://b", "acme", True)
    assert up_file.people("http://b", demo=True, kept=made) == made
