"""Stores what the node needs after a power failure: tasks that were taken, their progress, and unacknowledged
answers.

One SQLite file, one writer, one fsync per commit. The file is created only at enrolment. An agent that finds it
missing, truncated or foreign stops with an error, because a lost removal could bring a removed environment back.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec

from gpuaas.agent.verifiers import Verifiers
from gpuaas.core.owners import sync_folder
from gpuaas.core.points import Points
from gpuaas.wire.link import Progress, Result, Task, TaskBody
from gpuaas.wire.task_keys import Verifier

FILE = "journal.db"
FORMAT = 3
OF_THE_NODE = ""  # instead of an allocation, for lanes of tasks without one
SEAL_BYTES = 4

SCHEMA = """
create table node (
    only integer primary key check (only = 1), node_id text not null, verifiers blob not null,
    server_time text, boot_id text, monotonic real
) strict;
create table verifiers (id text primary key, verifier blob not null, is_trusted integer not null) strict, without rowid;
create table lanes (
    allocation_id text not null, lane text not null, highest_seq integer not null, primary key (allocation_id, lane)
) strict, without rowid;
create table removals (allocation_id text primary key, removed_at text not null) strict, without rowid;
create table tasks (
    position integer primary key, id text not null unique, allocation_id text, kind text not null,
    body blob not null, signer text not null, signature blob not null,
    received_at text not null, attempts integer not null default 1, result blob
) strict;
create table phases (
    position integer primary key, task_id text not null references tasks (id) on delete cascade, progress blob not null
) strict;
create index phases_of_a_task on phases (task_id);
"""

# In this format, every task belonged to the environment's lane.
FROM_FORMAT_1 = """
create table lanes (
    allocation_id text not null, lane text not null, highest_seq integer not null, primary key (allocation_id, lane)
) strict, without rowid;
create table removals (allocation_id text primary key, removed_at text not null) strict, without rowid;
insert into lanes select allocation_id, 'environment', highest_seq from allocations;
insert into removals select allocation_id, removed_at from allocations where removed_at is not null;
drop table allocations;
"""

# In this format, a node trusted only the key of its enrolment.
FROM_FORMAT_2 = """
create table verifiers (id text primary key, verifier blob not null, is_trusted integer not null) strict, without rowid;
"""
UPGRADES = {1: FROM_FORMAT_1 + FROM_FORMAT_2, 2: FROM_FORMAT_2, FORMAT: ""}


class JournalRefusedError(Exception):
    """The journal cannot be trusted; the message says what is wrong and what to do."""

    def __init__(self, path: Path, wrong: str) -> None:
        super().__init__(
            f"The journal {path} cannot be used: {wrong}. The agent does not start without it and never creates another"
            " automatically, because it records removed environments. Restore the file from this node's disk or"
            " backup; if it is lost, drain this node, move its folder away and enrol it again as a new node."
        )


@dataclass(frozen=True)
class Pinned:
    """The identity of this node and the keys whose signatures it accepts, from enrolment."""

    node_id: str
    verifiers: tuple[Verifier, ...]


@dataclass(frozen=True)
class Standing:
    """The progress of one lane, of an allocation or of the node itself, on this node."""

    highest_seq: int
    is_removed: bool


@dataclass(frozen=True)
class Entry:
    """A task that was taken: the exact bytes that were signed, and its answer if there is one."""

    task: Task
    attempts: int
    result: Result | None


@dataclass(frozen=True)
class Anchor:
    """The server's time at one reading of the monotonic clock, valid until the node reboots."""

    server_time: datetime
    boot_id: str
    monotonic: float


def create(path: Path, pinned: Pinned) -> None:
    """Create an empty journal atomically: under another name, then moved to its place."""
    draft = path.with_name(path.name + ".draft")
    for rest in ("", "-wal", "-shm"):  # from an interrupted creation: SQLite would replay an old log into the new file
        draft.with_name(draft.name + rest).unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    db = sqlite3.connect(draft, isolation_level=None)
    try:
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = full")
        db.executescript(f"begin; {SCHEMA} pragma user_version = {FORMAT}; commit;")
        db.execute(
            "insert into node (only, node_id, verifiers) values (1, ?, ?)",
            (pinned.node_id, msgspec.json.encode(pinned.verifiers)),
        )
    finally:
        db.close()
    draft.replace(path)
    sync_folder(path.parent)


