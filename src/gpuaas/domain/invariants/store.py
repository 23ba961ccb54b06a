"""The invariants of the running system, as queries that find violations; and SQL for the violations found.

Every query returns two text columns, subject and detail, and reads only live or recent rows, because it runs every
half minute on the whole platform. The tests run the same queries. They use statement_timestamp() because
clock_timestamp() is volatile and cannot be an index condition.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.wire.invariants import Invariant, Violation

SETTLED_LOOKS = 2  # a violation counts after two checks in a row, because work in progress may look like one


class Rule(Struct, frozen=True, kw_only=True):
    """`always` rules hold at every commit; the others may be violated briefly, while a worker is busy."""

    kind: str
    about: str
    always: bool
    sql: str


class Found(Struct, frozen=True):
    subject: str
    detail: str


async def find(tx: Tx, rule: Rule) -> list[Found]:
    return await tx.all(
        Found, f"select subject, min(detail) as detail from ({rule.sql}) v group by subject limit $1", MOST
    )


async def note(tx: Tx, rule: Rule, found: Sequence[Found], *, seconds: float, now: datetime) -> list[Violation]:
    """Store the violations found and delete those that ended; returns the violations that count."""
    subjects, details = [each.subject for each in found], [each.detail for each in found]
    await tx.run(LOOKED, rule.kind, now, seconds)
    await tx.run("delete from invariant_violations where kind = $1 and subject <> all ($2)", rule.kind, subjects)
    await tx.run(SEEN, rule.kind, subjects, details, now)
    return await tx.all(Violation, COUNTED, rule.kind, SETTLED_LOOKS)


async def forget(tx: Tx, kind: str, subject: str) -> None:
    await tx.run("delete from invariant_violations where kind = $1 and subject = $2", kind, subject)


async def end_orphan(tx: Tx, operation_id: str, *, reason: str, now: datetime) -> "Orphan | None":
    """Only if it is still abandoned: its work may have resumed in the meantime."""
    return await tx.maybe(Orphan, END_ORPHAN, operation_id, reason, now)


async def listed(tx: Tx) -> list[Invariant]:
    looks = {row["kind"]: row for row in await tx.connection.fetch("select * from invariant_looks")}
    violations = await tx.all(Violation, f"{VIOLATION} where looks >= $1 order by kind, first_seen_at", SETTLED_LOOKS)
    return [
        Invariant(
            kind=rule.kind,
            about=rule.about,
            looked_at=looks[rule.kind]["looked_at"] if rule.kind in looks else None,
            seconds=looks[rule.kind]["seconds"] if rule.kind in looks else None,
            violations=[each for each in violations if each.kind == rule.kind],
        )
        for rule in RULES
    ]


async def counts(tx: Tx) -> dict[str, int]:
    """By kind, including kinds without violations."""
    rows = await tx.connection.fetch(COUNTS, SETTLED_LOOKS)
    return {rule.kind: 0 for rule in RULES} | {row["kind"]: row["count"] for row in rows}


class Orphan(Struct, frozen=True):
    id: str
    kind: str
    subject_kind: str
    subject_id: str
    tenant_id: str | None
    project_id: str | None


MOST = 1000  # stored violations of one kind
NEWEST_CLAIMS = 5000
VIOLATION = "select kind, subject, detail, first_seen_at, last_seen_at, looks from invariant_violations"
LOOKED = """
    insert into invariant_looks (kind, looked_at, seconds) values ($1, $2, $3)
    on conflict (kind) do update set looked_at = excluded.looked_at, seconds = excluded.seconds
"""
SEEN = """
    insert into invariant_violations as v (kind, subject, detail, first_seen_at, last_seen_at)
    select $1, subject, detail, $4, $4 from unnest($2::text[], $3::text[]) as found (subject, detail)
    on conflict (kind, subject) do update
        set detail = excluded.detail, last_seen_at = excluded.last_seen_at, looks = v.looks + 1
"""
COUNTED = f"{VIOLATION} where kind = $1 and looks >= $2 order by first_seen_at, subject"
COUNTS = "select kind, count(*) from invariant_violations where looks >= $1 group by kind"
# An operation is alive while the row that it works on names it and is not settled.
LIVE_SUBJECT = """
    exists (select from allocations a where a.id = o.subject_id and a.operation_id = o.id
        and a.status in ('requested', 'provisioning', 'restarting', 'releasing'))
    or exists (select from storage_attachments t where t.allocation_id = o.subject_id and t.operation_id = o.id
        and t.status in ('attaching', 'detaching'))
    or exists (select from allocation_runtimes r where r.allocation_id = o.subject_id and r.operation_id = o.id
        and r.state in ('applying', 'clearing'))
    or exists (select from session_ends e where e.allocation_id = o.subject_id and e.operation_id = o.id)
    or exists (select from volumes v where v.id = o.subject_id and v.operation_id = o.id
        and v.status in ('creating', 'deleting'))
    or exists (select from volume_snapshots s where (s.id = o.subject_id or s.volume_id = o.subject_id)
        and s.operation_id = o.id and s.status in ('creating', 'deleting'))
    or exists (select from node_bundles b where b.node_id = o.subject_id and b.operation_id = o.id
        and b.status in ('staging', 'staged', 'removing'))
