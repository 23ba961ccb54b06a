"""What is sold is remembered between submits, and sold only as it is now."""

from tests import peek
from tests.world import SLICE, World

END_PRICE = """
    update prices set valid = tstzrange(lower(valid), clock_timestamp())
    where sku_key = (select key from skus where sku = $1)
"""
NEW_PRICE = """
    insert into prices (id, sku_key, amount_minor, currency, valid)
    select 'price_new', key, 777, 'EUR', tstzrange(clock_timestamp(), null) from skus where sku = $1
"""


async def raise_price(world: World) -> None:
    await peek.plant(world.db, END_PRICE, SLICE)
    await peek.plant(world.db, NEW_PRICE, SLICE)


async def price_of(world: World) -> int:
    answer = await world.submit()
    assert answer.status_code == 202, answer.text
    return int(answer.json()["allocations"][0]["price_per_hour"]["amount_minor"])


async def test_a_price_that_has_just_changed_is_the_one_that_is_charged(world: World) -> None:
    await world.nodes.add()
    assert await price_of(world) != 777
    await raise_price(world)
    assert await price_of(world) == 777


async def test_a_sku_that_was_just_taken_from_sale_is_not_sold(world: World) -> None:
    await world.nodes.add()
    await price_of(world)
    await peek.plant(world.db, "update skus set active = false where sku = $1", SLICE)
    answer = await world.submit()
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "sku")
    assert await world.value("select count(*) from claims") == 1


async def test_what_is_remembered_is_old_by_then(world: World) -> None:
    """The red twin: it is the statement that sees the change, not a fresh memory."""
    await world.nodes.add()
    old = await price_of(world)
    await raise_price(world)
    remembered = await world.services.launch._catalog.sku(SLICE)
    assert remembered is not None
    assert remembered.amount_minor == old


async def test_one_that_was_just_put_on_sale_is_found(world: World) -> None:
    await world.nodes.add()
    await peek.plant(world.db, "update skus set active = false where sku = $1", SLICE)
    assert (await world.submit()).status_code == 422
    await peek.plant(world.db, "update skus set active = true where sku = $1", SLICE)
    assert (await world.submit()).status_code == 202
