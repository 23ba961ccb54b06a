"""A suspended person, project or tenant works no more, keeps everything, and comes back as it was."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import asyncpg
import httpx
import pytest

from gpuaas.api.app import create_app
from gpuaas.domain.allocations.environments import store as environments
from gpuaas.domain.launch.commands import Launch
from gpuaas.wire.accounts import AccountKind
from gpuaas.wire.allocations import SubmittedAllocations
from tests.isolation.asgi import Ask, send
from tests.world import PASSWORD, SLICE, World

KINDS = list(AccountKind)
KEYS = "select jsonb_array_length(body) from allocation_keysets where allocation_id = $1"


def id_of(world: World, kind: AccountKind) -> str:
    ada = world.ada
    return {AccountKind.TENANT: ada.tenant_id, AccountKind.PROJECT: ada.project_id, AccountKind.USER: ada.id}[kind]


async def change(world: World, kind: AccountKind, verb: str, reason: str = "unpaid") -> httpx.Response:
    path = f"/api/v1/admin/{kind}s/{id_of(world, kind)}/{verb}"
    return (await world.operator.http.post(path, json={"reason": reason})).raise_for_status()


def writes(world: World, id: str, volume_id: str) -> dict[str, Callable[[], Awaitable[httpx.Response]]]:
    """New work of each kind."""
    http, project = world.http, world.ada.project_id

    def posting(path: str, body: dict[str, Any]) -> Callable[[], Awaitable[httpx.Response]]:
        return lambda: http.post(f"/api/v1/{path}", json=body)

    return {
        "create": world.submit,
        "restart": posting(f"allocations/{id}/restart", {}),
        "resize": posting(f"allocations/{id}/resize", {"gpu_count": 2}),
        "release": posting(f"allocations/{id}/release", {}),
        "attach": posting(f"allocations/{id}/storage-attachments", {"volume_id": volume_id, "mount_path": "/data"}),
        "terminal": posting(f"allocations/{id}/terminal-token", {}),
        "volume": posting(f"projects/{project}/volumes", {"name": "more", "size_gib": 1}),
        "snapshot": posting(f"volumes/{volume_id}/snapshots", {"name": "more"}),
        "invite": posting(f"projects/{project}/members", {"email": "mate@example.com"}),
        "events": lambda: http.get(f"/api/v1/projects/{project}/events"),
    }


@pytest.mark.parametrize("kind", KINDS, ids=str)
async def test_no_new_work_and_everything_back_after_it(world: World, kind: AccountKind) -> None:
    id = await world.allocation()
    made = await world.http.post(f"/api/v1/projects/{world.ada.project_id}/volumes", json={"name": "v", "size_gib": 1})
    volume_id = made.raise_for_status().json()["id"]
    await world.nodes.settle()
    before = await world.seen(id)
    assert await world.value(KEYS, id) == 1
    suspended = (await change(world, kind, "suspend")).json()
    assert (suspended["reason"], suspended["suspended_by"]) == ("unpaid", world.operator.id)
    for name, write in writes(world, id, volume_id).items():
        answer = await write()
        assert (name, answer.status_code, answer.json()["code"]) == (name, 403, "suspended")
    assert await world.value(KEYS, id) == 0
    read = await world.http.get(f"/api/v1/allocations/{id}")
    assert read.status_code == (403 if kind is AccountKind.USER else 200)
    assert (await world.get(id)).status == "active"  # it runs on
    await change(world, kind, "unsuspend", "paid")
    assert await world.value(KEYS, id) == 1
    await world.nodes.settle()
    grows = {"version": 0, "cost_so_far": None}
    assert {**await world.seen(id), **grows} == {**before, **grows}
    (await world.http.post(f"/api/v1/allocations/{id}/restart", json={})).raise_for_status()
    told = await world.value("select array_agg(action order by id) from audit where action like '%suspend'")
    assert told == [f"{kind}.suspend", f"{kind}.unsuspend"]


@pytest.mark.parametrize("kind", KINDS, ids=str)
async def test_the_allocations_own_key_file_admits_nobody_meanwhile(world: World, kind: AccountKind) -> None:
    id = await world.allocation()
    (await world.http.put(f"/api/v1/allocations/{id}/own-keys", json={"allowed": True})).raise_for_status()

    async def admits_own() -> bool:
        async with world.db.read() as tx:
            return (await environments.keyset(tx, id)).admits_own

    assert await admits_own()
    await change(world, kind, "suspend")
    assert not await admits_own()
    await change(world, kind, "unsuspend")
    assert await admits_own()


@pytest.mark.parametrize("kind", [AccountKind.TENANT, AccountKind.PROJECT], ids=str)
async def test_members_read_why_they_are_suspended(world: World, kind: AccountKind) -> None:
    await change(world, kind, "suspend", "unpaid since May")
    me = (await world.http.get("/api/v1/me")).raise_for_status().json()
    (project,), (tenant,) = me["projects"], me["tenants"]
    assert (project["suspension_reason"], bool(project["suspended_at"])) == ("unpaid since May", True)
    assert bool(tenant["suspended_at"]) is (kind is AccountKind.TENANT)
    await change(world, kind, "unsuspend")
    me = (await world.http.get("/api/v1/me")).raise_for_status().json()
    assert {each["suspended_at"] for each in (*me["projects"], *me["tenants"])} == {None}


async def test_a_suspended_person_cannot_sign_in_and_their_allocation_is_held_by_admins(world: World) -> None:
    await change(world, AccountKind.USER, "suspend", "stolen laptop")
    credentials = {"email": world.ada.email, "password": PASSWORD}
    login = await world.stranger.post("/api/v1/auth/personal/login", json=credentials)
    assert (login.status_code, login.json()["code"]) == (403, "suspended")
    assert "stolen laptop" in login.json()["detail"]
    await change(world, AccountKind.USER, "unsuspend")
    assert (await world.stranger.post("/api/v1/auth/personal/login", json=credentials)).status_code == 200
    own = await world.operator.http.post(f"/api/v1/admin/users/{world.operator.id}/suspend", json={"reason": "oops"})
    assert own.status_code == 409


class Late(Launch):
    """Whose request was let in, and then the tenant was suspended."""

    def __init__(self, launch: Launch, suspend: Callable[[], Awaitable[httpx.Response]]) -> None:
        self._launch, self._suspend = launch, suspend

    async def submit(self, *args: Any) -> SubmittedAllocations:
        await self._suspend()
        return await self._launch.submit(*args)


async def test_a_request_let_in_before_a_suspension_does_not_commit_after_it(world: World) -> None:
    """What the caller's roles were read as is old by then; the database looks again as the allocation is inserted."""
    await world.nodes.add()
    late = Late(world.services.launch, lambda: change(world, AccountKind.TENANT, "suspend"))
    app = create_app(replace(world.services, launch=late), world._routes)
    body = json.dumps({"sku": SLICE, "ssh_key_ids": [world.ada.key_id]}).encode()
    headers = {"X-Idempotency-Key": "k"}
    path = "/api/v1/allocations"
    refused = await send(app, Ask(method="POST", target=path, token=world.ada.token, headers=headers, body=body))
    assert (refused.status, refused.json()["code"]) == (403, "suspended")
    assert await world.value("select count(*) from allocations") == 0


