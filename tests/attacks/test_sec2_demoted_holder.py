"""SEC2: a holder who is demoted to viewer loses every way into the allocation, and admins hold it."""

from gpuaas.core.secrets import token_hash
from gpuaas.domain.terminals import store
from gpuaas.domain.terminals.commands import Policy
from gpuaas.domain.terminals.reconcile import TerminalWorker
from gpuaas.wire.identity import Role
from tests.access.test_allocation_keys import a_key
from tests.isolation.town import open_terminal
from tests.world import Person, World


async def held_by_bob(world: World) -> tuple[Person, str]:
    """Bob, a member of Ada's project, holds an active allocation."""
    bob = await world.sign_up("bob", key=a_key())
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    return bob, await world.allocation(of=bob, project_id=world.ada.project_id)


async def demote(world: World, person: Person) -> None:
    path = f"/api/v1/projects/{world.ada.project_id}/members/{person.id}"
    (await world.http.put(path, json={"role": "viewer"})).raise_for_status()


async def test_a_demoted_holder_mints_no_terminal(world: World) -> None:
    bob, a = await held_by_bob(world)
    await demote(world, bob)
    minted = await bob.http.post(f"/api/v1/allocations/{a}/terminal-token", json={})
    assert (minted.status_code, minted.json()["code"]) == (403, "insufficient_permissions")


async def test_an_open_terminal_of_a_demoted_holder_is_closed(world: World) -> None:
    bob, a = await held_by_bob(world)
    terminal = await open_terminal(world, bob, a)
    await demote(world, bob)
    why = await world.value("select terminal_objection($1, 1, $2, credential_id) from terminals", a, bob.id)
    assert why == "a viewer of the project has no access"
    await TerminalWorker(world.db, world.clock, Policy())(terminal)
    assert await world.value("select reason from terminals where id = $1", terminal) == why


async def test_a_ticket_minted_before_the_demotion_opens_nothing(world: World) -> None:
    bob, a = await held_by_bob(world)
    minted = (await bob.http.post(f"/api/v1/allocations/{a}/terminal-token", json={})).raise_for_status().json()
    await demote(world, bob)
    async with world.db.read() as tx:
        ticket = await store.take_ticket(tx, token_hash(minted["token"]), a, world.clock.now())
    assert ticket is not None
    assert ticket.objection == "a viewer of the project has no access"


async def test_a_demoted_holder_controls_nothing_and_admins_hold_it(world: World) -> None:
    bob, a = await held_by_bob(world)
    assert (await world.seen(a))["held_by"] == "holder"
    await demote(world, bob)
    assert (await world.seen(a))["held_by"] == "project_admins"
    for verb in ("restart", "release"):
        assert (await bob.http.post(f"/api/v1/allocations/{a}/{verb}", json={})).status_code == 403
    mine = await world.http.put(f"/api/v1/allocations/{a}/ssh-keys", json={"ssh_key_ids": [world.ada.key_id]})
    assert mine.status_code == 200, mine.text
    assert (await world.http.post(f"/api/v1/allocations/{a}/terminal-token", json={})).status_code == 201
