"""What must never be in the database, and what must not be once a verb has come to its end.

Each query finds breaches, in words.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncpg

SETTLED = {
    "an allocation is neither active nor over": """
        select id || ' is ' || status || ': ' || status_reason from allocations
        where status not in ('active', 'released') or (status = 'released' and cleanup_proven_at is null)
    """,
    "an operation did not end well": """
        select id || ' ' || kind || ' is ' || status || ': ' || reason from operations where status <> 'succeeded'
    """,
    "a resize is under way": "select allocation_id from resizes",
    "a task is open": "select id || ' ' || kind || ' is ' || status from node_tasks where status in ('queued', 'sent')",
    "a terminal outlives its machine": """
        select t.id || ' on ' || a.id || ', ' || a.status from terminals t join allocations a on a.id = t.allocation_id
        where t.closed_at is null and a.status <> 'active'
    """,
    "a terminal is over and its node has it": """
        select id || ': ' || reason from terminals where closed_at is not null and ended_at is null
    """,
    "keys are not as they should be": """
        select a.id || ' admits ' || k.observed_generation || ' of ' || k.generation
        from allocation_keysets k join allocations a on a.id = k.allocation_id
        where a.status = 'active' and k.observed_generation <> k.generation
    """,
    "a node does not answer": "select id from nodes where offline_since is not null",
    "a worker fails": "select concat(worker, ' on ', row_id, ': ', last_error) from work where attempts > 0",
}
ALWAYS = {
    "a slot had two owners": """
        select a.slot_id || ': ' || a.allocation_id || ' and ' || b.allocation_id
        from claims a join claims b on a.slot_id = b.slot_id and a.id < b.id
            and tstzrange(a.claimed_at, a.released_at) && tstzrange(b.claimed_at, b.released_at)
    """,
    "a claim is leaked": """
        select c.slot_id || ' by ' || a.id || ', ' || a.status
        from claims c join allocations a on a.id = c.allocation_id
        where c.released_at is null and a.cleanup_proven_at is not null
    """,
    "a claim ended before cleanup was proven": """
        select c.slot_id || ' by ' || a.id from claims c join allocations a on a.id = c.allocation_id
        where c.released_at < coalesce(a.cleanup_proven_at, 'infinity') and not exists (
            select from timeline_entries e where e.subject_id = a.id and e.phase = 'resized' and e.at = c.released_at)
    """,
    "an allocation does not hold its slots": """
        select a.id || ' holds ' || count(c.id) || ' of ' || a.gpu_count
        from allocations a left join claims c on c.allocation_id = a.id and c.released_at is null and c.kind = 'slot'
        where a.cleanup_proven_at is null group by a.id
        having count(c.id) <> a.gpu_count and not exists (select from resizes r where r.allocation_id = a.id)
    """,
    "cleanup is claimed and not proven": """
        select a.id from allocations a where a.cleanup_proven_at is not null
            and not coalesce((select bool_and(ok) from cleanup_proofs p
                where p.allocation_id = a.id and p.at = a.cleanup_proven_at), false)
    """,
    "billing goes on": "select id from allocations where status = 'released' and billing_stopped_at is null",
    "one key made more than one allocation": """
        select submits || ' submits, ' || made || ' allocations' from
            (select count(*) as submits from idempotency where route = 'POST /api/v1/allocations') i,
            (select count(*) as made from allocations) a where submits <> made
    """,
}


async def breaches(
    connection: "asyncpg.Connection[asyncpg.Record]", rules: Mapping[str, str] = {**ALWAYS, **SETTLED}
) -> list[str]:
    return [f"{name}: {row[0]}" for name, query in rules.items() for row in await connection.fetch(query)]
