"""Events for external consumers, delivered at least once; the statement of a change writes its event.

Reconcilers do not depend on it: it serves webhooks, notices and other consumers.
"""

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from gpuaas.core.db import Database, Tx

TOPIC = "outbox"
BATCH = 500
Deliver = Callable[[list["Event"]], Awaitable[None]]


class Event(Struct, frozen=True):
    id: int
    topic: str
    payload: dict[str, object]


async def publish(tx: Tx, topic: str, payload: Mapping[str, object]) -> None:
    """Write an event in the transaction of its change."""
    await tx.run("insert into outbox (topic, payload) values ($1, $2)", topic, dict(payload))
    tx.hint(TOPIC, "")


class Relay:
    """A worker that passes waiting events to `deliver` in batches, and marks them as delivered when it returns."""

    name = TOPIC
    topics = (TOPIC,)
    due = "select '' as id where exists (select from outbox where delivered_at is null)"
    pause = 5.0

    def __init__(self, db: Database, deliver: Deliver) -> None:
        self._db, self._deliver = db, deliver

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for the whole outbox
        while await self._pass():
            pass

    async def _pass(self) -> bool:
        async with self._db.read() as tx:
            events = await tx.all(
                Event, "select id, topic, payload from outbox where delivered_at is null order by id limit $1", BATCH
            )
        if not events:
            return False
        await self._deliver(events)
        async with self._db.write() as tx:
            await tx.run(
                "update outbox set delivered_at = clock_timestamp() where id = any($1)", [event.id for event in events]
            )
        return len(events) == BATCH
