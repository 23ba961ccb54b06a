"""SEC15: a tenant membership and a key of a token that outlive their cause; control characters in shown text."""

import pytest
from httpx import AsyncClient

from gpuaas.cli.output import Column, show_csv
from gpuaas.wire.identity import Role
from tests.access.test_allocation_keys import a_key
from tests.attacks.test_sec3_removed_holder import lose, new_key
from tests.world import World

MEMBERSHIP = "select count(*) from tenant_members where tenant_id = $1 and user_id = $2"


@pytest.mark.parametrize("how", ["removed", "left"])
async def test_the_last_project_takes_the_tenant_membership_with_it(world: World, how: str) -> None:
    eve = await world.sign_up("eve", key=a_key())
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    await lose(world, eve, how)
    assert await world.value(MEMBERSHIP, world.ada.tenant_id, eve.id) == 0
    assert [one["id"] for one in (await eve.http.get("/api/v1/me")).json()["tenants"]] == [eve.tenant_id]


async def test_another_project_or_a_leading_role_keeps_the_membership(world: World) -> None:
    eve, tom = await world.sign_up("eve", key=a_key()), await world.sign_up("tom", key=a_key())
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    await world.join(tom, world.ada, project=Role.MEMBER, tenant=Role.ADMIN)
    other = await world.http.post("/api/v1/projects", json={"slug": "other", "tenant_id": world.ada.tenant_id})
    async with world.db.write() as tx:
        sql = "insert into project_members values ($1, $2, $3, 'viewer')"
        await tx.run(sql, other.json()["id"], world.ada.tenant_id, eve.id)
    for person in (eve, tom):
        await lose(world, person, "removed")
        assert await world.value(MEMBERSHIP, world.ada.tenant_id, person.id) == 1


async def test_a_key_that_a_token_added_ends_with_the_token(world: World) -> None:
    made = (await world.http.post("/api/v1/auth/tokens", json={"title": "ci", "scopes": ["write"]})).json()
    robot = world.client(made["token"])
    line, mine = new_key()
    key = (await robot.post("/api/v1/ssh-keys", json={"title": "ci", "public_key": line})).raise_for_status().json()
    assert (key["token_id"], key["ends_at"]) == (made["details"]["id"], made["details"]["expires_at"])
    a = await world.allocation(ssh_key_ids=[world.ada.key_id, key["id"]])
    node = world.node_of(await world.get(a))
    assert node.log_in(a, "gpu", mine)
    ends = {one.fingerprint: one.ends_at for one in node.environments[a].keys.keys}
    assert ends[mine] is not None  # the node ends it by itself when the token expires
    (await world.http.delete(f"/api/v1/auth/tokens/{made['details']['id']}")).raise_for_status()
    await world.nodes.settle()
    assert (await node.connections(a), node.log_in(a, "gpu", mine)) == ([], None)
    listed = (await world.http.get("/api/v1/ssh-keys")).json()["items"]
    assert [one["id"] for one in listed] == [world.ada.key_id]
    await robot.aclose()


async def test_a_token_that_ended_in_any_other_way_opens_no_new_allocation_with_its_key(world: World) -> None:
    made = (await world.http.post("/api/v1/auth/tokens", json={"title": "ci", "scopes": ["write"]})).json()
    robot = world.client(made["token"])
    key = (await robot.post("/api/v1/ssh-keys", json={"title": "ci", "public_key": a_key()})).json()
    async with world.db.write() as tx:
        await tx.run("update tokens set revoked_at = now() where id = $1", made["details"]["id"])
    await world.nodes.add()
    assert (await world.submit(ssh_key_ids=[key["id"]])).status_code == 422
    a = await world.allocation()
    kept = await world.http.put(f"/api/v1/allocations/{a}/ssh-keys", json={"ssh_key_ids": [key["id"]]})
    assert (kept.status_code, kept.json()["code"]) == (409, "no_way_in")
    await robot.aclose()


async def test_a_reason_with_control_characters_is_refused(world: World) -> None:
    a = await world.allocation()
    escapes = "\x1b]0;owned\x07"
    ended = await world.http.delete(f"/api/v1/allocations/{a}/sessions/none", params={"reason": escapes})
    restarted = await world.http.post(f"/api/v1/allocations/{a}/restart", json={"reason": escapes})
    assert (ended.status_code, restarted.status_code) == (422, 422)


def test_csv_shows_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    show_csv(["a\x1b[2Jb"], [Column("Name", str)])
    assert capsys.readouterr().out == "name\na\N{REPLACEMENT CHARACTER}[2Jb\n"


async def robot_of(world: World) -> AsyncClient:
    """A client with a token of Ada's that may write."""
    made = (await world.http.post("/api/v1/auth/tokens", json={"title": "ci", "scopes": ["write"]})).json()
    return world.client(made["token"])


async def test_a_token_does_not_allow_the_own_key_file(world: World) -> None:
    """A key in that file would admit after the token was revoked."""
    a, robot = await world.allocation(), await robot_of(world)
    path = f"/api/v1/allocations/{a}/own-keys"
    refused = await robot.put(path, json={"allowed": True})
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_permissions")
    (await world.http.put(path, json={"allowed": True})).raise_for_status()
    assert (await robot.put(path, json={"allowed": False})).status_code == 200
    await robot.aclose()


async def test_a_token_makes_nobody_a_member_and_raises_no_role(world: World) -> None:
    """An account that a stolen token made an owner would stay one after the token was revoked."""
    eve, robot = await world.sign_up("eve", key=a_key()), await robot_of(world)
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    members = f"/api/v1/projects/{world.ada.project_id}/members"
    for role in Role:
        invited = await robot.post(members, json={"email": "mal@example.com", "role": role})
        assert (invited.status_code, invited.json()["code"]) == (403, "insufficient_permissions")
    assert await world.value("select count(*) from invitations") == 0
    for role in (Role.ADMIN, Role.OWNER):
        assert (await robot.put(f"{members}/{eve.id}", json={"role": role})).status_code == 403
    assert (await robot.put(f"{members}/{eve.id}", json={"role": Role.VIEWER})).status_code == 200
    assert (await robot.delete(f"{members}/{eve.id}")).status_code == 204
    await robot.aclose()
