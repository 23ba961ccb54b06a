"""Files from which a starting gateway finds the connections and sessions of the previous one.

One folder per connection: `connection.json`, and one file per session, named after the process that waits for it.
They are not synced, because connections do not survive a power failure.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.node.files import write_whole
from gpuaas.wire.common import Dated, Moment
from gpuaas.wire.environments import AuthorizedKey

CONNECTION = "connection.json"


class ConnectionRecord(Dated, frozen=True, kw_only=True):
    id: str
    allocation_id: str
    machine_boot: str
    init_born: str  # of the environment's pid 1: a connection does not outlive it
    pid: int  # of sshd, pid 1 of the connection's pid namespace
    born: str
    socket: str  # as in /proc/<pid>/fd
    source: str
    opened_at: Moment
    key: AuthorizedKey | None = None  # None: not proven yet


class SessionRecord(Struct, frozen=True, kw_only=True):
    """Written before the process inside starts, so that a session never starts twice."""

    waiter: int
    waiter_born: str
    pid: int = 0
    born: str = ""
    error: str = ""  # its standard error at its start, as in /proc/<pid>/fd


class Records:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)

    def all(self) -> Iterator[ConnectionRecord]:
        """All recorded connections; unreadable records are incomplete and are removed."""
        for path in sorted(self._folder.iterdir()):
            try:
                yield msgspec.json.decode((path / CONNECTION).read_bytes(), type=ConnectionRecord)
            except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
                self.remove(path.name)

    def write(self, record: ConnectionRecord) -> None:
        folder = self._folder / record.id
        folder.mkdir(mode=0o700, exist_ok=True)
        write_whole(folder / CONNECTION, msgspec.json.encode(record), durable=False)

    def remove(self, id: str) -> None:
        folder = self._folder / id
        with suppress(FileNotFoundError, NotADirectoryError):
            for path in folder.iterdir():
                path.unlink(missing_ok=True)
            folder.rmdir()

    def session(self, connection: str, waiter: int, born: str) -> SessionRecord | None:
        try:
            found = msgspec.json.decode(self._session(connection, waiter).read_bytes(), type=SessionRecord)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return found if found.waiter_born == born else None

    def sessions(self, connection: str) -> list[SessionRecord]:
        found = []
        for path in (self._folder / connection).glob("session-*.json"):
            with suppress(FileNotFoundError, msgspec.DecodeError):
                found.append(msgspec.json.decode(path.read_bytes(), type=SessionRecord))
        return found

    def write_session(self, connection: str, record: SessionRecord) -> None:
        write_whole(self._session(connection, record.waiter), msgspec.json.encode(record), durable=False)

    def remove_session(self, connection: str, waiter: int) -> None:
        self._session(connection, waiter).unlink(missing_ok=True)

    def _session(self, connection: str, waiter: int) -> Path:
        return self._folder / connection / f"session-{waiter}.json"
