"""The journal: what it keeps, and that a damaged one is never taken for a whole or an empty one."""

import asyncio
import contextlib
import random
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from gpuaas.agent import journal
from gpuaas.agent.journal import Anchor, Journal, JournalRefusedError, Pinned, Standing
from gpuaas.core.points import NoPoints
from gpuaas.wire.link import Progress, Result, TaskBody, TaskStatus
from tests.agent.link_server import NOON
from tests.agent.world import NODE_ID, SIGNER, ensure, remove, world_in

PINNED = Pinned(NODE_ID, (SIGNER.verifier,))
CUTS = 40
TO_FORMAT_1 = """
create table allocations (
    allocation_id text primary key, highest_seq integer not null, removed_at text
) strict, without rowid;
insert into allocations select allocation_id, highest_seq, removed_at
    from lanes left join removals using (allocation_id);
drop table lanes;
drop table removals;
drop table verifiers;
pragma user_version = 1;
"""
TO_FORMAT_2 = "drop table verifiers; pragma user_version = 2;"


@dataclass(frozen=True)
class Remembered:
    """All that a journal says, to be compared."""

    unfinished: tuple[str, ...]
    answered: tuple[str, ...]
    phases: int
    standings: tuple[Standing, ...]


def recall(opened: Journal) -> Remembered:
    unfinished = [msgspec.msgpack.decode(entry.task.body, type=TaskBody).id for entry in opened.unfinished()]
    answered = [result.task_id for result in opened.results()]
    return Remembered(
        tuple(unfinished),
        tuple(answered),
        sum(len(opened.phases(id)) for id in (*unfinished, *answered)),
        tuple(opened.standing(f"alloc_{n}", "environment") for n in range(30)),
    )


def accept(opened: Journal, id: str, allocation: str, seq: int, *, is_removal: bool = False) -> None:
    task = (remove if is_removal else ensure)(id, allocation, seq)
    opened.accept(
        task, msgspec.msgpack.decode(task.body, type=TaskBody), removes=allocation if is_removal else None, at=NOON
    )


def write_history(opened: Journal) -> list[Remembered]:
    """Thirty allocations made, half of them removed, some acknowledged; what is remembered after every commit."""
    after = [recall(opened)]
    for n in range(30):
        accept(opened, f"t{n}", f"alloc_{n}", 1)
        after.append(recall(opened))
        opened.record_phase(Progress(task_id=f"t{n}", phase="preparing", note="", at=NOON))
        after.append(recall(opened))
        opened.finish(Result(task_id=f"t{n}", status=TaskStatus.DONE, at=NOON))
        after.append(recall(opened))
        if n % 2:
            accept(opened, f"r{n}", f"alloc_{n}", 2, is_removal=True)
            after.append(recall(opened))
        if n % 5 == 0:
            opened.acknowledge([f"t{n}"])
            after.append(recall(opened))
    return after


def fresh(folder: Path) -> Journal:
    folder.mkdir(exist_ok=True)
    journal.create(folder / journal.FILE, PINNED)
    return Journal.open(folder / journal.FILE, NoPoints())


def test_lanes_of_an_allocation_count_apart_and_a_removal_ends_all_of_them(tmp_path: Path) -> None:
    opened = fresh(tmp_path)
    accept(opened, "t", "alloc_0", 4)
    assert opened.standing("alloc_0", "environment") == Standing(4, is_removed=False)
    assert opened.standing("alloc_0", "keys") == Standing(0, is_removed=False)
    accept(opened, "r", "alloc_0", 5, is_removal=True)
    assert opened.standing("alloc_0", "keys").is_removed


@pytest.mark.parametrize("downgrade", [TO_FORMAT_1, TO_FORMAT_2])
def test_a_journal_of_an_older_format_is_read_on(tmp_path: Path, downgrade: str) -> None:
    path = tmp_path / journal.FILE
    first = fresh(tmp_path)
    history = write_history(first)
    first.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(downgrade)
    for _ in range(2):
        again = Journal.open(path, NoPoints())
        assert recall(again) == history[-1]
        assert again.verifiers().trusted_ids == {one.id for one in PINNED.verifiers}
        again.close()


def test_a_journal_closed_and_opened_says_the_same(tmp_path: Path) -> None:
    first = fresh(tmp_path)
    history = write_history(first)
    first.drop_anchor(Anchor(NOON, "boot", 12.5))
    first.close()
    again = Journal.open(tmp_path / journal.FILE, NoPoints())
    assert recall(again) == history[-1]
    assert (again.pinned, again.anchor()) == (PINNED, Anchor(NOON, "boot", 12.5))
    assert (tmp_path / journal.FILE).stat().st_mode & 0o777 == 0o600
    again.close()


def test_the_first_result_of_a_task_stands(tmp_path: Path) -> None:
    opened = fresh(tmp_path)
    accept(opened, "t1", "alloc_1", 1)
    opened.finish(Result(task_id="t1", status=TaskStatus.SUPERSEDED, at=NOON))
    opened.finish(Result(task_id="t1", status=TaskStatus.DONE, at=NOON))
    assert [result.status for result in opened.results()] == [TaskStatus.SUPERSEDED]
    opened.close()


def test_what_has_no_result_cannot_be_acknowledged_away(tmp_path: Path) -> None:
    opened = fresh(tmp_path)
    accept(opened, "t1", "alloc_1", 1)
    opened.acknowledge(["t1"])
    assert len(opened.unfinished()) == 1
    opened.finish(Result(task_id="t1", status=TaskStatus.DONE, at=NOON))
    opened.acknowledge(["t1"])
    assert opened.find("t1") is None
    opened.close()


class PassedPoints:
    def __init__(self) -> None:
        self.passed: list[str] = []

    def reach(self, name: str) -> None:
        self.passed.append(name)


