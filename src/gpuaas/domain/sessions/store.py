"""SQL for connections: what nodes last reported, and requests to end one."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct, to_builtins

from gpuaas.core.db import Tx
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.statements.store import entries
from gpuaas.domain.timeline.store import EVENTS
from gpuaas.wire.environments import Connection
from gpuaas.wire.link import Logins, Sessions

SESSIONS = "sessions"  # the topic of connections to end, and the first word of their lanes; row ids are allocation ids
MOST_SESSIONS = 400


class SeenSession(Connection, frozen=True, kw_only=True):
    email: str = ""
    is_ending: bool = False
    break_glass_reason: str = ""  # operators connect only by terminal

    @property
    def is_unknown_key(self) -> bool:
        return not self.user_id


class Observation(Struct, frozen=True, kw_only=True):
    observed_at: datetime | None
    age_seconds: float | None
    is_current: bool
    sessions: list[SeenSession]


class WantedEnd(Struct, frozen=True, kw_only=True):
    session_id: str
    operation_id: str
    reason: str
    task: TaskRow | None


async def observe(tx: Tx, told: Iterable[tuple[str, Sessions]]) -> None:
    """Store reported connections. Allocations of other nodes are skipped, so a node cannot report on them. The newest
    report of an allocation counts.
    """
    newest = {(node_id, seen.allocation_id): seen for node_id, seen in told}
    if not newest:
        return
    await tx.run(
        OBSERVE,
        [allocation_id for _, allocation_id in newest],
        [node_id for node_id, _ in newest],
        [seen.at for seen in newest.values()],
        [{"sessions": to_builtins(seen.sessions[:MOST_SESSIONS])} for seen in newest.values()],  # otherwise a 2-D array
    )


async def keep_logins(tx: Tx, told: Iterable[tuple[str, Logins]]) -> None:
    """Store each login and logout once as a timeline entry of its allocation, however often it is sent. Events of
    allocations that were never on that node are skipped. The reported person is accepted only if the allocation
    had that key of that person; otherwise the entry names an unknown key.
    """
    events = [(node_id, event) for node_id, logins in told for event in logins.events]
    if not events:
        return
    flagged = await tx.column(
        KEEP_LOGINS,
        [event.id for _, event in events],
        [node_id for node_id, _ in events],
        [event.allocation_id for _, event in events],
        [event.at for _, event in events],
        [event.kind.value for _, event in events],
        [event.user_id for _, event in events],
        [event.source for _, event in events],
        [to_builtins(event) for _, event in events],
    )
    for project_id in set(flagged):
        tx.hint(EVENTS, str(project_id))


async def latest(tx: Tx, allocation_id: str, now: datetime) -> Observation:
    return await tx.one(Observation, LATEST, allocation_id, now)


async def want_end(
    tx: Tx, row: AllocationRow, session_id: str, *, operation_id: str, reason: str, now: datetime
) -> None:
    await tx.run(WANT_END, row.id, row.tenant_id, session_id, operation_id, reason, now)
    tx.hint(SESSIONS, row.id)


async def wanted_end(tx: Tx, allocation_id: str, session_id: str) -> str | None:
    """The operation that already ends this connection."""
    sql = "select operation_id from session_ends where allocation_id = $1 and session_id = $2"
    found: str | None = await tx.value(sql, allocation_id, session_id)
    return found


async def wanted_ends(tx: Tx, allocation_id: str) -> list[WantedEnd]:
    return await tx.all(WantedEnd, WANTED_ENDS, allocation_id, SESSIONS)


async def forget_end(tx: Tx, allocation_id: str, session_id: str) -> None:
    await tx.run("delete from session_ends where allocation_id = $1 and session_id = $2", allocation_id, session_id)


OBSERVE = """
    with told as (
        select a.id, a.tenant_id, a.project_id, s.at, s.body -> 'sessions' as body
        from unnest($1::text[], $2::text[], $3::timestamptz[], $4::jsonb[]) as s (allocation_id, node_id, at, body)
            join allocations a on a.id = s.allocation_id and a.node_id = s.node_id
    ), written as (
        insert into allocation_sessions as kept (allocation_id, tenant_id, observed_at, body)
        select id, tenant_id, at, body from told
        on conflict (allocation_id) do update set observed_at = excluded.observed_at, body = excluded.body
            where kept.observed_at <= excluded.observed_at
        returning kept.allocation_id
    )
    select count(*) from written
