"""SEC13: a thief of one node's key speaks for allocations of other nodes, and for people who are not there."""

import pytest

from gpuaas.domain.metrics import store as metrics
from gpuaas.domain.metrics.samples import MOST_ALLOCATIONS, MOST_OF_NODE, SampleBuffer
from gpuaas.wire.environments import LoginEvent, LoginKind
from gpuaas.wire.link import Logins
from gpuaas.wire.metrics import Metric, Reading, Sample, Samples
from tests.attacks.stolen_key import activated as activated_on
from tests.attacks.stolen_key import opening, said
from tests.isolation.machines import enrol
from tests.world import World

FINGERPRINT = "select body -> 0 ->> 'fingerprint' from allocation_keysets where allocation_id = $1"
NOWHERE = "SHA256:" + "n" * 43


def sample(world: World, allocation_id: str, metric: Metric, value: float) -> Samples:
    readings = (Reading(metric=metric, source="a test", value=value),)
    return Samples(samples=[Sample(allocation_id=allocation_id, boot=1, at=world.clock.now(), readings=readings)])


def full_disk(world: World, allocation_id: str) -> Samples:
    return sample(world, allocation_id, Metric.DISK_FREE, 1000)


async def findings(world: World, allocation_id: str) -> list[str]:
    return [reason["code"] for reason in (await world.seen(allocation_id))["health_reasons"]]


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_sample_of_another_node_neither_hides_nor_replaces_the_own(world: World, is_first: bool) -> None:
    victim, thief = await world.allocation(), (await world.nodes.add()).id
    own, book = (await world.get(victim)).node_id, SampleBuffer(world.db, world.clock)
    said = [(own, sample(world, victim, Metric.MEMORY, 7)), (thief, sample(world, victim, Metric.MEMORY, 666))]
    for node_id, message in said if is_first else reversed(said):
        book.put(node_id, message)
    await book.flush()
    async with world.db.read() as tx:
        newest = await metrics.newest(tx, victim)
    assert newest is not None
    assert [one.value for one in newest.readings] == [7]


async def test_a_sample_of_another_node_writes_and_erases_no_finding(world: World) -> None:
    victim, thief = await world.allocation(), (await world.nodes.add()).id
    own, book = (await world.get(victim)).node_id, SampleBuffer(world.db, world.clock)
    book.put(thief, full_disk(world, victim))
    await book.flush()
    assert await findings(world, victim) == []
    book.put(own, full_disk(world, victim))
    await book.flush()
    assert await findings(world, victim) == ["disk_full"]
    book.put(thief, sample(world, victim, Metric.DISK_FREE, 1e12))
    await book.flush()
    assert await findings(world, victim) == ["disk_full"]


async def test_invented_allocations_of_one_node_leave_room_for_the_samples_of_others(world: World) -> None:
    victim, thief = await world.allocation(), (await world.nodes.add()).id
    own, book = (await world.get(victim)).node_id, SampleBuffer(world.db, world.clock)
    now = world.clock.now()
    flood = [Sample(allocation_id=f"alloc_{number}", boot=1, at=now, readings=()) for number in range(MOST_ALLOCATIONS)]
    book.put(thief, Samples(samples=flood))
    assert book.dropped == MOST_ALLOCATIONS - MOST_OF_NODE
    book.put(own, full_disk(world, victim))
    assert book.dropped == MOST_ALLOCATIONS - MOST_OF_NODE
    await book.flush()
    assert await findings(world, victim) == ["disk_full"]


async def test_a_login_is_somebodys_only_by_a_key_that_was_given_in_their_name(world: World) -> None:
    bob = await world.sign_up("bob")
    async with opening(world, await enrol(world, "robbed")) as linked:
        thief = await linked("thief")
        allocation_id = await activated_on(world, thief)
        known = str(await world.value(FINGERPRINT, allocation_id))
        claims = {"own": (world.ada.id, known), "other": (bob.id, known), "made up": (world.ada.id, NOWHERE)}

        def event(name: str) -> LoginEvent:
            return LoginEvent(
                id=f"login {name}",
                kind=LoginKind.LOGIN,
                allocation_id=allocation_id,
                connection_id=name,
                key_fingerprint=claims[name][1],
                user_id=claims[name][0],
                source="10.0.0.1:1",
                at=world.clock.now(),
            )

        await said(world, thief, Logins(events=[event(name) for name in claims]))
        async with world.db.write() as tx:
            await tx.run("update allocation_keysets set body = '[]'")
        claims["by a key that was since revoked"] = claims["own"]
        await said(world, thief, Logins(events=[event("by a key that was since revoked")]))
    told = {str(entry.evidence.get("session")): entry for entry in await world.timeline(allocation_id)}
    phases = {name: told[name].phase for name in claims}
    assert list(phases.values()) == ["ssh_login", "unknown_key_login", "unknown_key_login", "ssh_login"]
    assert [told[name].actor for name in claims] == [world.ada.id, "unknown", "unknown", world.ada.id]
