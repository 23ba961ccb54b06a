"""SEC6: only the secret accepts an invitation, and only while its author may invite."""

import asyncio

import asyncpg
import pytest

from gpuaas.domain.members.commands import check_invitation
from gpuaas.wire.identity import Role
from tests import peek
from tests.world import PASSWORD, Person, World


async def invite(world: World, author: Person, role: str = "member") -> dict[str, str]:
    path = f"/api/v1/projects/{world.ada.project_id}/members"
    answer = await author.http.post(path, json={"email": "bob@example.com", "role": role})
    sent: dict[str, str] = answer.raise_for_status().json()
    return sent


async def accept(person: Person, link: str) -> tuple[int, str]:
    answer = await person.http.post("/api/v1/invitations/accept", json={"secret": link.rpartition("#")[2]})
    return answer.status_code, answer.json().get("code", "")


async def test_whoever_signs_up_first_with_the_address_gets_nothing(world: World) -> None:
    """On the old code the squatter saw the invitation and joined by its id."""
    sent = await invite(world, world.ada)
    squatter = await world.sign_up("bob")
    asked = await squatter.http.get("/api/v1/invitations", params={"project_id": world.ada.project_id})
    assert asked.status_code == 404
    assert (await squatter.http.get("/api/v1/invitations")).json()["items"] == []
    for path in (f"/api/v1/invitations/{sent['id']}/accept", "/api/v1/invitations/accept"):
        for secret in (sent["id"], "", "gpi_guess"):
            assert (await squatter.http.post(path, json={"secret": secret})).status_code in {404, 405, 422}
    assert (await squatter.http.get(f"/api/v1/projects/{world.ada.project_id}")).status_code == 404
    assert (await accept(squatter, sent["link"]))[0] == 200  # with the secret, the same person is in


NO_CHECK = """
    create or replace function invitation_holds(invitation invitations) returns boolean
        language sql stable security definer set search_path = public as 'select true'
"""
CHANGES = {
    "removed from the project": "delete from project_members where user_id = $1 and project_id = $2",
    "made a member": "update project_members set role = 'member' where user_id = $1 and project_id = $2",
    "made a viewer": "update project_members set role = 'viewer' where user_id = $1 and project_id = $2",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_an_invitation_ends_when_its_author_may_no_longer_invite(world: World, change: str) -> None:
    ann, bob = await world.sign_up("ann"), await world.sign_up("bob")
    await world.join(ann, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    sent = await invite(world, ann)
    async with world.db.write() as tx:
        await tx.run(CHANGES[change], ann.id, world.ada.project_id)
    listed = await world.http.get("/api/v1/invitations", params={"project_id": world.ada.project_id})
    assert [one["is_valid"] for one in listed.json()["items"]] == [False]
    assert await accept(bob, sent["link"]) == (404, "invitation_invalid")
    again = await invite(world, world.ada)
    assert (await accept(bob, again["link"]))[0] == 200


async def test_an_owners_invitation_of_an_owner_ends_when_they_are_only_an_admin(world: World) -> None:
    ann, bob = await world.sign_up("ann"), await world.sign_up("bob")
    await world.join(ann, world.ada, project=Role.OWNER, tenant=Role.MEMBER)
    sent = await invite(world, ann, "owner")
    path = f"/api/v1/projects/{world.ada.project_id}/members/{ann.id}"
    assert (await world.http.put(path, json={"role": "admin"})).status_code == 200
    assert await accept(bob, sent["link"]) == (404, "invitation_invalid")


async def test_the_red_twin_of_the_rule_lets_a_removed_author_invite(world: World) -> None:
    """With the check of the author's right planted away, the same attack succeeds."""
    ann, bob = await world.sign_up("ann"), await world.sign_up("bob")
    await world.join(ann, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    sent = await invite(world, ann)
    async with world.db.write() as tx:
        await tx.run(CHANGES["removed from the project"], ann.id, world.ada.project_id)
    owner = await asyncpg.connect(world.dsn)
    try:
        await owner.execute(NO_CHECK)
    finally:
        await owner.close()
    assert (await accept(bob, sent["link"]))[0] == 200


async def test_an_invitation_from_before_has_no_secret_and_is_issued_again(world: World) -> None:
    bob = await world.sign_up("bob")
    await invite(world, world.ada)
    async with world.db.write() as tx:
        await tx.run("update invitations set secret_hash = null")
    listed = await world.http.get("/api/v1/invitations", params={"project_id": world.ada.project_id})
    assert [one["is_valid"] for one in listed.json()["items"]] == [False]
    assert (await accept(bob, (await invite(world, world.ada))["link"]))[0] == 200


async def test_a_sign_up_can_check_a_secret_and_uses_nothing_up(world: World) -> None:
    secret = (await invite(world, world.ada))["link"].rpartition("#")[2]
    now = world.clock.now()
    async with world.db.read() as tx:
        for _ in range(2):
            found = await check_invitation(tx, secret, now=now)
            assert found
            assert found.email == "bob@example.com"
        assert await check_invitation(tx, "gpi_guess", now=now) is None


async def test_the_secret_is_kept_nowhere(world: World) -> None:
    secret = (await invite(world, world.ada))["link"].rpartition("#")[2]
    for table in ("invitations", "audit", "idempotency", "timeline_entries", "outbox"):
        assert secret not in str(await peek.rows(world.db, f"select * from {table}"))


async def test_one_secret_makes_one_account_however_many_sign_up_at_once(world: World) -> None:
    """On the old code the others were told that the invitation is used, and had an account all the same."""
    secret = (await invite(world, world.ada))["link"].rpartition("#")[2]
    before = await world.value("select count(*) from users")

    async def sign_up(number: int) -> int:
        body = {"email": f"new{number}@example.com", "password": PASSWORD, "invitation": secret}
        async with world.client(number=100 + number) as http:
            return (await http.post("/api/v1/auth/personal/signup", json=body)).status_code

    answers = await asyncio.gather(*map(sign_up, range(4)))
    assert sorted(answers) == [201, 403, 403, 403]
    assert await world.value("select count(*) from users") == before + 1
    assert await world.value("select count(*) from audit where action = 'member.join'") == 1