class Journal:
    """The open journal. It locks the file, so a second agent on the same folder is refused."""

    def __init__(self, db: sqlite3.Connection, pinned: Pinned, points: Points) -> None:
        self._db, self._points = db, points
        self.pinned = pinned

    @classmethod
    def open(cls, path: Path, points: Points) -> Self:
        if not path.exists():
            raise JournalRefusedError(path, "it is missing")
        db = sqlite3.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None, timeout=0)
        try:
            opened = cls(db, _trusted(db, path), points)
            opened._read_all()
        except (sqlite3.DatabaseError, msgspec.DecodeError) as error:
            db.close()
            busy = isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            wrong = "another agent is running on this folder" if busy else f"it is damaged ({error})"
            raise JournalRefusedError(path, wrong) from error
        except JournalRefusedError:
            db.close()
            raise
        return opened

    def close(self) -> None:
        self._db.close()

    @property
    def is_unused(self) -> bool:
        """Whether no agent has worked with it: no welcome received, no task taken."""
        return self.anchor() is None

    def accept(self, task: Task, body: TaskBody, *, removes: str | None, at: datetime) -> None:
        """Record a task before anything is done. `removes` names the environment that a removal ends: it is recorded
        permanently from now on, not from the end of the removal.
        """
        with self._commit("accept"):
            self._db.execute(
                "insert into tasks (id, allocation_id, kind, body, signer, signature, received_at)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                (body.id, body.allocation_id, body.kind, task.body, task.signer, task.signature, at.isoformat()),
            )
            self._db.execute(
                "insert into lanes values (?1, ?2, ?3) on conflict do update set highest_seq = max(highest_seq, ?3)",
                (body.allocation_id or OF_THE_NODE, body.lane, body.seq),
            )
            if removes is not None:
                self._db.execute("insert into removals values (?, ?) on conflict do nothing", (removes, at.isoformat()))

    def verifiers(self) -> Verifiers:
        """The task keys of the enrolment, or those that replaced them."""
        rows = self._db.execute("select verifier, is_trusted from verifiers").fetchall()
        if not rows:
            return Verifiers(self.pinned.verifiers, [one.id for one in self.pinned.verifiers])
        known = [(msgspec.json.decode(verifier, type=Verifier), is_trusted) for verifier, is_trusted in rows]
        return Verifiers([one for one, _ in known], [one.id for one, is_trusted in known if is_trusted])

    def keep_verifiers(self, verifiers: Verifiers) -> None:
        """Called before the server is informed, because what the server relies on must survive a crash."""
        rows = [(id, msgspec.json.encode(one), id in verifiers.trusted_ids) for id, one in verifiers.known.items()]
        with self._commit("verifiers"):
            self._db.execute("delete from verifiers")
            self._db.executemany("insert into verifiers values (?, ?, ?)", rows)

    def replay(self, task_id: str) -> None:
        """A task begins again after a crash or a stop."""
        with self._commit("replay"):
            self._db.execute("update tasks set attempts = attempts + 1 where id = ?", (task_id,))

    def record_phase(self, progress: Progress) -> None:
        with self._commit("phase"):
            self._db.execute(
                "insert into phases (task_id, progress) values (?, ?)",
                (progress.task_id, _sealed(progress)),
            )

    def finish(self, result: Result) -> None:
        """Store the answer before it is sent. The first answer counts."""
        with self._commit("finish"):
            self._db.execute(
                "update tasks set result = ? where id = ? and result is null",
                (_sealed(result), result.task_id),
            )

    def acknowledge(self, task_ids: Sequence[str]) -> None:
        """The server's database has these answers, so the node may delete them; sequence numbers and removals stay."""
        with self._commit("acknowledge"):
            self._db.executemany(
                "delete from tasks where id = ? and result is not null", [(task_id,) for task_id in task_ids]
            )

    def drop_anchor(self, anchor: Anchor) -> None:
        with self._commit("anchor"):
            self._db.execute(
                "update node set server_time = ?, boot_id = ?, monotonic = ?",
                (anchor.server_time.isoformat(), anchor.boot_id, anchor.monotonic),
            )

    def anchor(self) -> Anchor | None:
        row = self._db.execute("select server_time, boot_id, monotonic from node").fetchone()
        server_time, boot_id, monotonic = row
        return Anchor(datetime.fromisoformat(server_time), boot_id, monotonic) if server_time else None

    def standing(self, allocation_id: str | None, lane: str) -> Standing:
        query = (
            "select (select highest_seq from lanes where allocation_id = ?1 and lane = ?2),"
            " exists (select 1 from removals where allocation_id = ?1)"
        )
        highest_seq, is_removed = self._db.execute(query, (allocation_id or OF_THE_NODE, lane)).fetchone()
        return Standing(highest_seq or 0, bool(is_removed))

    def find(self, task_id: str) -> Entry | None:
        return next(self._entries("id = ?", task_id), None)

    def unfinished(self) -> list[Entry]:
        """In the order in which they were taken."""
        return list(self._entries("result is null"))

    def results(self) -> list[Result]:
        """Every answer that the server has not acknowledged, oldest first."""
        return [entry.result for entry in self._entries("result is not null") if entry.result is not None]

    def phases(self, task_id: str) -> list[Progress]:
        rows = self._db.execute("select progress from phases where task_id = ? order by position", (task_id,))
        return [msgspec.msgpack.decode(_unsealed(progress), type=Progress) for (progress,) in rows]

    def _entries(self, where: str, *values: object) -> Iterator[Entry]:
        rows = self._db.execute(
            f"select body, signer, signature, attempts, result from tasks where {where} order by position", values
        )
        for body, signer, signature, attempts, result in rows.fetchall():
            answer = msgspec.msgpack.decode(_unsealed(result), type=Result) if result is not None else None
            yield Entry(Task(body=body, signer=signer, signature=signature), attempts, answer)

    def _read_all(self) -> None:
        """SQLite checks the structure of pages, not their content; a missing page reads as zeros."""
        self.results()
        for (progress,) in self._db.execute("select progress from phases"):
            _unsealed(progress)

    @contextmanager
    def _commit(self, what: str) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
            self._points.reach(f"journal:{what}:before")
            self._db.execute("commit")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("rollback")
            raise
        self._points.reach(f"journal:{what}:after")