def test_every_commit_passes_its_points(tmp_path: Path) -> None:
    journal.create(tmp_path / journal.FILE, PINNED)
    opened = Journal.open(tmp_path / journal.FILE, points := PassedPoints())
    accept(opened, "t1", "alloc_1", 1)
    opened.finish(Result(task_id="t1", status=TaskStatus.DONE, at=NOON))
    opened.close()
    assert points.passed == [
        "journal:accept:before",
        "journal:accept:after",
        "journal:finish:before",
        "journal:finish:after",
    ]


def test_a_whole_file_cut_at_any_byte_is_refused(tmp_path: Path) -> None:
    closed = fresh(tmp_path / "whole")
    write_history(closed)
    closed.close()
    whole = (tmp_path / "whole" / journal.FILE).read_bytes()
    sample = random.Random(2)
    for cut in [0, 1, 99, 100, 4096, len(whole) - 1, *(sample.randrange(len(whole)) for _ in range(CUTS))]:
        path = lay(tmp_path / f"cut{cut}", {"": whole[:cut]})
        for _ in range(2):  # a refusal repairs nothing, so the next start is refused too
            with pytest.raises(JournalRefusedError, match="never creates another"):
                Journal.open(path, NoPoints())
    Journal.open(lay(tmp_path / "uncut", {"": whole}), NoPoints()).close()


def test_a_log_cut_at_any_byte_gives_the_history_up_to_some_commit(tmp_path: Path) -> None:
    live = fresh(tmp_path / "live")
    history = write_history(live)
    whole = (tmp_path / "live" / journal.FILE).read_bytes()
    wal = (tmp_path / "live" / f"{journal.FILE}-wal").read_bytes()
    live.close()
    sample = random.Random(3)
    seen = set[int]()
    for cut in [0, 1, 31, 32, len(wal), *(sample.randrange(len(wal)) for _ in range(CUTS))]:
        opened = Journal.open(lay(tmp_path / f"cut{cut}", {"": whole, "-wal": wal[:cut]}), NoPoints())
        seen.add(history.index(recall(opened)))
        opened.close()
    assert {0, len(history) - 1} <= seen
    assert len(seen) > 10


def test_a_file_cut_below_its_log_is_refused_or_whole(tmp_path: Path) -> None:
    closed = fresh(tmp_path / "live")
    write_history(closed)
    closed.finish(Result(task_id="r1", status=TaskStatus.DONE, at=NOON, detail="long " * 3000))  # over several pages
    closed.close()
    live = Journal.open(tmp_path / "live" / journal.FILE, NoPoints())
    accept(live, "t30", "alloc_30", 1)
    told = recall(live)
    whole = (tmp_path / "live" / journal.FILE).read_bytes()
    wal = (tmp_path / "live" / f"{journal.FILE}-wal").read_bytes()
    live.close()
    sample = random.Random(4)
    for cut in [*range(0, len(whole), 4096), *(sample.randrange(len(whole)) for _ in range(CUTS))]:
        path = lay(tmp_path / f"cut{cut}", {"": whole[:cut], "-wal": wal})
        try:
            opened = Journal.open(path, NoPoints())
        except JournalRefusedError:
            continue
        assert (recall(opened), opened.pinned) == (told, PINNED)
        opened.close()
    opened = Journal.open(lay(tmp_path / "uncut", {"": whole, "-wal": wal}), NoPoints())
    assert recall(opened) == told
    opened.close()


def test_bytes_changed_in_the_structure_are_refused(tmp_path: Path) -> None:
    closed = fresh(tmp_path / "whole")
    write_history(closed)
    closed.close()
    whole = (tmp_path / "whole" / journal.FILE).read_bytes()
    for name, damaged in {
        "header": b"x" * 16 + whole[16:],
        "page": whole[:4096] + bytes(4096) + whole[8192:],
        "other": b"not a database at all " * 400,
        "content": whole.replace(b"preparing", b"preparinG"),
    }.items():
        with pytest.raises(JournalRefusedError, match=r"damaged|cut"):
            Journal.open(lay(tmp_path / name, {"": damaged}), NoPoints())


@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
async def test_an_agent_without_its_journal_does_not_start_and_touches_nothing(tmp_path: Path, damage: str) -> None:
    async with world_in(tmp_path) as world:
        path = tmp_path / journal.FILE
        content = path.read_bytes()
        path.unlink()
        if damage != "missing":
            path.write_bytes(content[: len(content) // 2 if damage == "cut" else 0])
        with pytest.raises(JournalRefusedError, match="enrol it again as a new node"):
            await world.run(asyncio.Event())
        assert world.engine.calls == []
        assert path.exists() == (damage != "missing")
        if damage == "missing":
            path.write_bytes(content)
            async with world.agent():
                assert world.engine.calls == ["start"]


async def test_a_journal_of_another_node_is_refused(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world:
        journal.create(tmp_path / journal.FILE, Pinned("node_other", (SIGNER.verifier,)))
        with pytest.raises(JournalRefusedError, match="belongs to another node"):
            await world.run(asyncio.Event())


def test_a_creation_cut_short_leaves_nothing_that_a_later_one_would_read(tmp_path: Path) -> None:
    live = fresh(tmp_path)
    write_history(live)
    for rest in ("", "-wal"):
        (tmp_path / f"{journal.FILE}.draft{rest}").write_bytes((tmp_path / f"{journal.FILE}{rest}").read_bytes())
    live.close()
    again = fresh(tmp_path)
    assert recall(again).answered == ()
    again.close()


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for suffix, content in files.items():
        (folder / f"{journal.FILE}{suffix}").write_bytes(content)
    return folder / journal.FILE
