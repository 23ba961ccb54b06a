"""SQL for samples (the newest of each allocation, and two ring buffers of history), health findings, and signals of
use.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct, to_builtins

from gpuaas.core.db import Tx
from gpuaas.wire.metrics import Reading, Sample

RING_SECONDS, RING_SLOTS = 10, 360
MINUTE_SECONDS, MINUTE_SLOTS = 60, 1440
ROLLED_UP = "metrics_rolled_up_to"
LATE = timedelta(seconds=20)  # how long a minute waits for late samples
BUSY_CORES = 0.05  # below it, an allocation counts as idle
BUSY_PERCENT = 5.0
FORGOTTEN_AT_ONCE = 200
TERMINAL, WORKLOADS = "terminal", "workloads"  # signals from overlays


class Newest(Struct, frozen=True, kw_only=True):
    boot: int
    at: datetime
    age_seconds: float
    readings: list[Reading]


class Row(Struct, frozen=True, kw_only=True):
    """One time in a ring buffer; in minutes, each number is [last, mean, low, high]."""

    at: datetime
    boot: int
    numbers: dict[str, float | list[float]]


class Finding(Struct, frozen=True, kw_only=True):
    code: str
    words: str
    next_step: str


class Signal(Struct, frozen=True, kw_only=True):
    """A signal of use: when it last showed work, or why that is unknown."""

    kind: str
    last_at: datetime | None
    unavailable: str = ""


class Signs(Struct, frozen=True, kw_only=True):
    age_seconds: float | None
    readings: list[Reading] | None
    cpu_active_at: datetime | None
    gpu_active_at: datetime | None
    ssh_active_at: datetime | None
    activity: dict[str, datetime]


async def write(tx: Tx, samples: Sequence[tuple[str, Sample]]) -> list[tuple[str, Sample]]:
    """Write samples, by node, in one statement; returns those that were written. A node cannot write samples of
    allocations on other nodes.
    """
    rows = sorted(samples, key=lambda each: each[1].allocation_id)  # one order for all replicas prevents deadlocks
    await tx.run("set local synchronous_commit = off")  # if a crash loses a sample, the next one follows
    places = await tx.column(
        WRITE,
        [sample.allocation_id for _, sample in rows],
        [node_id for node_id, _ in rows],
        [sample.boot for _, sample in rows],
        [sample.at for _, sample in rows],
        [to_builtins(sample.readings) for _, sample in rows],
        [{one.key: one.value for one in sample.readings if one.value is not None} for _, sample in rows],
        BUSY_CORES,
        BUSY_PERCENT,
    )
    written = {tuple(place) for place in places}
    return [(node_id, sample) for node_id, sample in rows if (node_id, sample.allocation_id) in written]


async def newest(tx: Tx, allocation_id: str) -> Newest | None:
    return await tx.maybe(Newest, NEWEST, allocation_id)


async def ring(tx: Tx, allocation_id: str, since: datetime) -> list[Row]:
    return await tx.all(Row, RING, allocation_id, since, RING_SLOTS)


async def minutes(tx: Tx, allocation_id: str, since: datetime) -> list[Row]:
    return await tx.all(Row, MINUTES, allocation_id, since, MINUTE_SLOTS)


async def roll_up(tx: Tx, now: datetime) -> None:
    """Roll up every complete minute once and in order; after a pause, only as far back as the ring buffer reaches."""
    end = (now - LATE).replace(second=0, microsecond=0)
    oldest = end - timedelta(seconds=RING_SECONDS * RING_SLOTS - MINUTE_SECONDS)
    start = max(await tx.value(FROM, ROLLED_UP) or oldest, oldest)
    while start < end:
        first = int(start.timestamp()) // RING_SECONDS
        await tx.run(ROLL_UP, start, [(first + each) % RING_SLOTS for each in range(MINUTE_SECONDS // RING_SECONDS)])
        start += timedelta(seconds=MINUTE_SECONDS)
    await tx.run(ROLLED, ROLLED_UP, end.isoformat())


async def forget(tx: Tx, before: datetime) -> int:
    """Delete the history of allocations whose cleanup was proven before then; returns their number."""
    ids = await tx.column(GONE, before, FORGOTTEN_AT_ONCE)
    if ids:
        await tx.run(FORGET_RING, ids, RING_SLOTS)
        await tx.run(FORGET_MINUTES, ids, MINUTE_SLOTS)
        for table in ("newest_samples", "activity", "health_findings"):
            await tx.run(f"delete from {table} where allocation_id = any ($1)", ids)
    return len(ids)


async def set_findings(tx: Tx, source: str, found: dict[str, list[Finding]], now: datetime) -> None:
    """Set all findings of `source` for these allocations; a finding that is not among them is resolved.

    All sources of health findings write through here. A finding that persists keeps its `since`.
    """
    rows = [(id, each) for id, findings in sorted(found.items()) for each in findings]
    await tx.run(WELL_AGAIN, source, sorted(found), [id for id, _ in rows], [each.code for _, each in rows])
    await tx.run(
        FOUND,
        source,
        [id for id, _ in rows],
        [each.code for _, each in rows],
        [each.words for _, each in rows],
        [each.next_step for _, each in rows],
        now,
    )


async def touch(tx: Tx, allocation_ids: Sequence[str], kind: str, now: datetime) -> None:
    """Store use that an overlay observed, such as input on a terminal or a running workload."""
    await tx.run(TOUCH, allocation_ids, kind, now)


async def signals(tx: Tx, allocation_id: str) -> list[Signal]:
    """The signals that show whether an allocation is idle; an unknown signal says why."""
    seen = await tx.maybe(Signs, SIGNS, allocation_id)
    return [] if seen is None else signals_of(seen)


def signals_of(seen: Signs) -> list[Signal]:
    stale = why_stale(seen.age_seconds)
    readings = seen.readings or []
    measured = {"cpu": seen.cpu_active_at, "gpu": seen.gpu_active_at, "ssh_sessions": seen.ssh_active_at}
    told = []
    for kind, last_at in measured.items():
        mine = [one for one in readings if one.metric.startswith(kind)]
        without = all(one.value is None for one in mine)
        why = stale or (mine[0].unavailable if mine and without else "" if mine else "not measured on this node")
        told.append(Signal(kind=kind, last_at=last_at, unavailable=why))
    for kind in (TERMINAL, WORKLOADS):
        last_at = seen.activity.get(kind)
        why = "" if last_at else "never observed on this allocation"
        told.append(Signal(kind=kind, last_at=last_at, unavailable=why))
    return told


STALE_SECONDS = 35.0  # three missed samples


def why_stale(age_seconds: float | None) -> str:
    if age_seconds is None:
        return "the node has not sent a sample yet"
    return "" if age_seconds <= STALE_SECONDS else f"the last sample is {age_seconds:.0f} s old"


WRITE = """
    with told as (
        select s.*, a.tenant_id, (s.numbers ->> 'cpu')::float8 as cpu,
            (select max(value::float8) from jsonb_each_text(s.numbers) where key like 'gpu\\_utilisation%') as gpu,
            (s.numbers ->> 'ssh_sessions')::float8 as ssh
        from unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[], $5::jsonb[], $6::jsonb[])
                as s (allocation_id, node_id, boot, at, readings, numbers)
            join allocations a on a.id = s.allocation_id and a.node_id = s.node_id and a.cleanup_proven_at is null
        order by s.allocation_id
    ), kept as (
        insert into samples as r (slot, allocation_id, tenant_id, at, boot, numbers)
        select (floor(extract(epoch from at) / 10)::bigint % 360)::int, allocation_id, tenant_id, at, boot, numbers
        from told
        on conflict (slot, allocation_id) do update
            set at = excluded.at, boot = excluded.boot, numbers = excluded.numbers where r.at <= excluded.at
    )
    insert into newest_samples as n (allocation_id, tenant_id, node_id, boot, at, received_at, readings, cpu,
        gpu_active_at, ssh_active_at)
    select allocation_id, tenant_id, node_id, boot, at, clock_timestamp(), readings, cpu,
        case when gpu >= $8 then at end, case when ssh > 0 then at end
    from told
    on conflict (allocation_id) do update set
        node_id = excluded.node_id, boot = excluded.boot, at = excluded.at, received_at = excluded.received_at,
        readings = excluded.readings, cpu = excluded.cpu,
        cpu_active_at = case when n.boot = excluded.boot and excluded.at > n.at
            and (excluded.cpu - n.cpu) / extract(epoch from excluded.at - n.at) >= $7
            then excluded.at else n.cpu_active_at end,
        gpu_active_at = coalesce(excluded.gpu_active_at, n.gpu_active_at),
        ssh_active_at = coalesce(excluded.ssh_active_at, n.ssh_active_at)
    where n.at <= excluded.at
    returning array[n.node_id, n.allocation_id]
