"""The invariants of the running system: each finds a planted violation, and nothing in a world that is well."""

import asyncpg
import msgspec
import pytest

from gpuaas.domain.invariants import store
from gpuaas.domain.invariants.reconcile import ABANDONED, InvariantWorker
from gpuaas.domain.invariants.store import OPERATION_ORPHAN, RULES
from gpuaas.wire.allocations import Status
from gpuaas.wire.invariants import Invariant
from tests import peek
from tests.invariants.planted import PLANTED
from tests.overview.test_exposition import local, values
from tests.postgres import run
from tests.storage.volumes import attached, new_volume
from tests.world import World

FOUND = "select subject from ({}) v"


@pytest.fixture
async def busy(world: World) -> World:
    """One allocation released, one active with a volume."""
    await world.allocation(Status.RELEASED)
    await attached(world, await world.allocation(), await new_volume(world))
    return world


async def look(world: World) -> list[Invariant]:
    await InvariantWorker(world.db, world.clock)("all")
    answer = await world.operator.http.get("/api/v1/admin/invariants")
    return msgspec.convert(answer.raise_for_status().json()["items"], list[Invariant])


async def violated(world: World) -> dict[str, list[str]]:
    found = await look(world)
    return {one.kind: [each.subject for each in one.violations] for one in found if one.violations}


def test_every_rule_has_a_planted_violation() -> None:
    assert set(PLANTED) == {rule.kind for rule in RULES}


async def test_each_rule_finds_its_planted_violation_and_none_in_a_world_that_is_well(busy: World) -> None:
    connection = await asyncpg.connect(busy.dsn)
    try:
        for rule in RULES:
            sql = FOUND.format(rule.sql)
            assert await connection.fetch(sql) == [], rule.kind
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute(PLANTED[rule.kind])
            assert await connection.fetch(sql), rule.kind
            await transaction.rollback()
    finally:
        await connection.close()


async def test_a_world_that_is_well_was_looked_at_and_violates_nothing(busy: World) -> None:
    await look(busy)
    found = await look(busy)
    assert [one.kind for one in found] == [rule.kind for rule in RULES]
    assert all(one.looked_at and not one.violations for one in found)


async def test_a_violation_counts_at_the_second_look_and_is_forgotten_when_it_is_gone(busy: World) -> None:
    metric = 'gpuaas_invariant_violations{kind="environment_unknown"}'
    node_id = next(iter(busy.nodes.all))
    await run(busy.dsn, PLANTED["environment_unknown"])
    assert await violated(busy) == {}
    assert await violated(busy) == {"environment_unknown": [f"{node_id} alloc_unknown"]}
    async with local(busy) as http:
        told = values((await http.get("/metrics")).text)
    assert told[metric] == 1
    overview = (await busy.operator.http.get("/api/v1/admin/overview")).raise_for_status().json()
    assert overview["invariant_violations"] == {"environment_unknown": 1}
    assert told['gpuaas_invariant_violations{kind="claim_overlap"}'] == 0
    await run(busy.dsn, "update nodes set unknown_environments = '{}'")
    assert await violated(busy) == {}
    assert await peek.value(busy.db, "select count(*) from invariant_violations") == 0


async def test_an_operation_that_nothing_works_on_is_ended_with_its_reason_and_audited(busy: World) -> None:
    await run(busy.dsn, PLANTED[OPERATION_ORPHAN])
    await look(busy)
    orphans = await peek.rows(busy.db, "select id from operations where status = 'running'")
    assert orphans  # one look is not enough
    await look(busy)
    for orphan in orphans:
        operation = (await busy.http.get(f"/api/v1/operations/{orphan['id']}")).raise_for_status().json()
        assert (operation["status"], operation["reason"]) == ("failed", ABANDONED)
    audited = "select target_id from audit where action = 'operation.end' and actor = 'system' order by 1"
    assert [row[0] for row in await peek.rows(busy.db, audited)] == sorted(orphan["id"] for orphan in orphans)
    assert await violated(busy) == {}


async def test_an_operation_with_a_live_subject_is_never_ended(busy: World) -> None:
    """Also if it was taken for an orphan before: the repair looks again."""
    allocation = await busy.allocation(Status.PROVISIONING)
    operation_id = (await busy.get(allocation)).operation_id
    for _ in range(2):
        assert await violated(busy) == {}
    async with busy.db.write() as tx:
        assert await store.end_orphan(tx, operation_id, reason=ABANDONED, now=busy.clock.now()) is None
    assert await peek.value(busy.db, "select status from operations where id = $1", operation_id) == "running"


async def test_only_operators_read_them(busy: World) -> None:
    assert (await busy.http.get("/api/v1/admin/invariants")).status_code == 403
    assert (await busy.stranger.get("/api/v1/admin/invariants")).status_code == 401
