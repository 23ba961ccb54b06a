"""Members: invited by address, joining, changing, leaving; and who is gone is out of every machine at once."""

import asyncio

import asyncssh
import pytest

from gpuaas.wire.identity import Role
from tests import peek
from tests.world import Person, World


def a_key() -> str:
    return asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()


def members(person: Person) -> str:
    return f"/api/v1/projects/{person.project_id}/members"


async def join(world: World, name: str, role: Role = Role.MEMBER, tenant: Role = Role.MEMBER) -> Person:
    person = await world.sign_up(name, key=a_key())
    await world.join(person, world.ada, project=role, tenant=tenant)
    return person


async def admitted(world: World, id: str) -> set[str]:
    await world.nodes.settle()
    return {key.user_id for key in world.node_of(await world.get(id)).environments[id].keys.keys}


async def share(world: World, id: str, person: Person) -> str:
    wish = {"user_id": person.id, "ssh_key_id": person.key_id}
    made = await world.http.post(f"/api/v1/allocations/{id}/access-grants", json=wish)
    return str(made.raise_for_status().json()["id"])


async def accept(person: Person, link: str) -> int:
    body = {"secret": link.rpartition("#")[2]}
    return (await person.http.post("/api/v1/invitations/accept", json=body)).status_code


async def test_who_is_invited_accepts_by_the_link_and_is_in_project_and_tenant(world: World) -> None:
    bob = await world.sign_up("bob", key=a_key())
    assert (await bob.http.get(f"/api/v1/projects/{world.ada.project_id}")).status_code == 404
    sent = await world.http.post(members(world.ada), json={"email": bob.email.upper(), "role": "member"})
    assert sent.status_code == 202
    assert (sent.json()["project_slug"], sent.json()["invited_by_email"]) == ("default", world.ada.email)
    link = sent.json()["link"]
    assert link.startswith(f"{world.services.public_url}/invitations/accept#gpi_")
    assert await accept(bob, link) == 200
    assert (await bob.http.get(f"/api/v1/projects/{world.ada.project_id}")).status_code == 200
    me = (await bob.http.get("/api/v1/me")).json()
    assert {each["role"] for each in me["tenants"] if each["id"] == world.ada.tenant_id} == {"member"}
    assert await accept(bob, link) == 404


async def test_the_answer_is_the_same_whether_or_not_there_is_such_a_person(world: World) -> None:
    bob = await world.sign_up("bob", key=a_key())
    answers = [
        await world.http.post(members(world.ada), json={"email": email, "role": "member"})
        for email in (bob.email, "nobody@example.com")
    ]
    assert {answer.status_code for answer in answers} == {202}
    shapes = [{key for key, value in answer.json().items() if value is not None} for answer in answers]
    assert shapes[0] == shapes[1]


async def test_an_invitation_is_withdrawn_issued_again_and_expires(world: World) -> None:
    bob = await world.sign_up("bob", key=a_key())
    place = members(world.ada)
    first = (await world.http.post(place, json={"email": bob.email})).json()
    second = (await world.http.post(place, json={"email": bob.email})).json()
    assert first["id"] == second["id"]
    assert await accept(bob, first["link"]) == 404  # a new link ends the old one
    listed = (await world.http.get("/api/v1/invitations", params={"project_id": world.ada.project_id})).json()["items"]
    assert [(one["id"], one["is_valid"]) for one in listed] == [(second["id"], True)]
    assert "link" not in listed[0]
    assert (await bob.http.delete(f"/api/v1/invitations/{second['id']}")).status_code == 404
    assert (await world.http.delete(f"/api/v1/invitations/{second['id']}")).status_code == 204
    assert await accept(bob, second["link"]) == 404
    third = (await world.http.post(place, json={"email": bob.email})).json()
    world.clock.advance(days=15)
    assert await accept(bob, third["link"]) == 404


async def test_who_may_invite_and_as_what(world: World) -> None:
    admin, member = await join(world, "ann", Role.ADMIN), await join(world, "bob")
    place = members(world.ada)
    assert (await member.http.post(place, json={"email": "x@example.com"})).status_code == 403
    assert (await admin.http.post(place, json={"email": "x@example.com", "role": "admin"})).status_code == 202
    assert (await admin.http.post(place, json={"email": "x@example.com", "role": "owner"})).status_code == 403
    again = await admin.http.post(place, json={"email": member.email})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