"""  # house: project-filter because a node tells of every project on it
LOGIN = {
    "tenant_id": "t.tenant_id",
    "project_id": "t.project_id",
    "subject_kind": "'allocation'",
    "subject_id": "t.allocation_id",
    "phase": "case when t.user_id = '' then 'unknown_key_' else 'ssh_' end || t.kind",
    "outcome": "'done'",
    "at": "t.at",
    "actor": "case when t.user_id = '' then 'unknown' else t.user_id end",
    "note": """
        case when t.user_id = '' then 'a key of the environment''s own file, from ' else 'from ' end || t.source
    """,
    "evidence": """
        jsonb_build_object('session', t.body ->> 'connection_id', 'fingerprint', t.body ->> 'key_fingerprint',
            'source', t.source, 'known_key', t.user_id <> '', 'bytes_in', t.body -> 'bytes_in',
            'bytes_out', t.body -> 'bytes_out')
    """,
}
# `kept` selects the new events; an event that occurs twice in one message is stored once. Tasks contain former key
# sets.
KEEP_LOGINS = f"""
    with told as (
        select distinct on (t.id) t.id, t.allocation_id, t.at, t.kind, t.source, t.body, a.tenant_id, a.project_id,
            case when exists (select from allocation_keysets k where k.allocation_id = a.id and k.body @> claim.key)
                or exists (select from node_tasks n where n.allocation_id = a.id
                    and coalesce(n.wants -> 'keys', n.wants -> 'spec' -> 'keys') -> 'keys' @> claim.key)
                then t.user_id else '' end as user_id
        from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[],
                $8::jsonb[]) as t (id, node_id, allocation_id, at, kind, user_id, source, body)
            join allocations a on a.id = t.allocation_id and a.node_id = t.node_id, lateral (
                select jsonb_build_array(jsonb_build_object('user_id', t.user_id,
                    'fingerprint', t.body ->> 'key_fingerprint')) as key) as claim
    ), kept as (
        insert into login_events (id, allocation_id, tenant_id, at)
        select id, allocation_id, tenant_id, at from told on conflict do nothing returning id
    ), entered as (
        {entries(LOGIN, "told t join kept k on k.id = t.id")} order by t.at
        returning project_id
    )
    select distinct project_id from entered
"""  # house: project-filter because a node tells of every project on it
LATEST = """
    select s.observed_at, extract(epoch from $2 - s.observed_at)::float8 as age_seconds,
        n.offline_since is null and a.status = 'active' as is_current, (
            select coalesce(jsonb_agg(c || jsonb_build_object('email', coalesce(u.email, ''),
                'is_ending', e.session_id is not null) order by c ->> 'opened_at'), '[]')
            from jsonb_array_elements(s.body) as c left join users u on u.id = c ->> 'user_id'
                left join session_ends e on e.allocation_id = a.id and e.session_id = c ->> 'id'
        ) as sessions
    from allocations a join nodes n on n.id = a.node_id left join allocation_sessions s on s.allocation_id = a.id
    where a.id = $1
"""
WANT_END = """
    insert into session_ends (allocation_id, tenant_id, session_id, operation_id, reason, requested_at)
    values ($1, $2, $3, $4, $5, $6)
"""
WANTED_ENDS = """
    select e.session_id, e.operation_id, e.reason, (
        select to_jsonb(t) from node_tasks t
        where t.allocation_id = $1 and t.lane = $2 || ':' || e.session_id and t.operation_id = e.operation_id
        order by t.seq desc limit 1
    ) as task
    from session_ends e where e.allocation_id = $1 order by e.session_id
"""
