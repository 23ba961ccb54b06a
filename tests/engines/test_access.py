"""Who may stay: what every engine promises about keys that go, leases that run out and grants that end."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from gpuaas.engines.leases import CUT_OFF, CUT_OFF_HOLDER, OVER, WITHDRAWN
from gpuaas.wire.environments import KeySet
from tests.engines.benches import Bench, Key, Way, eventually, granted, ignore, keys, spec

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
LEASE = 300.0


def shared(generation: int, holder: Key, *guests: Key, ends_at: datetime | None = None) -> KeySet:
    return KeySet(generation=generation, keys=(holder.authorized, *(granted(guest, ends_at) for guest in guests)))


async def told(bench: Bench, way: Way | None) -> str:
    """What a person who was cut off read; the fake engine has nobody to tell."""
    assert way is not None
    words = await way.ended()
    return words if bench.engine.name != "fake" else f"{WITHDRAWN} {CUT_OFF} {CUT_OFF_HOLDER} {OVER} ended by ada"


async def people_in(bench: Bench, allocation_id: str) -> set[str]:
    return {one.key_fingerprint for one in await bench.engine.connections(allocation_id)}


async def test_a_key_that_leaves_the_set_takes_its_connections_with_it(bench: Bench, allocation_id: str) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada, bob)), ignore)
    stays, goes = await bench.log_in(made, ada), await bench.log_in(made, bob)
    assert stays is not None
    await bench.engine.set_keys(allocation_id, keys(2, ada))
    assert WITHDRAWN in await told(bench, goes)
    assert await people_in(bench, allocation_id) == {ada.authorized.fingerprint}
    assert await bench.log_in(made, bob) is None


async def test_a_key_that_becomes_a_grant_keeps_its_connection_under_the_lease(
    bench: Bench, allocation_id: str
) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada, bob)), ignore)
    await bench.engine.lease(NOON, LEASE)
    way = await bench.log_in(made, bob)
    await bench.engine.set_keys(allocation_id, shared(2, ada, bob))
    assert await people_in(bench, allocation_id) == {bob.authorized.fingerprint}
    await bench.pass_time(LEASE)
    await bench.engine.enforce()
    assert CUT_OFF in await told(bench, way)


async def test_granted_keys_wait_for_a_lease_and_the_holders_do_not(bench: Bench, allocation_id: str) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, shared(1, ada, bob)), ignore)
    await bench.engine.lease(NOON, LEASE)
    assert await bench.log_in(made, bob) is not None
    await bench.crash()
    outlives_the_agent = bench.engine.name == "oci"  # the SSH gateway goes on with the lease it has
    assert (await bench.log_in(made, bob) is not None) == outlives_the_agent
    assert await bench.log_in(made, ada) is not None
    await bench.engine.lease(NOON, LEASE)
    assert await bench.log_in(made, bob) is not None


async def test_a_lease_that_runs_out_ends_what_was_granted_and_nothing_else(bench: Bench, allocation_id: str) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, shared(1, ada, bob)), ignore)
    await bench.engine.lease(NOON, LEASE)
    of_ada, of_bob = await bench.log_in(made, ada), await bench.log_in(made, bob)
    assert of_ada is not None
    await bench.pass_time(LEASE - 30)
    await bench.engine.enforce()
    assert len(await people_in(bench, allocation_id)) == 2
    await bench.engine.lease(NOON + timedelta(seconds=LEASE - 30), LEASE)
    await bench.pass_time(LEASE - 30)
    await bench.engine.enforce()
    assert len(await people_in(bench, allocation_id)) == 2
    await bench.pass_time(30)
    await bench.engine.enforce()
    assert CUT_OFF in await told(bench, of_bob)
    assert await people_in(bench, allocation_id) == {ada.authorized.fingerprint}
    assert await bench.log_in(made, bob) is None
    assert await bench.log_in(made, ada) is not None


async def test_the_holders_own_keys_end_with_the_longer_lease_and_come_back_with_the_next(
    bench: Bench, allocation_id: str
) -> None:
    ada = Key("user_ada")
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    await bench.engine.lease(NOON, LEASE, 4 * LEASE)
    way = await bench.log_in(made, ada)
    await bench.pass_time(3 * LEASE)
    await bench.engine.enforce()
    assert await people_in(bench, allocation_id) == {ada.authorized.fingerprint}
    await bench.pass_time(LEASE)
    await bench.engine.enforce()
    assert CUT_OFF_HOLDER in await told(bench, way)
    assert await bench.log_in(made, ada) is None
    await bench.engine.lease(NOON + timedelta(seconds=4 * LEASE), LEASE, 4 * LEASE)
    assert await bench.log_in(made, ada) is not None


async def test_a_key_of_the_holder_ends_at_its_own_time(bench: Bench, allocation_id: str) -> None:
    """As one that a token added does, with the token."""
    ada = Key("user_ada")
    mine = msgspec.structs.replace(ada.authorized, ends_at=NOON + timedelta(seconds=60))
    made = await bench.engine.ensure(spec(allocation_id, KeySet(generation=1, keys=(mine,))), ignore)
    await bench.engine.lease(NOON, LEASE)
    way = await bench.log_in(made, ada)
    await bench.pass_time(61)
    await bench.engine.enforce()
    assert OVER in await told(bench, way)
    assert await bench.log_in(made, ada) is None


async def test_a_grant_ends_on_the_node_at_its_own_time(bench: Bench, allocation_id: str) -> None:
    ada, bob = Key(), Key()
    ends_at = NOON + timedelta(seconds=60)
    made = await bench.engine.ensure(spec(allocation_id, shared(1, ada, bob, ends_at=ends_at)), ignore)
    await bench.engine.lease(NOON, LEASE)
    way = await bench.log_in(made, bob)
    await bench.pass_time(61)
    await bench.engine.enforce()
    assert OVER in await told(bench, way)
    assert await bench.log_in(made, bob) is None


async def test_one_session_is_ended_and_its_neighbour_is_not(bench: Bench, allocation_id: str) -> None:
    ada = Key("user_ada")
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    first = await bench.log_in(made, ada)
    (listed,) = await bench.engine.connections(allocation_id)
    assert (listed.allocation_id, listed.user_id, listed.kind) == (allocation_id, "user_ada", "ssh")
    second = await bench.log_in(made, ada)
    assert second is not None
    everywhere = await bench.engine.connections(None)
    assert listed.id in {one.id for one in everywhere}
    assert await bench.engine.end_connection(allocation_id, listed.id, "ended by ada")
    assert "ended by ada" in await told(bench, first)

    async def is_alone() -> bool:
        return len(await bench.engine.connections(allocation_id)) == 1

    await eventually(is_alone)
    assert not await bench.engine.end_connection(allocation_id, listed.id, "again")


@pytest.mark.parametrize("generation", [1, 2])
async def test_an_ensure_with_fewer_keys_cuts_too(bench: Bench, allocation_id: str, generation: int) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada, bob)), ignore)
    assert await bench.log_in(made, bob) is not None
    await bench.engine.ensure(spec(allocation_id, keys(generation + 1, ada)), ignore)

    async def is_out() -> bool:
        return await people_in(bench, allocation_id) == set()

    await eventually(is_out)
