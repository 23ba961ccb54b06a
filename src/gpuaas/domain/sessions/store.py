"""Rows of who is in: what nodes last said, and what somebody wants ended."""

from collections.abc import Iterable

from msgspec import to_builtins

from gpuaas.core.db import Tx
from gpuaas.wire.link import Sessions

SESSIONS = (
    "sessions"  # the topic of sessions to be ended, and the first word of their lanes; row ids are allocation ids
)
MOST_SESSIONS = 400


async def observe(tx: Tx, told: Iterable[tuple[str, Sessions]]) -> None:
    """By node: what one says of another's machines is not written. Of several words on a machine the newest counts."""
    newest = {(node_id, seen.allocation_id): seen for node_id, seen in told}
    if not newest:
        return
    await tx.run(
        OBSERVE,
        [allocation_id for _, allocation_id in newest],
        [node_id for node_id, _ in newest],
        [seen.at for seen in newest.values()],
        [to_builtins(seen.sessions[:MOST_SESSIONS]) for seen in newest.values()],
    )


OBSERVE = """
    insert into allocation_sessions as kept (allocation_id, tenant_id, observed_at, body)
    select a.id, a.tenant_id, s.at, s.body
    from unnest($1::text[], $2::text[], $3::timestamptz[], $4::jsonb[]) as s (allocation_id, node_id, at, body)
        join allocations a on a.id = s.allocation_id and a.node_id = s.node_id
    on conflict (allocation_id) do update set observed_at = excluded.observed_at, body = excluded.body
        where kept.observed_at < excluded.observed_at
"""