async def test_operators_find_tenants_projects_and_people(world: World) -> None:
    ada, operator = world.ada, world.operator.http
    for path, search, id in (
        ("tenants", "ada-", ada.tenant_id),
        ("projects", "ada-", ada.project_id),
        ("users", "ADA@", ada.id),
    ):
        found = (await operator.get(f"/api/v1/admin/{path}", params={"search": search})).raise_for_status().json()
        assert [one["id"] for one in found["items"]] == [id]
        everybody = (await operator.get(f"/api/v1/admin/{path}", params={"limit": 1})).raise_for_status().json()
        assert len(everybody["items"]) == 1
        assert everybody["next_cursor"]
        assert (await world.http.get(f"/api/v1/admin/{path}")).status_code == 403


async def test_without_its_rule_a_suspension_would_leave_the_keys_and_it_would_be_seen(world: World) -> None:
    """The red twin: the rule without its look at suspensions."""
    id = await world.allocation()
    connection = await asyncpg.connect(world.dsn)
    source = await connection.fetchval("select pg_get_functiondef('project_permissions'::regproc)")
    suspensions = "and p.suspended_at is null and t.suspended_at is null and c.suspended_at is null"
    assert suspensions in source
    await connection.execute(source.replace(suspensions, ""))
    await connection.close()
    await change(world, AccountKind.TENANT, "suspend")
    assert await world.value(KEYS, id) == 1
