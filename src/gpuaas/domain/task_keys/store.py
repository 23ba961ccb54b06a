"""SQL for generations of task keys, and the generations that each node trusts."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound

TASK_KEYS = "task_keys"  # the topic of hints
NAMES_SHOWN = 100


class Generations(Struct, frozen=True):
    """`current` is the newest; generations before `oldest` are retired."""

    current: int = 1
    oldest: int = 1


class TaskKeyRow(Struct, frozen=True, kw_only=True):
    generation: int
    created_at: datetime
    created_by: str | None
    reason: str
    retired_at: datetime | None
    retired_by: str | None
    retire_reason: str
    is_forced: bool
    nodes_trusting: int
    nodes_missing: int
    missing: list[str]


async def generations(tx: Tx) -> Generations:
    return await tx.one(Generations, GENERATIONS)


async def lock(tx: Tx, *, shared: bool = False) -> None:
    """Enrolments, which give a node its first key, share the lock; changes of generations take it exclusively. So a
    node cannot start with a key that is being retired.
    """
    await tx.run(LOCK_SHARED if shared else LOCK)


async def all_keys(tx: Tx) -> list[TaskKeyRow]:
    return await tx.all(TaskKeyRow, f"{KEYS} order by k.generation desc", NAMES_SHOWN)


async def get(tx: Tx, generation: int) -> TaskKeyRow:
    row = await tx.maybe(TaskKeyRow, f"{KEYS} where k.generation = $2", NAMES_SHOWN, generation)
    if row is None:
        raise NotFound("task key")
    return row


async def add(tx: Tx, generation: int, *, by: str | None, reason: str, now: datetime) -> bool:
    tx.hint(TASK_KEYS, str(generation))
    return bool(await tx.run(ADD, generation, now, by, reason))


async def retire(tx: Tx, generation: int, *, by: str, reason: str, is_forced: bool, now: datetime) -> list[int]:
    """Retire this generation and every older one; returns those that were not retired before."""
    tx.hint(TASK_KEYS, str(generation))
    return await tx.column(RETIRE, generation, now, by, reason, is_forced)


async def accepted(tx: Tx, newest: Mapping[str, int]) -> None:
    """Store, by node, the newest generation that it trusts."""
    if newest:
        await tx.run(ACCEPTED, list(newest), list(newest.values()))


async def nodes_behind(tx: Tx) -> int:
    return int(await tx.value(BEHIND))


GENERATIONS = """
    select coalesce(max(generation), 1) as current,
        coalesce(min(generation) filter (where retired_at is null), 1) as oldest
    from task_keys
"""
LOCK = "select pg_advisory_xact_lock(hashtextextended('task keys', 0))"
LOCK_SHARED = "select pg_advisory_xact_lock_shared(hashtextextended('task keys', 0))"
KEYS = """
    select k.*, n.trusting as nodes_trusting, n.missing as nodes_missing,
        array(select m.name from nodes m where m.public_key is not null and m.intent <> 'retired'
            and m.task_key_generation < k.generation order by m.name limit $1) as missing
    from task_keys k, lateral (
        select count(*) filter (where task_key_generation >= k.generation) as trusting,
            count(*) filter (where task_key_generation < k.generation) as missing
        from nodes where public_key is not null and intent <> 'retired'
    ) n
"""
ADD = (
    "insert into task_keys (generation, created_at, created_by, reason) values ($1, $2, $3, $4) on conflict do nothing"
)
RETIRE = """
    update task_keys set retired_at = $2, retired_by = $3, retire_reason = $4, is_forced = $5
    where generation <= $1 and retired_at is null returning generation
"""
ACCEPTED = """
    update nodes n set task_key_generation = a.generation from unnest($1::text[], $2::int[]) as a (node_id, generation)
    where n.id = a.node_id and n.task_key_generation <> a.generation
"""
BEHIND = """
    select count(*) from nodes where public_key is not null and intent <> 'retired'
        and task_key_generation < (select max(generation) from task_keys)
"""