"""  # house: project-filter because a node has allocations of many projects; each row is bound to its node
NEWEST = """
    select boot, at, extract(epoch from clock_timestamp() - received_at)::float8 as age_seconds, readings
    from newest_samples where allocation_id = $1
"""
RING = """
    select at, boot, numbers from samples
    where slot = any (array(select generate_series(0, $3::int - 1))) and allocation_id = $1 and at >= $2 order by at
"""
MINUTES = RING.replace("samples", "sample_minutes")
FROM = "select value::timestamptz from platform where key = $1"
ROLLED = """
    insert into platform (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value
"""
ROLL_UP = """
    insert into sample_minutes as m (slot, allocation_id, tenant_id, at, boot, numbers)
    select (floor(extract(epoch from $1::timestamptz) / 60)::bigint % 1440)::int, allocation_id, tenant_id, $1,
        max(boot), jsonb_object_agg(key, jsonb_build_array(last, mean, low, high))
    from (
        select s.allocation_id, s.tenant_id, max(s.boot) as boot, one.key, (array_agg(v order by s.at desc))[1] as last,
            avg(v) as mean, min(v) as low, max(v) as high
        from samples s, jsonb_each_text(s.numbers) as one (key, text), lateral (select one.text::float8) as number (v)
        where s.slot = any ($2::int[]) and s.at >= $1 and s.at < $1::timestamptz + interval '1 minute'
        group by s.allocation_id, s.tenant_id, one.key
    ) each_metric
    group by allocation_id, tenant_id
    on conflict (slot, allocation_id) do update set at = excluded.at, boot = excluded.boot, numbers = excluded.numbers
"""
GONE = """
    select n.allocation_id from newest_samples n join allocations a on a.id = n.allocation_id
    where a.cleanup_proven_at < $1 limit $2
"""  # house: project-filter because history expires for every project
FORGET_RING = """
    delete from samples where slot = any (array(select generate_series(0, $2::int - 1))) and allocation_id = any ($1)
"""
FORGET_MINUTES = FORGET_RING.replace("samples", "sample_minutes")
WELL_AGAIN = """
    delete from health_findings h where source = $1 and allocation_id = any ($2::text[]) and not exists (
        select from unnest($3::text[], $4::text[]) as still (allocation_id, code)
        where still.allocation_id = h.allocation_id and still.code = h.code)
"""
FOUND = """
    insert into health_findings as h (allocation_id, tenant_id, source, code, words, next_step, since)
    select a.id, a.tenant_id, $1, f.code, f.words, f.next_step, $6
    from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as f (allocation_id, code, words, next_step)
        join allocations a on a.id = f.allocation_id
    on conflict (allocation_id, source, code) do update set words = excluded.words, next_step = excluded.next_step
        where (h.words, h.next_step) is distinct from (excluded.words, excluded.next_step)
"""
TOUCH = """
    insert into activity as a (allocation_id, tenant_id, kind, last_at)
    select id, tenant_id, $2, $3 from allocations where id = any ($1) order by id
    on conflict (allocation_id, kind) do update set last_at = excluded.last_at where a.last_at < excluded.last_at
"""
SIGNS = """
    select extract(epoch from clock_timestamp() - n.received_at)::float8 as age_seconds, n.readings, n.cpu_active_at,
        n.gpu_active_at, n.ssh_active_at, (select coalesce(jsonb_object_agg(kind, last_at), '{}')
            from activity where allocation_id = a.id) as activity
    from allocations a left join newest_samples n on n.allocation_id = a.id where a.id = $1
"""
