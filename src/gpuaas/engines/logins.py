"""Queues logins and logouts until the server has them; bounded, with a count of dropped events."""

from collections.abc import Iterable
from datetime import datetime

from gpuaas.wire.environments import Connection, LoginEvent, LoginKind

MOST = 10_000


class Logins:
    """The engine records events, the agent sends them. An event keeps its id when it is sent again."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._waiting = most, dict[str, LoginEvent]()
        self.dropped = 0

    def opened(self, connection: Connection) -> None:
        self._add(LoginKind.LOGIN, connection, connection.opened_at)

    def closed(self, connection: Connection, at: datetime) -> None:
        self._add(LoginKind.LOGOUT, connection, at)

    def _add(self, kind: LoginKind, connection: Connection, at: datetime) -> None:
        event = LoginEvent(
            id=f"{connection.allocation_id}/{connection.id}/{kind}",
            kind=kind,
            allocation_id=connection.allocation_id,
            connection_id=connection.id,
            key_fingerprint=connection.key_fingerprint,
            user_id=connection.user_id,
            source=connection.source,
            at=at,
            bytes_in=connection.bytes_in,
            bytes_out=connection.bytes_out,
        )
        if len(self._waiting) >= self._most:
            self.dropped += 1
            return
        self._waiting[event.id] = event

    def waiting(self) -> list[LoginEvent]:
        """Oldest first."""
        return list(self._waiting.values())

    def kept(self, ids: Iterable[str]) -> None:
        """Remove events that the server has acknowledged."""
        for id in ids:
            self._waiting.pop(id, None)
