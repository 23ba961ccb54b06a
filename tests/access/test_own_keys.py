"""Keys of a machine's own file, through the front door: allowed by its holder alone, observed, and flagged."""

from datetime import datetime
from typing import Any

from gpuaas.domain.sessions import store as sessions
from gpuaas.wire.identity import Role
from gpuaas.wire.link import Logins, Sessions
from tests.access.test_allocation_keys import a_key, keys_of
from tests.world import Person, World

STRAY = "SHA256:nobodyweknow"


async def allow(person: Person, id: str, *, allowed: bool = True) -> Any:
    return await person.http.put(f"/api/v1/allocations/{id}/own-keys", json={"allowed": allowed})


async def observed(world: World, id: str) -> None:
    """The node says what it has found, and who is in."""
    node = world.node_of(await world.get(id))
    await world.nodes.report(node)
    seen = Sessions(allocation_id=id, sessions=await node.connections(id), at=world.clock.now())
    async with world.db.write() as tx:
        await sessions.observe(tx, [(node.id, seen)])
        await sessions.keep_logins(tx, [(node.id, Logins(events=node.logins.waiting()))])


async def test_they_enter_only_once_allowed_and_are_told_from_those_we_know(world: World) -> None:
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {STRAY}
    before = (await world.http.get(keys_of(a))).json()
    assert (before["admits_own_keys"], before["warning"], node.log_in(a, "gpu", STRAY)) == (False, "", None)
    asked = (await allow(world.ada, a)).json()
    assert (asked["admits_own_keys"], asked["installed"], "revoke" in asked["warning"]) == (True, False, True)
    await world.nodes.settle()
    assert node.log_in(a, "gpu", STRAY) is not None
    await observed(world, a)
    shown = (await world.http.get(keys_of(a))).json()
    assert (shown["installed"], shown["own_fingerprints"]) == (True, [STRAY])
    assert shown["own_observed_at"] is not None
    assert STRAY not in shown["fingerprints"]
    (inside,) = (await world.http.get(f"/api/v1/allocations/{a}/sessions")).json()["items"]
    assert (inside["is_unknown_key"], inside["key_fingerprint"], inside["user_id"]) == (True, STRAY, "")


async def test_a_login_by_an_unknown_key_is_flagged_and_each_is_told_once(world: World) -> None:
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {STRAY}
    await allow(world.ada, a)
    await world.nodes.settle()
    known = node.environments[a].keys.keys[0].fingerprint
    assert node.log_in(a, "gpu", STRAY)
    assert node.log_in(a, "gpu", known)
    for _ in range(3):
        await observed(world, a)
    flagged = [entry for entry in await world.timeline(a) if entry.phase == "unknown_key_login"]
    assert [entry.evidence["fingerprint"] for entry in flagged] == [STRAY]
    node.log_in(a, "gpu", STRAY)
    await observed(world, a)
    phases = [entry.phase for entry in await world.timeline(a)]
    assert (phases.count("unknown_key_login"), phases.count("ssh_login")) == (2, 1)


async def test_what_is_refused_again_is_cut_and_forgotten(world: World) -> None:
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {STRAY}
    await allow(world.ada, a)
    await world.nodes.settle()
    node.log_in(a, "gpu", STRAY)
    await observed(world, a)
    await allow(world.ada, a, allowed=False)
    await world.nodes.settle()
    assert (await node.connections(a), node.log_in(a, "gpu", STRAY)) == ([], None)
    shown = (await world.http.get(keys_of(a))).json()
    assert (shown["admits_own_keys"], shown["own_fingerprints"], shown["own_observed_at"]) == (False, [], None)
    told = [entry.phase for entry in await world.timeline(a) if entry.phase.startswith("own_keys")]
    assert told == ["own_keys_allowed", "own_keys_refused"]


async def test_only_the_holder_allows_it_and_who_leads_may_take_it_back(world: World) -> None:
    a = await world.allocation()
    admin, member = await world.sign_up("ann", key=a_key()), await world.sign_up("bob", key=a_key())
    await world.join(admin, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    await world.join(member, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    for person in (admin, member):
        assert (await allow(person, a)).status_code == 403
    assert (await allow(world.ada, a)).status_code == 200
    assert (await allow(member, a, allowed=False)).status_code == 403
    assert (await allow(admin, a, allowed=False)).json()["admits_own_keys"] is False


async def test_a_new_holder_decides_anew_and_a_restart_changes_nothing(world: World) -> None:
    a = await world.allocation()
    bob = await world.sign_up("bob", key=a_key())
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    await allow(world.ada, a)
    (await world.http.post(f"/api/v1/allocations/{a}/restart", json={})).raise_for_status()
    await world.nodes.settle()
    assert world.node_of(await world.get(a)).environments[a].keys.admits_own
    body = {"user_id": bob.id, "ssh_key_ids": [bob.key_id]}
    (await world.http.post(f"/api/v1/allocations/{a}/handover", json=body)).raise_for_status()
    await world.nodes.settle()
    assert not world.node_of(await world.get(a)).environments[a].keys.admits_own


async def test_the_project_lists_who_allowed_the_own_key_file_since_when_and_what_was_found(world: World) -> None:
    a, b = await world.allocation(), await world.allocation()
    bob = await world.sign_up("bob", key=a_key())
    await world.join(bob, world.ada, project=Role.VIEWER, tenant=Role.MEMBER)
    place = f"/api/v1/projects/{world.ada.project_id}/own-keys"
    assert (await bob.http.get(place)).json()["items"] == []
    before = world.clock.now()
    await allow(world.ada, a)
    (asked,) = (await bob.http.get(place)).json()["items"]
    assert (asked["allocation_id"], asked["allowed_by_email"]) == (a, world.ada.email)
    assert datetime.fromisoformat(asked["allowed_at"]) > before
    assert (asked["installed"], asked["fingerprints"], asked["observed_at"]) == (False, [], None)
    world.node_of(await world.get(a)).environments[a].own_file = {STRAY}
    await world.nodes.settle()
    await observed(world, a)
    (seen,) = (await bob.http.get(place)).json()["items"]
    assert (seen["installed"], seen["fingerprints"], seen["observed_at"] is None) == (True, [STRAY], False)
    await allow(world.ada, b)
    assert [one["allocation_id"] for one in (await bob.http.get(place)).json()["items"]] == [b, a]
    await allow(world.ada, a, allowed=False)
    (await world.release(b)).raise_for_status()
    await world.nodes.settle()
    assert (await bob.http.get(place)).json()["items"] == []
    stranger = await world.sign_up("eve", key=a_key())
    assert (await stranger.http.get(place)).status_code == 404
