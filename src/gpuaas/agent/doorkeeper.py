"""Ends connections whose time is over, and reports connections, logins and logouts to the server."""

from collections import defaultdict
from datetime import datetime, timedelta

from gpuaas.agent.outgoing import Outgoing
from gpuaas.engines.base import Engine
from gpuaas.wire.environments import Connection
from gpuaas.wire.link import Logins, Sessions

LOOK_SECONDS = 0.5
LOGINS_PER_MESSAGE = 100
TELL_AGAIN_AFTER = timedelta(seconds=20)  # while anybody is connected: its traffic


class Doorkeeper:
    """`look` is one pass. On a new link everything is sent again, including that an environment has no connections: a
    person may have left while there was no link.
    """

    def __init__(self, engine: Engine, outgoing: Outgoing) -> None:
        self._engine, self._outgoing = engine, outgoing
        self._told: dict[str, Sessions] = {}
        self._is_all_due = True
        self._sent: set[str] = set()  # ids of logins, on this link

    def forget(self) -> None:
        self._told.clear()
        self._is_all_due = True
        self._sent.clear()

    async def look(self, now: datetime | None) -> None:
        """`now` is the server's time; None before it is known, and then nothing is sent."""
        await self._engine.enforce()
        if now is None or not self._outgoing.is_open:
            return
        self._tell_logins()
        inside = defaultdict[str, list[Connection]](list)
        for connection in await self._engine.connections(None):
            inside[connection.allocation_id].append(connection)
        known = {*inside, *self._told}
        if self._is_all_due:
            known |= {one.allocation_id for one in await self._engine.observe()}
        self._is_all_due = False
        for allocation_id in sorted(known):
            self._tell(Sessions(allocation_id=allocation_id, sessions=inside[allocation_id], at=now))

    def _tell_logins(self) -> None:
        """Each event once per link, until the server has stored it."""
        waiting = [event for event in self._engine.logins.waiting() if event.id not in self._sent]
        for start in range(0, len(waiting), LOGINS_PER_MESSAGE):
            events = waiting[start : start + LOGINS_PER_MESSAGE]
            if not self._outgoing.put(Logins(events=events, dropped=self._engine.logins.dropped)):
                return
            self._sent.update(event.id for event in events)

    def kept(self, ids: list[str]) -> None:
        self._engine.logins.kept(ids)
        self._sent.difference_update(ids)

    def _tell(self, seen: Sessions) -> None:
        told = self._told.get(seen.allocation_id)
        is_news = told is None or _names(told) != _names(seen)
        is_old = told is not None and bool(seen.sessions) and seen.at - told.at >= TELL_AGAIN_AFTER
        if not (is_news or is_old):
            return
        if not self._outgoing.put(seen):
            self._is_all_due |= told is None
            return
        self._told[seen.allocation_id] = seen
        if not seen.sessions:
            del self._told[seen.allocation_id]


def _names(seen: Sessions) -> set[str]:
    return {one.id for one in seen.sessions}