"""
END_ORPHAN = f"""
    update operations o set status = 'failed', reason = $2, ended_at = $3, last_progress_at = $3
    where o.id = $1 and o.status = 'running' and not ({LIVE_SUBJECT})
    returning o.id, o.kind, o.subject_kind, o.subject_id, o.tenant_id, o.project_id
"""
OPERATION_ORPHAN = "operation_orphan"
RULES = (
    Rule(
        kind="claim_overlap",
        about="A slot belongs to one allocation at a time.",
        always=True,
        sql=f"""
            select slot_id as subject, allocation_id || ' claimed it before ' || other || ' let go' as detail from (
                select slot_id, allocation_id, claimed_at, lag(allocation_id) over earlier as other,
                    max(coalesce(released_at, 'infinity')) over earlier as taken_until
                from (select * from claims order by id desc limit {NEWEST_CLAIMS}) newest where slot_id is not null
                window earlier as (partition by slot_id order by claimed_at, id
                    rows between unbounded preceding and 1 preceding)
            ) claim where taken_until > claimed_at
        """,
    ),
    Rule(
        kind="claim_leaked",
        about="An allocation whose cleanup is proven claims nothing.",
        always=True,
        sql="""
            select c.id::text as subject, coalesce(c.slot_id, c.node_id) || ' by ' || a.id || ', ' || a.status as detail
            from claims c join allocations a on a.id = c.allocation_id
            where c.released_at is null and a.cleanup_proven_at is not null
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="claim_ended_early",
        about="A claim ends when cleanup is proven, or when a resize releases the slot.",
        always=True,
        sql=f"""
            select c.id::text as subject, coalesce(c.slot_id, c.node_id) || ' by ' || a.id as detail
            from (select * from claims order by id desc limit {NEWEST_CLAIMS}) c
                join allocations a on a.id = c.allocation_id
            where c.released_at < coalesce(a.cleanup_proven_at, 'infinity') and not exists (
                select from timeline_entries e
                where e.subject_id = a.id and e.phase = 'resized' and e.at = c.released_at)
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="slots_missing",
        about="An allocation claims as many slots as it has GPUs until its cleanup is proven.",
        always=True,
        sql="""
            select a.id as subject, 'claims ' || count(c.id) || ' of ' || a.gpu_count as detail
            from allocations a
                left join claims c on c.allocation_id = a.id and c.released_at is null and c.kind = 'slot'
            where a.cleanup_proven_at is null group by a.id
            having count(c.id) <> a.gpu_count and not exists (select from resizes r where r.allocation_id = a.id)
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="cleanup_unproven",
        about="Cleanup is recorded only if every proof succeeded.",
        always=True,
        sql="""
            select a.id as subject, 'no complete proof of ' || a.cleanup_proven_at as detail from allocations a
            where a.status in ('released', 'failed') and a.status_since > statement_timestamp() - interval '1 day'
                and a.cleanup_proven_at is not null and not coalesce((select bool_and(ok) from cleanup_proofs p
                    where p.allocation_id = a.id and p.at = a.cleanup_proven_at), false)
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="billing_continues",
        about="A released allocation is not billed.",
        always=True,
        sql="""
            select id as subject, 'released ' || coalesce(released_at, status_since) as detail from allocations
            where status in ('released', 'failed') and status_since > statement_timestamp() - interval '1 day'
                and status = 'released'
                and billing_stopped_at is null
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="hold_orphan",
        about="A hold belongs to an attachment that has not ended, of an allocation that is not released.",
        always=True,
        sql="""
            select h.allocation_id || ' ' || h.kind || ' ' || h.ref as subject,
                'attachment ' || coalesce(t.status, 'missing') || ', allocation ' || a.status as detail
            from holds h join allocations a on a.id = h.allocation_id
                left join storage_attachments t on t.id = h.ref and h.kind = 'volume'
            where a.status = 'released' or (h.kind = 'volume'
                and (t.id is null or t.status in ('detached', 'failed')))
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="hold_missing",
        about="An attachment that has not ended holds its allocation.",
        always=True,
        sql="""
            select t.id as subject, t.status || ' on ' || t.allocation_id as detail from storage_attachments t
            where t.status not in ('detached', 'failed') and not exists (select from holds h
                where h.allocation_id = t.allocation_id and h.kind = 'volume' and h.ref = t.id)
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind=OPERATION_ORPHAN,
        about="A running operation has a subject that it works on. Repair: the operation is ended.",
        always=False,
        sql=f"""
            select o.id as subject, o.kind || ' on ' || o.subject_id || ' since ' || o.started_at as detail
            from operations o where o.status = 'running' and not ({LIVE_SUBJECT})
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="task_orphan",
        about="An open node task has a subject that still needs it.",
        always=False,
        sql="""
            select t.id as subject,
                t.kind || ' on ' || t.node_id || ' for ' || coalesce(a.id || ', ' || a.status, t.lane) as detail
            from node_tasks t left join allocations a on a.id = t.allocation_id join nodes n on n.id = t.node_id
            where t.ended_at is null and (n.intent = 'retired' or a.cleanup_proven_at is not null
                or (t.kind like 'runtime.%stage' and not exists (
                    select from node_bundles b where 'stagings:' || b.id = t.lane and b.operation_id = t.operation_id)))
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="keyset_missing",
        about="An allocation whose cleanup is not proven has a key set.",
        always=True,
        sql="""
            select a.id as subject, a.status as detail from allocations a where a.cleanup_proven_at is null
                and not exists (select from allocation_keysets k where k.allocation_id = a.id)
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="keyset_outsider",
        about="Key sets and own key files admit only people who work in the project.",
        always=True,
        sql="""
            with admitted as materialized (
                select a.id, a.project_id, unnest(array(select key ->> 'user_id' from jsonb_array_elements(k.body) key)
                    || case when k.admits_own then array[k.admits_own_by] else '{}' end) as user_id
                from allocation_keysets k join allocations a on a.id = k.allocation_id
                where a.status not in ('released', 'failed')
            ), outsiders as materialized (
                select user_id, project_id from (select distinct user_id, project_id from admitted) pair
                where not works_in(user_id, project_id)
            )
            select id as subject, 'admits ' || user_id as detail
            from admitted join outsiders using (user_id, project_id)
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="keyset_unobserved",
        about="An active allocation on an online node admits its newest key set.",
        always=False,
        sql="""
            select a.id as subject, 'admits ' || k.observed_generation || ' of ' || k.generation as detail
            from allocation_keysets k join allocations a on a.id = k.allocation_id join nodes n on n.id = a.node_id
            where k.generation > k.observed_generation and a.status = 'active' and n.offline_since is null
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="environment_unobserved",
        about="An active allocation was observed at its current boot.",
        always=False,
        sql="""
            select id as subject, 'boot ' || observed_boot || ' of ' || boot as detail from allocations
            where status = 'active' and observed_boot <> boot
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="environment_unknown",
        about="Every environment that a node reports is in the database.",
        always=False,
        sql="""
            select n.id || ' ' || environment as subject, 'on ' || n.name as detail
            from nodes n, unnest(n.unknown_environments) as environment where n.intent <> 'retired'
        """,
    ),
    Rule(
        kind="volume_unknown",
        about="Every volume that a node reports is in the database.",
        always=False,
        sql="""
            select place || ' ' || volume_id as subject, 'on ' || backend || ' storage' as detail from unknown_volumes
            where gone_at is null and adopted_at is null and removed_at is null
        """,
    ),
    Rule(
        kind="device_sold_twice",
        about="A slot whose device an unknown environment uses is not claimed by another allocation.",
        always=False,
        sql="""
            select d.slot_id as subject, d.environment_id || ' uses it, ' || c.allocation_id || ' claims it' as detail
            from device_holds d join claims c on c.slot_id = d.slot_id and c.released_at is null
            where c.allocation_id <> d.environment_id
        """,
    ),
    Rule(
        kind="resize_orphan",
        about="A resize belongs to an allocation that is restarting or ending.",
        always=False,
        sql="""
            select r.allocation_id as subject, 'the allocation is ' || a.status as detail
            from resizes r join allocations a on a.id = r.allocation_id
            where a.status in ('active', 'requested', 'provisioning')
        """,  # house: project-filter because operators see the whole platform
    ),
    Rule(
        kind="terminal_orphan",
        about="An open terminal belongs to an active allocation.",
        always=False,
        sql="""
            select t.id as subject, 'on ' || a.id || ', ' || a.status as detail
            from terminals t join allocations a on a.id = t.allocation_id
            where t.closed_at is null and a.status <> 'active'
        """,  # house: project-filter because operators see the whole platform
    ),
)
