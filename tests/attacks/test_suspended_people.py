"""A suspension takes every way in from its person, and cannot be used to lock the operators out."""

import asyncio
from typing import Any

import httpx
import pytest

from gpuaas.api.unit import admit
from gpuaas.core.errors import Problem
from gpuaas.core.secrets import token_hash
from gpuaas.domain.identity import store as identity
from gpuaas.domain.suspensions import commands
from gpuaas.wire.accounts import AccountKind
from gpuaas.wire.identity import PlatformRole, Role
from tests.access.test_allocation_keys import a_key
from tests.access.test_own_keys import STRAY, allow
from tests.attacks.test_break_glass import break_in, objection, use
from tests.attacks.test_sec2_demoted_holder import demote, held_by_bob
from tests.world import Person, World


async def change(world: World, person: Person, verb: str, by: Person | None = None) -> httpx.Response:
    path = f"/api/v1/admin/users/{person.id}/{verb}"
    return await (by or world.operator).http.post(path, json={"reason": "abuse"})


async def admits_own(world: World, id: str) -> Any:
    return await world.value("select admits_own from allocation_keysets where allocation_id = $1", id)


@pytest.mark.parametrize("ended", ["refused", "handed over", "removed"])
async def test_a_permission_that_ended_during_a_suspension_does_not_come_back(world: World, ended: str) -> None:
    bob, a = await held_by_bob(world)
    (await allow(bob, a)).raise_for_status()
    (await change(world, bob, "suspend")).raise_for_status()
    member = f"/api/v1/projects/{world.ada.project_id}/members/{bob.id}"
    if ended == "refused":
        (await allow(world.ada, a, allowed=False)).raise_for_status()
        assert await world.value("select count(*) from audit where action = 'allocation.own_keys_refused'") == 1
    elif ended == "handed over":
        path = f"/api/v1/allocations/{a}/handover"
        (await world.http.post(path, json={"user_id": world.ada.id, "ssh_key_ids": []})).raise_for_status()
    else:
        (await world.http.delete(member)).raise_for_status()
    (await change(world, bob, "unsuspend")).raise_for_status()
    if ended == "handed over":
        path = f"/api/v1/allocations/{a}/handover"
        (await world.http.post(path, json={"user_id": bob.id, "ssh_key_ids": [bob.key_id]})).raise_for_status()
    if ended == "removed":
        await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
        (await world.http.put(member, json={"role": "admin"})).raise_for_status()  # renders the key set
    assert await admits_own(world, a) is False


async def test_a_suspended_admin_who_allowed_the_file_of_a_vacant_allocation_admits_nobody(world: World) -> None:
    bob, a = await held_by_bob(world)
    eve = await world.sign_up("eve", key=a_key())
    await world.join(eve, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    await demote(world, bob)
    node = world.node_of(await world.get(a))
    node.environments[a].own_file = {STRAY}
    (await allow(eve, a)).raise_for_status()
    await world.nodes.settle()
    assert node.log_in(a, "gpu", STRAY)
    (await change(world, eve, "suspend")).raise_for_status()
    await world.nodes.settle()
    assert (await node.connections(a), node.log_in(a, "gpu", STRAY)) == ([], None)


async def test_a_suspended_operator_breaks_no_glass_with_a_ticket_from_before(world: World) -> None:
    a, ops = await world.allocation(), await world.hire_operator("ops", PlatformRole.OPS)
    opened = (await break_in(world, a, ops)).raise_for_status().json()
    (await change(world, ops, "suspend")).raise_for_status()
    assert await use(world, a, opened["terminal"]["token"]) == "the break-glass access ended"


async def test_an_open_break_glass_terminal_ends_with_the_suspension(world: World) -> None:
    a, ops = await world.allocation(), await world.hire_operator("ops", PlatformRole.OPS)
    opened = (await break_in(world, a, ops)).raise_for_status().json()
    assert await use(world, a, opened["terminal"]["token"]) is None
    assert await objection(world, a) is None
    (await change(world, ops, "suspend")).raise_for_status()
    assert await objection(world, a) == "the break-glass access ended"
    assert await world.value("select closed_at is not null from terminals") is True


@pytest.mark.parametrize("role", PlatformRole)
async def test_only_admins_suspend_and_resume_operators(world: World, role: PlatformRole) -> None:
    ops, target = await world.hire_operator("ops", PlatformRole.OPS), await world.hire_operator("target", role)
    for verb in ("suspend", "unsuspend"):
        refused = await change(world, target, verb, ops)
        assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_permissions")
        assert (await change(world, target, verb)).status_code == 200
    assert (await change(world, world.ada, "suspend", ops)).status_code == 200


async def test_two_admins_who_suspend_each_other_at_once_leave_one(world: World) -> None:
    other = await world.hire_operator("other", PlatformRole.ADMIN)
    active = "select count(*) from users where platform_role = 'admin' and suspended_at is null"

    async def suspend(by: Person, whom: Person, at: asyncio.Barrier) -> None:
        async with world.services.operator_db.write() as tx:
            caller = admit(await identity.enter(tx, token_hash(by.token)), world.services)
            await at.wait()
            now = world.clock.now()
            await commands.suspend(tx, caller, AccountKind.USER, whom.id, reason="abuse", now=now)

    both = asyncio.Barrier(2)
    pair = (suspend(world.operator, other, both), suspend(other, world.operator, both))
    outcomes = await asyncio.gather(*pair, return_exceptions=True)
    assert await world.value(active) == 1
    assert sum(isinstance(one, Problem) for one in outcomes) == 1
