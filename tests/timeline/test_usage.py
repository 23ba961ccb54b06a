"""Usage intervals: transitions write them, a closed one never changes, none overlap, and the timeline proves them."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from gpuaas.core import migrate
from gpuaas.domain.allocations.observations.reach import ReachWorker
from gpuaas.wire.allocations import Status
from tests import peek
from tests.fleet import Node
from tests.timeline.lives import Interval, begin
from tests.world import World

LIVES, STEPS = 12, 25
USAGE = """
    select quantity, started, ended, evidence, rate_minor from usage_intervals where resource_id = $1 order by id
"""
PROVEN = "select quantity, started, ended from proven_usage($1)"
BY_MIGRATION = """
    begin;
    alter table usage_intervals disable trigger append_only;
    delete from usage_intervals;
    alter table usage_intervals enable trigger append_only;
    select prove_usage(id) from allocations where active_at is not null;
    commit;
"""
COPY = """
    insert into usage_intervals (tenant_id, project_id, resource_kind, resource_id, source, unit, quantity, price_id,
        rate_minor, currency, started, ended)
    select tenant_id, project_id, resource_kind, {resource}, source, {unit}, quantity, price_id, rate_minor, currency,
        $2, $3
    from usage_intervals where resource_id = $1 limit 1
"""
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


async def usage(world: World, id: str) -> list[Interval]:
    """Those that lasted any time."""
    rows = await peek.rows(world.db, USAGE, id)
    return [(row["quantity"], row["started"], row["ended"]) for row in rows if row["started"] != row["ended"]]


async def writers(world: World, id: str) -> set[str]:
    return {row["evidence"] for row in await peek.rows(world.db, USAGE, id)}


async def passes(world: World, node: Node, times: int, **apart: float) -> None:
    worker = next(worker for worker in world.services.workers if isinstance(worker, ReachWorker))
    for _ in range(times):
        world.clock.advance(**apart)
        await worker(node.id)


async def owner(world: World, sql: str, *args: object) -> None:
    connection = await asyncpg.connect(world.dsn)
    try:
        await connection.execute(sql, *args)
    finally:
        await connection.close()


@pytest.mark.parametrize("seed", range(LIVES))
async def test_every_transition_writes_what_the_model_says(world: World, seed: int) -> None:
    life = await begin(world, seed)
    told = []
    for _ in range(STEPS):
        if life.is_over:
            break
        told.append(await life.step(old=False))
        assert await usage(world, life.row.id) == life.model.intervals, told
    assert await writers(world, life.row.id) == {"transition"}


@pytest.mark.parametrize("seed", range(100, 100 + LIVES))
async def test_what_old_code_changes_is_proven_from_the_timeline_at_once(world: World, seed: int) -> None:
    """Old and new replicas take turns, as during a rolling upgrade."""
    life = await begin(world, seed)
    told = []
    for _ in range(STEPS):
        if life.is_over:
            break
        told.append(await life.step(old=life.random.random() < 0.5))
        assert await usage(world, life.row.id) == life.model.intervals, told


@pytest.mark.parametrize("seed", range(200, 200 + LIVES))
async def test_the_migration_gives_allocations_what_their_timeline_proves(world: World, seed: int) -> None:
    life = await begin(world, seed)
    for _ in range(STEPS):
        if not life.is_over:
            await life.step(old=True)
    await owner(world, BY_MIGRATION)
    assert await usage(world, life.row.id) == life.model.intervals


FORGET = BY_MIGRATION[: BY_MIGRATION.index("select prove_usage")] + "commit;"


async def test_the_migration_proves_usage_in_short_transactions(world: World) -> None:
    ids = [await world.allocation(status) for status in (Status.ACTIVE, Status.RELEASED, Status.REQUESTED)]
    before = [await usage(world, id) for id in ids]
    await owner(world, FORGET)
    assert [await usage(world, id) for id in ids] == [[], [], []]
    connection = await asyncpg.connect(world.dsn)
    try:
        await migrate._run_statements(connection, (migrate.folder() / "0116_proven_usage.sql").read_text())
    finally:
        await connection.close()
    assert [await usage(world, id) for id in ids] == before


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.RELEASED])
async def test_the_migration_does_not_lock_an_allocation_whose_usage_is_proven(world: World, status: Status) -> None:
    """The migration starts again after a crash; servers that still run must not wait for rows that are done."""
    a = await world.allocation(status)
    look = "select from allocations where id = $1 for update nowait"
    connection = await asyncpg.connect(world.dsn)
    try:
        async with connection.transaction():
            await connection.execute("select prove_usage($1)", a)
            await owner(world, look, a)
        await owner(world, FORGET)
        async with connection.transaction():
            await connection.execute("select prove_usage($1)", a)
            with pytest.raises(asyncpg.LockNotAvailableError):
                await owner(world, look, a)
    finally:
        await connection.close()


async def test_the_model_catches_a_change_that_writes_no_interval(world: World) -> None:
    """Without the trigger, old code leaves the interval open."""
    life = await begin(world, 1)
    await owner(world, "drop trigger usage_follows_update on allocations")
    while not life.is_over:
        await life.step(old=True)
    assert await usage(world, life.row.id) != life.model.intervals


async def test_the_row_proves_the_first_activation_if_retention_has_deleted_the_entry(world: World) -> None:
    a = await world.allocation()
    row = await world.get(a)
    await owner(world, "delete from timeline_entries where subject_id = $1", a)
    await owner(world, BY_MIGRATION)
    assert await usage(world, a) == [(1, row.active_at, None)]
    assert await writers(world, a) == {"row"}


async def test_an_unreachable_node_ends_usage_in_the_past_and_its_return_begins_it_again(world: World) -> None:
    a = await world.allocation()
    began = (await world.get(a)).active_at
    node = world.node_of(await world.get(a))
    await world.nodes.disconnect(node)
    gone_since = (await world.get(a)).node_offline_since
    await passes(world, node, 10, minutes=1)
    assert await usage(world, a) == [(1, began, None)]
    await passes(world, node, 2, minutes=1)
    assert isinstance(gone_since, datetime)
    assert gone_since < world.clock.now() - timedelta(minutes=10)
    assert await usage(world, a) == [(1, began, gone_since)]
    assert (await world.seen(a))["status"] == "active"
    await world.nodes.connect(node)
    await passes(world, node, 1, minutes=1)
    closed, running = await usage(world, a)
    assert closed == (1, began, gone_since)
    assert running[2] is None
    assert running[1] > gone_since + timedelta(minutes=12)
    assert await writers(world, a) == {"transition"}


@pytest.mark.parametrize("change", ["ended = now()", "quantity = 9", "started = started - interval '1 hour'"])
async def test_a_closed_interval_is_never_changed(world: World, change: str) -> None:
    a = await world.allocation(Status.RELEASED)
    with pytest.raises(asyncpg.RestrictViolationError, match="closed usage interval"):
        await owner(world, f"update usage_intervals set {change} where resource_id = $1", a)


async def test_of_an_open_interval_only_the_end_can_be_written_and_nothing_is_deleted(world: World) -> None:
    a = await world.allocation()
    with pytest.raises(asyncpg.RestrictViolationError, match="only the end"):
        await owner(world, "update usage_intervals set rate_minor = 1 where resource_id = $1", a)
    with pytest.raises(asyncpg.RestrictViolationError, match="never deleted"):
        await owner(world, "delete from usage_intervals where resource_id = $1", a)
    await owner(world, "update usage_intervals set ended = started + interval '1 hour' where resource_id = $1", a)


@pytest.mark.parametrize(
    ("started", "ended"),
    [(30, 90), (-30, 30), (10, 20), (-30, 90), (0, 60), (59, None)],
    ids=["over the end", "over the start", "inside", "around", "the same", "open"],
)
async def test_an_overlap_is_refused_at_commit(world: World, started: int, ended: int | None) -> None:
    a = await planted(world)
    with pytest.raises(asyncpg.ExclusionViolationError, match="usage_intervals_no_overlap"):
        await plant(world, a, started, ended)


async def test_without_the_constraint_an_overlap_would_be_accepted(world: World) -> None:
    a = await planted(world)
    await owner(world, "alter table usage_intervals drop constraint usage_intervals_no_overlap")
    await plant(world, a, 30, 90)
    assert len(await usage(world, a)) == 2


@pytest.mark.parametrize(
    ("started", "ended", "resource", "unit"),
    [
        (60, 90, "resource_id", "unit"),
        (-30, 0, "resource_id", "unit"),
        (30, 30, "resource_id", "unit"),
        (30, 90, "resource_id || 'x'", "unit"),
        (30, 90, "left(resource_id, -1)", "unit"),
        (30, 90, "resource_id", "'gib'"),
    ],
    ids=["after", "before", "empty", "a longer id", "a shorter id", "another unit"],
)
async def test_what_does_not_overlap_is_accepted(
    world: World, started: int, ended: int, resource: str, unit: str
) -> None:
    a = await planted(world)
    await plant(world, a, started, ended, resource=resource, unit=unit)
    assert await world.value("select count(*) from usage_intervals") == 2


async def test_one_transaction_may_overlap_before_it_commits(world: World) -> None:
    a = await planted(world)
    copy = COPY.format(resource="resource_id", unit="unit")
    async with world.db.write() as tx:
        await tx.run(copy, a, NOON + timedelta(minutes=60), None)
        await tx.run(copy, a, NOON + timedelta(minutes=90), None)
        await tx.run(
            "update usage_intervals set ended = $1 where ended is null and started < $1", NOON + timedelta(minutes=90)
        )
    assert len(await usage(world, a)) == 3


async def planted(world: World) -> str:
    """An allocation with one interval, from noon for an hour."""
    a = await world.allocation()
    plain = "alter table usage_intervals {} trigger append_only"
    await owner(world, plain.format("disable"))
    sql = "update usage_intervals set started = $1, ended = $1::timestamptz + interval '1 hour' where resource_id = $2"
    await owner(world, sql, NOON, a)
    await owner(world, plain.format("enable"))
    return a


async def plant(
    world: World, a: str, started: int, ended: int | None, *, resource: str = "resource_id", unit: str = "unit"
) -> None:
    until = None if ended is None else NOON + timedelta(minutes=ended)
    await peek.plant(world.db, COPY.format(resource=resource, unit=unit), a, NOON + timedelta(minutes=started), until)


async def test_cost_so_far_is_the_sum_of_the_intervals_through_resizes_and_pauses(world: World) -> None:
    """Two hours of one GPU, one of four, a pause that costs nothing, and one of one GPU again."""
    a = await world.allocation()
    rate = (await world.seen(a))["price_per_hour"]["amount_minor"]
    for quantity, started, ended in ((1, 0, 120), (4, 120, 180), (1, 240, 300)):
        sql = COPY.replace("{unit}, quantity", f"{{unit}}, {quantity}").format(resource="resource_id", unit="unit")
        await peek.plant(world.db, sql, a, NOON + timedelta(minutes=started), NOON + timedelta(minutes=ended))
    await world.release(a)
    ran = await world.value(
        "select extract(epoch from ended - started)::float8 from usage_intervals order by id limit 1"
    )
    shown = await world.seen(a)
    assert shown["cost_so_far"]["amount"] == {"amount_minor": int(7 * rate + ran * rate / 3600), "currency": "USD"}
    assert shown["cost_so_far"]["seconds"] == pytest.approx(4 * 3600 + ran)
    assert shown["cost_so_far"]["runs"] is False


async def test_usage_lists_the_intervals_newest_first_with_their_sum(world: World) -> None:
    a = await world.allocation(gpu_count=2)
    await world.http.post(f"/api/v1/allocations/{a}/resize", json={"gpu_count": 1})
    await world.nodes.settle()
    answer = (await world.http.get(f"/api/v1/allocations/{a}/usage")).raise_for_status().json()
    assert [(one["quantity"], one["ended"] is None, one["unit"]) for one in answer["items"]] == [
        (1, True, "gpu"),
        (2, False, "gpu"),
    ]
    assert answer["items"][0]["started"] == answer["items"][1]["ended"]
    assert answer["items"][0]["rate_minor"] == answer["items"][1]["rate_minor"]
    assert answer["cost"]["runs"] is True
    first = (await world.http.get(f"/api/v1/allocations/{a}/usage", params={"limit": 1})).json()
    rest = await world.http.get(f"/api/v1/allocations/{a}/usage", params={"cursor": first["next_cursor"]})
    assert [one["id"] for one in (*first["items"], *rest.json()["items"])] == [one["id"] for one in answer["items"]]


async def test_usage_of_another_tenant_does_not_exist(world: World) -> None:
    a = await world.allocation()
    eve = await world.sign_up("eve")
    assert (await eve.http.get(f"/api/v1/allocations/{a}/usage")).status_code == 404
    assert (await world.http.get(f"/api/v1/allocations/{a}/usage")).status_code == 200


async def test_an_allocation_that_never_ran_costs_nothing(world: World) -> None:
    a = await world.allocation(Status.REQUESTED)
    assert (await world.seen(a))["cost_so_far"]["amount"]["amount_minor"] == 0
    await world.release(a)
    await world.nodes.settle()
    assert await usage(world, a) == []