async def test_roles_are_changed_by_who_leads_and_owners_by_owners(world: World) -> None:
    admin, member = await join(world, "ann", Role.ADMIN), await join(world, "bob")
    assert (await admin.http.put(f"{members(world.ada)}/{member.id}", json={"role": "admin"})).status_code == 200
    for body in ({"role": "member"}, {"role": "owner"}):
        who = world.ada.id if body["role"] == "member" else member.id
        refused = await admin.http.put(f"{members(world.ada)}/{who}", json=body)
        assert refused.status_code == 403
    shown = {one["user_id"]: one["role"] for one in (await world.http.get(members(world.ada))).json()["items"]}
    assert shown == {world.ada.id: "owner", admin.id: "admin", member.id: "admin"}


async def test_the_last_owner_stays(world: World) -> None:
    mine = f"{members(world.ada)}/{world.ada.id}"
    for answer in (await world.http.delete(mine), await world.http.put(mine, json={"role": "viewer"})):
        assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")


async def test_of_two_owners_who_leave_at_once_one_stays(world: World) -> None:
    other = await join(world, "ann", Role.OWNER)
    answers = await asyncio.gather(
        world.http.delete(f"{members(world.ada)}/{world.ada.id}"),
        other.http.delete(f"{members(world.ada)}/{other.id}"),
    )
    assert sorted(answer.status_code for answer in answers) == [204, 409]
    owners = "select count(*) from project_members where project_id = $1 and role = 'owner'"
    assert await world.value(owners, world.ada.project_id) == 1


@pytest.mark.parametrize("way", ["leaves", "is removed", "becomes a viewer"])
async def test_who_no_longer_works_in_the_project_is_out_of_every_machine(world: World, way: str) -> None:
    bob = await join(world, "bob")
    shared, held = await world.allocation(), await world.allocation()
    grant = await share(world, shared, bob)
    place = f"/api/v1/allocations/{held}/handover"
    await world.http.post(place, json={"user_id": bob.id, "ssh_key_ids": [bob.key_id]})
    assert (await admitted(world, shared), await admitted(world, held)) == ({world.ada.id, bob.id}, {bob.id})
    theirs = f"{members(world.ada)}/{bob.id}"
    match way:
        case "leaves":
            answer = await bob.http.delete(theirs)
        case "is removed":
            answer = await world.http.delete(theirs)
        case _:
            answer = await world.http.put(theirs, json={"role": "viewer"})
    assert answer.is_success
    assert (await admitted(world, shared), await admitted(world, held)) == ({world.ada.id}, set())
    shown = (await world.http.get(f"/api/v1/allocations/{shared}/access-grants/{grant}")).json()
    assert shown["status"] == "revoked"
    audited = "select facts -> 'shut_out_of' from audit where action like 'member.%' order by id desc limit 1"
    assert set(await world.value(audited)) == {shared, held}
    again = await world.http.put(
        f"/api/v1/allocations/{held}/ssh-keys", json={"ssh_key_ids": [], "confirm_no_way_in": True}
    )
    assert again.status_code == 200, "holder gone: who leads the project holds it"


async def test_a_membership_that_ends_behind_our_back_still_renders_no_key(world: World) -> None:
    """The rendering itself asks who works in the project, whatever rows are left."""
    bob = await join(world, "bob")
    a = await world.allocation()
    await share(world, a, bob)
    assert await admitted(world, a) == {world.ada.id, bob.id}
    await peek.plant(world.db, "delete from project_members where user_id = $1", bob.id)
    await world.http.put(f"/api/v1/allocations/{a}/ssh-keys", json={"ssh_key_ids": [world.ada.key_id]})
    assert await admitted(world, a) == {world.ada.id}


async def test_one_answer_shows_what_a_person_can_reach(world: World) -> None:
    bob = await join(world, "bob")
    shared, held = await world.allocation(), await world.allocation()
    await share(world, shared, bob)
    await world.http.post(f"/api/v1/allocations/{held}/handover", json={"user_id": bob.id})
    reach = (await bob.http.get("/api/v1/me/reach")).json()
    assert (reach["user"]["email"], reach["ssh_key_count"]) == (bob.email, 1)
    here = next(one for one in reach["projects"] if one["project_id"] == world.ada.project_id)
    machines = {one["allocation_id"]: (one["is_holder"], one["grant"]) for one in here["machines"]}
    assert (here["role"], machines) == ("member", {shared: (False, "active"), held: (True, None)})
    seen = (await world.http.get(f"{members(world.ada)}/{bob.id}")).json()
    assert seen["machines"] == here["machines"]
