"""What the database itself refuses, with every check of ours out of the way."""

import asyncpg
import pytest

from gpuaas.wire.allocations import Status
from tests import peek
from tests.world import WHOLE, World

CLAIM = """
    insert into claims (allocation_id, tenant_id, node_id, slot_id, kind, claimed_at)
    select allocation_id, tenant_id, node_id, slot_id, kind, now() from claims where kind = $1 limit 1
"""


@pytest.mark.parametrize(("kind", "index"), [("slot", "claims_slot_once"), ("node_exclusive", "claims_node_once")])
async def test_a_second_live_claim_is_refused_by_the_database_alone(world: World, kind: str, index: str) -> None:
    await world.allocation(Status.ACTIVE, sku=WHOLE, gpu_count=8)
    with pytest.raises(asyncpg.UniqueViolationError) as refused:
        await peek.plant(world.db, CLAIM, kind)
    assert refused.value.constraint_name == index


async def test_a_claim_that_ended_makes_room_for_the_next(world: World) -> None:
    await world.allocation(Status.RELEASED)
    await peek.plant(world.db, CLAIM, "slot")


async def test_a_claim_is_for_a_slot_or_for_a_whole_node_and_never_for_half_of_either(world: World) -> None:
    await world.allocation(Status.ACTIVE)
    for change in ("slot_id = null", "kind = 'node_exclusive'"):
        with pytest.raises(asyncpg.CheckViolationError):
            await peek.plant(world.db, f"update claims set {change}")


async def test_a_claim_made_behind_the_indexs_back_is_met_by_a_refusal_not_a_double_sale(world: World) -> None:
    """The index in memory believes the slot free; the database knows better."""
    a = await world.allocation(Status.ACTIVE)
    node_id = (await world.get(a)).node_id
    taken = """
        insert into claims (allocation_id, tenant_id, node_id, slot_id, kind, claimed_at)
        select $1, tenant_id, node_id, s.id, 'slot', now() from slots s join allocations x using (node_id)
        where s.index between 1 and 6
    """
    await peek.plant(world.db, taken.replace("node_id, s.id", "x.node_id, s.id"), a)
    answers = [await world.submit(), await world.submit()]
    assert [answer.status_code for answer in answers] == [202, 409]
    assert await world.value("select count(distinct slot_id) = count(*) from claims where node_id = $1", node_id)


async def test_no_port_of_a_node_is_given_twice_while_its_cleanup_is_not_proven(world: World) -> None:
    first, second = [await world.allocation(Status.ACTIVE) for _ in range(2)]
    with pytest.raises(asyncpg.UniqueViolationError):
        await peek.plant(
            world.db,
            "update allocations set port = (select port from allocations where id = $1) where id = $2",
            first,
            second,
        )
