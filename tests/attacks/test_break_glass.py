"""Break-glass access of operators: by reason, for a time, seen by the holder and ended by the holder."""

from datetime import timedelta
from typing import Any

from gpuaas.core.secrets import token_hash
from gpuaas.domain.terminals import commands, store
from gpuaas.wire.identity import Role
from tests.world import Person, World


async def break_in(world: World, id: str, person: Person | None = None, **fields: Any) -> Any:
    body = {"reason": "ticket 4711", **fields}
    return await (person or world.operator).http.post(f"/api/v1/admin/allocations/{id}/break-glass", json=body)


async def use(world: World, id: str, token: str) -> str | None:
    """The objection to a ticket; without one a terminal is opened with it."""
    now = world.clock.now()
    async with world.db.write() as tx:
        ticket = await store.take_ticket(tx, token_hash(token), id, now)
        assert ticket is not None
        if ticket.objection is None:
            terminal = await commands.open_terminal(tx, ticket, ids=world.services.ids, source="10.0.0.9", now=now)
            await store.opened(tx, terminal, ticket, source="10.0.0.9", now=now)
        return ticket.objection


async def objection(world: World, id: str) -> str | None:
    sql = (
        "select terminal_objection(allocation_id, boot, user_id, credential_id) from terminals where allocation_id = $1"
    )
    why: str | None = await world.value(sql, id)
    return why


async def test_an_operator_gets_in_by_a_reason_that_the_holder_sees(world: World) -> None:
    a = await world.allocation()
    opened = (await break_in(world, a)).raise_for_status().json()
    assert opened["terminal"]["recorded"] is True
    assert await use(world, a, opened["terminal"]["token"]) is None
    (access,) = (await world.http.get(f"/api/v1/allocations/{a}/break-glass")).json()["items"]
    assert (access["email"], access["reason"], access["ended_at"]) == (world.operator.email, "ticket 4711", None)
    (inside,) = (await world.http.get(f"/api/v1/allocations/{a}/sessions")).json()["items"]
    assert (inside["email"], inside["break_glass_reason"]) == (world.operator.email, "ticket 4711")
    (told,) = [entry for entry in await world.timeline(a) if entry.phase == "break_glass_opened"]
    assert told.note == f"operator {world.operator.email}: ticket 4711"
    assert await world.value("select count(*) from audit where action = 'allocation.break_glass_opened'") == 1
    assert await world.value("select count(*) from outbox where topic = 'allocation.break_glass'") == 1


async def test_the_holder_ends_it_by_ending_the_connection(world: World) -> None:
    a = await world.allocation()
    opened = (await break_in(world, a)).json()
    await use(world, a, opened["terminal"]["token"])
    again = (await break_in(world, a)).json()
    assert again["access"]["id"] == opened["access"]["id"]
    (inside,) = (await world.http.get(f"/api/v1/allocations/{a}/sessions")).json()["items"]
    assert (await world.http.delete(f"/api/v1/allocations/{a}/sessions/{inside['id']}")).status_code == 202
    assert await use(world, a, again["terminal"]["token"]) == "the break-glass access ended"
    (access,) = (await world.http.get(f"/api/v1/allocations/{a}/break-glass")).json()["items"]
    assert access["ended_by"] == world.ada.id


async def test_the_holder_ends_it_before_a_terminal_is_open_and_others_may_not(world: World) -> None:
    a = await world.allocation()
    opened = (await break_in(world, a)).json()
    bob = await world.sign_up("bob")
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    assert (await bob.http.delete(f"/api/v1/allocations/{a}/break-glass")).status_code == 403
    for _ in range(2):  # asked again, it changes nothing
        assert (await world.http.delete(f"/api/v1/allocations/{a}/break-glass")).status_code == 204
    assert await use(world, a, opened["terminal"]["token"]) == "the break-glass access ended"
    (ended,) = [entry for entry in await world.timeline(a) if entry.phase == "break_glass_ended"]
    assert ended.actor == world.ada.id


async def test_it_ends_with_its_time_with_the_platform_role_and_on_request(world: World) -> None:
    for end in ("time", "role", "request"):
        a = await world.allocation()
        opened = (await break_in(world, a)).json()
        await use(world, a, opened["terminal"]["token"])
        assert await objection(world, a) is None
        async with world.db.write() as tx:
            if end == "time":
                await tx.run("update break_glass set expires_at = now() - interval '1 second'")
            elif end == "role":
                await tx.run("update users set platform_role = null where id = $1", world.operator.id)
        if end == "request":
            await world.operator.http.delete(f"/api/v1/admin/allocations/{a}/break-glass")
        assert await objection(world, a) == "the break-glass access ended", end
        async with world.db.write() as tx:
            await tx.run("update users set platform_role = 'admin' where id = $1", world.operator.id)


async def test_the_node_ends_the_terminal_with_the_access_without_being_told(world: World) -> None:
    """The red twin is a holder's ticket: only the policy ends their terminal."""
    a, policy = await world.allocation(), commands.Policy()
    opened = (await break_in(world, a, minutes=5)).raise_for_status().json()
    own = (await world.http.post(f"/api/v1/allocations/{a}/terminal-token", json={})).raise_for_status().json()
    now, left = world.clock.now(), []
    async with world.db.write() as tx:
        for token in (opened["terminal"]["token"], own["token"]):
            ticket = await store.take_ticket(tx, token_hash(token), a, now)
            assert ticket is not None
            left.append(policy.ends_at(ticket) - now)
    assert left[0] <= timedelta(minutes=5)
    assert left[1] == policy.life


async def test_nobody_else_breaks_in_and_no_operator_without_a_reason(world: World) -> None:
    a = await world.allocation()
    assert (await break_in(world, a, world.ada)).status_code == 403
    assert (await break_in(world, a, reason="")).status_code == 422
    assert (await break_in(world, a, minutes=241)).status_code == 422
    straight = await world.operator.http.post(f"/api/v1/allocations/{a}/terminal-token", json={})
    assert straight.status_code == 404
