"""Responses say what the caller may do, by the role rule; the console reads it and decides nothing itself."""

from typing import Any

import pytest

from gpuaas.domain.identity.permissions import RULES
from gpuaas.wire.identity import PlatformRole, Role, Scope
from gpuaas.wire.permissions import Permission
from tests.world import Person, World


async def shown(person: Person, path: str) -> Any:
    return (await person.http.get(f"/api/v1/{path}")).raise_for_status().json()


def of_role(role: Role) -> set[str]:
    return {permission.value for permission, rule in RULES.items() if role in rule.project}


@pytest.mark.parametrize("role", list(Role))
async def test_a_project_shows_what_the_role_allows(world: World, role: Role) -> None:
    eve = await world.sign_up("eve")
    await world.join(eve, world.ada, project=role, tenant=Role.MEMBER)
    path = f"projects/{world.ada.project_id}"
    listed = {one["id"]: one for one in (await shown(eve, "projects"))["items"]}
    mine = {one["id"]: one for one in (await shown(eve, "me"))["projects"]}
    for project in (await shown(eve, path), listed[world.ada.project_id], mine[world.ada.project_id]):
        assert set(project["permissions"]) == of_role(role)
    given = {Role.OWNER: 4, Role.ADMIN: 3, Role.MEMBER: 0, Role.VIEWER: 0}
    assert len(mine[world.ada.project_id]["assignable_roles"]) == given[role]


async def test_a_new_project_and_the_tenant_show_what_their_owner_may(world: World) -> None:
    made = (await world.http.post("/api/v1/projects", json={"slug": "new"})).raise_for_status().json()
    assert set(made["permissions"]) >= of_role(Role.OWNER)
    (tenant,) = (await shown(world.ada, "me"))["tenants"]
    assert "projects:create" in tenant["permissions"]


async def test_a_token_shows_only_what_its_scopes_allow(world: World) -> None:
    id = await world.allocation()
    made = await world.http.post("/api/v1/auth/tokens", json={"title": "reads", "scopes": ["read"]})
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    found = (await world.stranger.get(f"/api/v1/allocations/{id}", headers=headers)).raise_for_status().json()
    reading = {permission.value for permission, rule in RULES.items() if rule.scope is Scope.READ}
    assert set(found["permissions"]) == {"allocations:read", "recordings:read"} <= reading
    assert set((await shown(world.ada, f"allocations/{id}"))["permissions"]) > set(found["permissions"])


@pytest.mark.parametrize(("role", "manages"), [(Role.OWNER, True), (Role.ADMIN, False), (Role.MEMBER, False)])
async def test_owners_are_shown_as_changeable_to_owners_only(world: World, role: Role, manages: bool) -> None:
    eve, bob = await world.sign_up("eve"), await world.sign_up("bob")
    await world.join(eve, world.ada, project=role, tenant=Role.MEMBER)
    await world.join(bob, world.ada, project=Role.VIEWER, tenant=Role.MEMBER)
    rows = (await shown(eve, f"projects/{world.ada.project_id}/members"))["items"]
    members = {row["user_id"]: row for row in rows}
    assert ("members:manage" in members[world.ada.id]["permissions"]) == manages
    assert ("members:manage" in members[bob.id]["permissions"]) == (role is not Role.MEMBER)
    assert {id for id, row in members.items() if row["can_be_granted"]} == {world.ada.id, eve.id}


@pytest.mark.parametrize("role", list(PlatformRole))
async def test_operators_see_what_they_may_do_on_the_platform(world: World, role: PlatformRole) -> None:
    other = await world.hire_operator("other", role)
    expected = {permission.value for permission, rule in RULES.items() if role in rule.platform}
    assert set((await shown(other, "me"))["permissions"]) == expected
    assert (await shown(world.ada, "me"))["permissions"] == []


async def test_volumes_show_who_may_change_them(world: World) -> None:
    made = await world.http.post(
        f"/api/v1/projects/{world.ada.project_id}/volumes", json={"name": "data", "size_gib": 1, "backend": "shared"}
    )
    viewer = await world.sign_up("eve")
    await world.join(viewer, world.ada, project=Role.VIEWER, tenant=Role.MEMBER)
    path = f"projects/{world.ada.project_id}/volumes/{made.raise_for_status().json()['id']}"
    assert made.json()["permissions"] == [Permission.VOLUMES_READ, Permission.VOLUMES_WRITE]
    assert (await shown(viewer, path))["permissions"] == [Permission.VOLUMES_READ]
