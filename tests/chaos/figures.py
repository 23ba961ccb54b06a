"""The four figures of a chaos run, each of which must be 0: from the clients' record, the database and the nodes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuaas.engines.fake_environments import FakeEnvironment
from gpuaas.wire.environments import EnvironmentState
from tests.chaos.load import Ack, Record

if TYPE_CHECKING:
    import asyncpg

OVER = ("releasing", "released", "release_failed", "failed")


@dataclass
class Evidence:
    """Of one node."""

    environments: Mapping[str, FakeEnvironment]
    removed: Sequence[str]


@dataclass
class Figures:
    """Each names what it counts, so that a failure says which."""

    acknowledged: int
    lost: list[str] = field(default_factory=list)
    held_twice: list[str] = field(default_factory=list)
    without_end: list[str] = field(default_factory=list)
    destroyed: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.held_twice or self.without_end or self.destroyed)


async def figures(
    database: "asyncpg.Connection[asyncpg.Record]",
    record: Record,
    nodes: Sequence[Evidence],
    *,
    excused: frozenset[str] = frozenset(),
) -> Figures:
    """`excused` are operations that a failover without their writes has lost: expected, and counted apart."""
    acks = [ack for ack in record.acks if ack.operation_id not in excused]
    return Figures(
        acknowledged=len(acks),
        lost=await lost(database, acks),
        held_twice=[*await held_twice(database), *(one for node in nodes for one in shared_devices(node))],
        without_end=[row[0] for row in await database.fetch(WITHOUT_END)],
        destroyed=destroyed(record, nodes),
    )


async def lost(database: "asyncpg.Connection[asyncpg.Record]", acks: Sequence[Ack]) -> list[str]:
    known = {row[0] for row in await database.fetch("select id from operations")}
    statuses = {row[0]: row[1] for row in await database.fetch("select id, status from allocations")}
    found = [f"{ack.kind} {ack.operation_id}" for ack in acks if ack.operation_id and ack.operation_id not in known]
    found += [f"create of {ack.allocation_id}" for ack in acks if ack.allocation_id not in statuses]
    released = {ack.allocation_id for ack in acks if ack.kind == "release"}
    return found + [f"release of {id}" for id in released if statuses.get(id, OVER[0]) not in OVER]


async def held_twice(database: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    return [row[0] for row in await database.fetch(HELD_TWICE)]


def shared_devices(node: Evidence) -> list[str]:
    """What the node itself shows, whatever the database believes."""
    running = [each for each in node.environments.values() if each.state is EnvironmentState.RUNNING]
    counted = Counter(device for each in running for device in each.spec.devices)
    return [f"{device} is used by {number} environments" for device, number in counted.items() if number > 1]


def destroyed(record: Record, nodes: Sequence[Evidence]) -> list[str]:
    """Removed though nobody asked for it; or kept, and no longer there."""
    removed = {id for node in nodes for id in node.removed}
    running = {id for node in nodes for id, each in node.environments.items() if each.state is EnvironmentState.RUNNING}
    created = {ack.allocation_id for ack in record.acks if ack.kind == "create"} | record.kept
    asked_for = record.released
    return [
        *(f"{id} was removed" for id in sorted(removed & created - asked_for)),
        *(f"{id} is gone" for id in sorted(record.kept - asked_for - running)),
    ]


HELD_TWICE = """
    select a.slot_id || ': ' || a.allocation_id || ' and ' || b.allocation_id
    from claims a join claims b on a.slot_id = b.slot_id and a.id < b.id
        and tstzrange(a.claimed_at, a.released_at) && tstzrange(b.claimed_at, b.released_at)
"""
WITHOUT_END = "select id || ' ' || kind || ' of ' || subject_id from operations where status = 'running'"