def _trusted(db: sqlite3.Connection, path: Path) -> Pinned:
    """Check every page before the first task is trusted; a truncated file is never read as an empty one."""
    for setting in ("locking_mode = exclusive", "synchronous = full", "foreign_keys = on"):
        db.execute(f"pragma {setting}")
    if path.stat().st_size % db.execute("pragma page_size").fetchone()[0]:
        raise JournalRefusedError(path, "it is cut in the middle of a page")
    if (found := db.execute("pragma user_version").fetchone()[0]) not in UPGRADES:
        raise JournalRefusedError(path, f"it is of format {found}, and this agent reads format {FORMAT}")
    if (verdict := db.execute("pragma quick_check").fetchone()[0]) != "ok":
        raise JournalRefusedError(path, f"it is damaged ({verdict})")
    if UPGRADES[found]:
        db.executescript(f"begin immediate; {UPGRADES[found]} pragma user_version = {FORMAT}; commit;")
    row = db.execute("select node_id, verifiers from node").fetchone()
    if row is None:
        raise JournalRefusedError(path, "it does not say which node it belongs to")
    return Pinned(row[0], tuple(msgspec.json.decode(row[1], type=list[Verifier])))


def _sealed(value: Progress | Result) -> bytes:
    content = msgspec.msgpack.encode(value)
    return zlib.crc32(content).to_bytes(SEAL_BYTES, "big") + content


def _unsealed(blob: bytes) -> bytes:
    seal, content = blob[:SEAL_BYTES], blob[SEAL_BYTES:]
    if zlib.crc32(content).to_bytes(SEAL_BYTES, "big") != seal:
        raise sqlite3.DatabaseError("a row is not as it was written")
    return content
