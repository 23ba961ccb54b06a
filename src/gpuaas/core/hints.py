"""Hints wake workers early. Without hints, workers find the same work by polling.

In this process a hint is delivered at once. Other replicas receive hints in batches, as one NOTIFY on a dedicated
connection: a NOTIFY inside a business transaction takes a global lock at commit and halves the rate of creates.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress

import asyncpg
import msgspec

from gpuaas.core.health import Health

Hint = tuple[str, str]  # topic, row id
Listener = Callable[[str, bool], None]  # row id, and whether the hint came from another replica

CHANNEL = "gpuaas_hints"
LOOP = "hints"
QUIET_SECONDS = 10.0  # of silence, after which the connection is checked
PAYLOAD_LIMIT = 7000  # PostgreSQL allows 8000 bytes


class Hints:
    """The hint bus of one process."""

    def __init__(self, replica_id: str) -> None:
        self.replica_id = replica_id
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._outgoing: dict[Hint, None] = {}
        self._wake = asyncio.Event()

    def on(self, topic: str, listener: Listener) -> Callable[[], None]:
        """Subscribe; call the returned function to unsubscribe."""
        self._listeners[topic].append(listener)
        return lambda: self._listeners[topic].remove(listener)

    def send(self, hints: Iterable[Hint]) -> None:
        for hint in dict.fromkeys(hints):
            self._outgoing[hint] = None
            self._deliver(hint, remote=False)
        self._wake.set()

    def _deliver(self, hint: Hint, *, remote: bool) -> None:
        topic, row_id = hint
        for listener in list(self._listeners[topic]):
            listener(row_id, remote)

    async def relay(self, dsn: str, health: Health | None = None) -> None:
        """Relay hints between replicas until cancelled; a lost connection only adds latency."""
        known = health or Health()

        async def carry() -> None:
            connection = await asyncpg.connect(dsn, timeout=QUIET_SECONDS)
            try:
                await connection.add_listener(CHANNEL, self._heard)
                known.worked(LOOP)
                await self._pump(connection)
                raise ConnectionResetError("the connection for hints was closed")
            finally:
                await connection.close(timeout=2)

        await known.repeat(LOOP, carry)

    async def _pump(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Detect a lost connection: a close wakes this loop, and during silence a query checks the connection."""
        connection.add_termination_listener(lambda _: self._wake.set())
        while not connection.is_closed():
            with suppress(TimeoutError):
                async with asyncio.timeout(QUIET_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            batch, self._outgoing = list(self._outgoing), {}
            if not batch and not connection.is_closed():
                await connection.execute("select 1", timeout=QUIET_SECONDS)
            for payload in self._payloads(batch):
                await connection.execute("select pg_notify($1, $2)", CHANNEL, payload, timeout=QUIET_SECONDS)

    def _payloads(self, batch: list[Hint]) -> Iterable[str]:
        size, part = 0, list[Hint]()
        for hint in batch:
            part.append(hint)
            size += len(hint[0]) + len(hint[1]) + 8
            if size > PAYLOAD_LIMIT:
                yield self._encode(part)
                size, part = 0, []
        if part:
            yield self._encode(part)

    def _encode(self, part: list[Hint]) -> str:
        return msgspec.json.encode((self.replica_id, part)).decode()

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        sender, hints = msgspec.json.decode(str(payload), type=tuple[str, list[Hint]])
        if sender != self.replica_id:
            for hint in hints:
                self._deliver(hint, remote=True)
