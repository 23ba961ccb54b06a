"""What must never be in the database, and what must not be once a verb has come to its end.

The invariants of the running system, and what else holds once a test has settled. Each query finds breaches, in words.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpuaas.domain.invariants.store import RULES, Rule

if TYPE_CHECKING:
    import asyncpg


def _words(*, always: bool) -> dict[str, str]:
    return {rule.kind: _in_words(rule) for rule in RULES if rule.always is always}


def _in_words(rule: Rule) -> str:
    return f"select subject || ' ' || detail from ({rule.sql}) found"


SETTLED = {
    **_words(always=False),
    "an allocation is neither active nor over": """
        select id || ' is ' || status || ': ' || status_reason from allocations
        where status not in ('active', 'released') or (status = 'released' and cleanup_proven_at is null)
    """,
    "an operation did not end well": """
        select id || ' ' || kind || ' is ' || status || ': ' || reason from operations where status <> 'succeeded'
    """,
    "a resize is under way": "select allocation_id from resizes",
    "a task is open": "select id || ' ' || kind || ' is ' || status from node_tasks where status in ('queued', 'sent')",
    "a terminal is over and its node has it": """
        select id || ': ' || reason from terminals where closed_at is not null and ended_at is null
    """,
    "a node does not answer": "select id from nodes where offline_since is not null",
    "a worker fails": "select concat(worker, ' on ', row_id, ': ', last_error) from work where attempts > 0",
}
ALWAYS = {
    **_words(always=True),
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
