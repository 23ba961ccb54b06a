"""SEC3: a person who loses access keeps no way in by the allocation's own key file, whatever took the access away."""

import asyncssh
import pytest

from gpuaas.wire.identity import Role
from tests.access.test_own_keys import allow, observed
from tests.attacks.test_sec2_demoted_holder import demote, held_by_bob
from tests.world import Person, World


def new_key() -> tuple[str, str]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    return key.export_public_key().decode().strip(), key.get_fingerprint()


async def fingerprint_of(person: Person) -> str:
    return str((await person.http.get(f"/api/v1/ssh-keys/{person.key_id}")).raise_for_status().json()["fingerprint"])


async def lose(world: World, person: Person, how: str) -> None:
    path = f"/api/v1/projects/{world.ada.project_id}/members/{person.id}"
    match how:
        case "removed":
            (await world.http.delete(path)).raise_for_status()
        case "left":
            (await person.http.delete(path)).raise_for_status()
        case _:
            await demote(world, person)


@pytest.mark.parametrize("how", ["removed", "left", "demoted"])
async def test_a_former_holder_is_out_by_key_and_by_file(world: World, how: str) -> None:
    bob, a = await held_by_bob(world)
    stray, mine = new_key()[1], await fingerprint_of(bob)
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {stray, mine}
    (await allow(bob, a)).raise_for_status()
    await world.nodes.settle()
    assert node.log_in(a, "gpu", stray)
    assert node.log_in(a, "gpu", mine)
    await lose(world, bob, how)
    await world.nodes.settle()
    assert (await node.connections(a), node.log_in(a, "gpu", stray), node.log_in(a, "gpu", mine)) == ([], None, None)
    shown = (await world.http.get(f"/api/v1/allocations/{a}/ssh-keys")).json()
    assert (shown["admits_own_keys"], shown["fingerprints"]) == (False, [])


async def test_a_revoked_grantee_does_not_come_back_by_the_file(world: World) -> None:
    """The file still admits unknown keys: the holder allowed that. It never admits a known person without access."""
    a = await world.allocation()
    line, mine = new_key()
    eve = await world.sign_up("eve", key=line)
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    body = {"user_id": eve.id, "ssh_key_id": eve.key_id}
    grant = (await world.http.post(f"/api/v1/allocations/{a}/access-grants", json=body)).raise_for_status().json()
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {mine, "SHA256:unknown"}
    (await allow(world.ada, a)).raise_for_status()
    await world.nodes.settle()
    assert node.log_in(a, "gpu", mine)
    (await world.http.delete(f"/api/v1/allocations/{a}/access-grants/{grant['id']}")).raise_for_status()
    await world.nodes.settle()
    assert (await node.connections(a), node.log_in(a, "gpu", mine)) == ([], None)
    assert node.log_in(a, "gpu", "SHA256:unknown")


async def test_a_stranger_who_registers_a_key_of_the_file_shuts_nobody_out(world: World) -> None:
    """Possession of a key is not proven, so an account of another tenant decides about no file."""
    a = await world.allocation()
    line, theirs = new_key()
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {theirs}
    (await allow(world.ada, a)).raise_for_status()
    await world.nodes.settle()
    await observed(world, a)
    await world.sign_up("mal", key=line)
    await world.nodes.settle()
    assert node.log_in(a, "gpu", theirs)


async def test_a_key_of_a_member_without_access_stays_refused_after_they_removed_it(world: World) -> None:
    """Only a new permission by the holder forgets it."""
    a = await world.allocation()
    line, mine = new_key()
    eve = await world.sign_up("eve", key=line)
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {mine}
    (await allow(world.ada, a)).raise_for_status()
    await world.nodes.settle()
    await observed(world, a)
    await world.nodes.settle()
    assert node.log_in(a, "gpu", mine) is None
    await lose(world, eve, "removed")
    (await eve.http.delete(f"/api/v1/ssh-keys/{eve.key_id}")).raise_for_status()
    for verb in ("suspend", "unsuspend"):  # each renders the key set
        path = f"/api/v1/admin/projects/{world.ada.project_id}/{verb}"
        (await world.operator.http.post(path, json={"reason": "unpaid"})).raise_for_status()
    await observed(world, a)
    await world.nodes.settle()
    assert node.log_in(a, "gpu", mine) is None
    for allowed in (False, True):
        (await allow(world.ada, a, allowed=allowed)).raise_for_status()
    await world.nodes.settle()
    assert node.log_in(a, "gpu", mine)  # nobody knows whose it is


async def test_the_key_of_an_ended_grant_is_refused_though_its_person_removed_it(world: World) -> None:
    a = await world.allocation()
    line, mine = new_key()
    eve = await world.sign_up("eve", key=line)
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    body = {"user_id": eve.id, "ssh_key_id": eve.key_id}
    (await world.http.post(f"/api/v1/allocations/{a}/access-grants", json=body)).raise_for_status()
    await lose(world, eve, "removed")
    (await eve.http.delete(f"/api/v1/ssh-keys/{eve.key_id}")).raise_for_status()
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {mine}
    (await allow(world.ada, a)).raise_for_status()
    await world.nodes.settle()
    assert node.log_in(a, "gpu", mine) is None


async def test_the_file_is_allowed_only_while_who_allowed_it_holds_the_allocation(world: World) -> None:
    """An admin may allow it while there is no holder; the holder who comes back decides again."""
    bob, a = await held_by_bob(world)
    await demote(world, bob)
    (await allow(world.ada, a)).raise_for_status()
    path = f"/api/v1/projects/{world.ada.project_id}/members/{bob.id}"
    (await world.http.put(path, json={"role": "member"})).raise_for_status()
    shown = (await bob.http.get(f"/api/v1/allocations/{a}/ssh-keys")).json()
    assert shown["admits_own_keys"] is False
