"""Keys of the person's own file: they enter where the holder allows it, and are seen to be nobody's we know."""

import msgspec

from gpuaas.engines.leases import WITHDRAWN
from gpuaas.wire.environments import Environment, KeySet
from tests.engines.benches import Bench, Key, eventually, ignore, keys, spec
from tests.engines.test_access import LEASE, NOON, told


def open_to_own(generation: int, *wanted: Key) -> KeySet:
    return msgspec.structs.replace(keys(generation, *wanted), admits_own=True)


async def seen(bench: Bench, allocation_id: str) -> Environment:
    return next(one for one in await bench.engine.observe() if one.allocation_id == allocation_id)


async def test_a_key_of_the_own_file_enters_only_where_that_is_allowed(bench: Bench, allocation_id: str) -> None:
    ada, guest = Key("user_ada"), Key()
    await bench.engine.lease(NOON, LEASE)
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    await bench.write_own_file(made, ada, guest)
    assert await bench.log_in(made, guest) is None
    assert (await seen(bench, allocation_id)).own_keys is None
    await bench.engine.set_keys(allocation_id, open_to_own(2, ada))
    assert await bench.log_in(made, guest) is not None
    (inside,) = await bench.engine.connections(allocation_id)
    assert (inside.user_id, inside.key_fingerprint) == ("", guest.authorized.fingerprint)
    assert (await seen(bench, allocation_id)).own_keys == (guest.authorized.fingerprint,)


async def test_what_is_no_longer_allowed_is_cut_and_stays_out_over_a_crash_and_a_boot(
    bench: Bench, allocation_id: str
) -> None:
    ada, guest = Key("user_ada"), Key()
    await bench.engine.lease(NOON, LEASE)
    made = await bench.engine.ensure(spec(allocation_id, open_to_own(1, ada)), ignore)
    await bench.write_own_file(made, ada, guest)
    of_ada, of_guest = await bench.log_in(made, ada), await bench.log_in(made, guest)
    assert of_ada is not None
    await bench.engine.enforce()
    assert len(await bench.engine.connections(allocation_id)) == 2
    await bench.engine.set_keys(allocation_id, keys(2, ada))
    assert WITHDRAWN in await told(bench, of_guest)

    async def is_alone() -> bool:
        return {one.user_id for one in await bench.engine.connections(allocation_id)} == {"user_ada"}

    await eventually(is_alone)
    await bench.crash()
    await bench.engine.lease(NOON, LEASE)
    assert await bench.log_in(made, guest) is None
    made = await bench.engine.ensure(spec(allocation_id, open_to_own(3, ada), boot=2), ignore)
    assert await bench.log_in(made, guest) is not None


async def test_a_key_that_the_platform_knows_enters_as_its_person_and_is_not_called_unknown(
    bench: Bench, allocation_id: str
) -> None:
    ada = Key("user_ada")
    await bench.engine.lease(NOON, LEASE)
    made = await bench.engine.ensure(spec(allocation_id, open_to_own(1, ada)), ignore)
    await bench.write_own_file(made, ada, ada)
    assert await bench.log_in(made, ada) is not None
    assert {one.user_id for one in await bench.engine.connections(allocation_id)} == {"user_ada"}
    assert (await seen(bench, allocation_id)).own_keys == ()


async def test_the_own_file_admits_no_key_of_a_person_without_access_and_none_while_cut_off(
    bench: Bench, allocation_id: str
) -> None:
    ada, former, guest = Key("user_ada"), Key(), Key()
    await bench.engine.lease(NOON, LEASE)
    made = await bench.engine.ensure(spec(allocation_id, open_to_own(1, ada)), ignore)
    await bench.write_own_file(made, ada, former, guest)
    inside = await bench.log_in(made, former)
    assert inside is not None
    refused = msgspec.structs.replace(open_to_own(2, ada), refused_own=(former.authorized.fingerprint,))
    await bench.engine.set_keys(allocation_id, refused)
    assert WITHDRAWN in await told(bench, inside)
    assert await bench.log_in(made, former) is None
    assert await bench.log_in(made, guest) is not None
    await bench.pass_time(LEASE)
    await bench.engine.enforce()
    assert await bench.log_in(made, guest) is None
    assert await bench.log_in(made, ada) is not None
