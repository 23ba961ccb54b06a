"""A person is let in while another transaction takes their role away: in either order they are out after both."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from gpuaas.api.unit import admit
from gpuaas.core.db import Tx
from gpuaas.core.errors import Problem
from gpuaas.core.secrets import token_hash
from gpuaas.domain.access import commands as access
from gpuaas.domain.access import grants
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.store import Query
from gpuaas.domain.invariants.store import RULES
from gpuaas.domain.launch import store as launch
from gpuaas.domain.members import commands as members
from gpuaas.wire.access import AllowOwnKeys, CreateAccessGrant, HandOver, SetSshKeys
from gpuaas.wire.allocations import CreateAllocation
from gpuaas.wire.identity import Role
from gpuaas.wire.members import ChangeMember
from tests import peek
from tests.access.test_allocation_keys import a_key
from tests.live import eventually
from tests.postgres import run
from tests.world import SLICE, Person, World

T = TypeVar("T")
WAITS = """
    select count(*) from pg_locks l join pg_stat_activity s using (pid)
    where not l.granted and s.datname = current_database()
"""
NO_LOCK = """
    create or replace function lock_role(person text, project text) returns boolean
        language sql volatile security definer set search_path = public as 'select works_in(person, project)'
"""
ADMITTED = """
    select count(*) from allocation_keysets k
    where k.admits_own_by = $1 or exists (select from jsonb_array_elements(k.body) e where e ->> 'user_id' = $1)
"""


class Scene:
    """Bob, an admin of Ada's project; an allocation of Ada's, and one whose holder left."""

    def __init__(self, world: World, bob: Person, held: str, vacant: str) -> None:
        self.world, self.bob, self.held, self.vacant = world, bob, held, vacant

    async def entered(self, tx: Tx, person: Person, query: Query[T] | None = None) -> tuple[Caller, T | None]:
        entry = await identity.enter(tx, token_hash(person.token), query=query)
        return admit(entry, self.world.services), entry.found if entry else None


async def scene(world: World) -> Scene:
    bob, leaver = await world.sign_up("bob", key=a_key()), await world.sign_up("leaver", key=a_key())
    await world.join(bob, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    await world.join(leaver, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    vacant = await world.allocation(of=leaver, project_id=world.ada.project_id)
    (await world.http.delete(f"/api/v1/projects/{world.ada.project_id}/members/{leaver.id}")).raise_for_status()
    return Scene(world, bob, await world.allocation(), vacant)


async def create(on: Scene, tx: Tx) -> None:
    services = on.world.services
    data = CreateAllocation(sku=SLICE, ssh_key_ids=[on.bob.key_id], project_id=on.world.ada.project_id)
    caller, found = await on.entered(tx, on.bob, launch.find_on_entering(data))
    await services.launch.submit(tx, caller, data, found, services.clock.now())


async def grant(on: Scene, tx: Tx) -> None:
    caller, _ = await on.entered(tx, on.world.ada)
    data = CreateAccessGrant(user_id=on.bob.id, ssh_key_id=on.bob.key_id)
    await grants.create(tx, caller, on.held, data, ids=on.world.services.ids, now=on.world.clock.now())


async def hand_over(on: Scene, tx: Tx) -> None:
    caller, _ = await on.entered(tx, on.world.ada)
    data = HandOver(user_id=on.bob.id, ssh_key_ids=[on.bob.key_id])
    await access.hand_over(tx, caller, on.held, data, now=on.world.clock.now())


async def add_key(on: Scene, tx: Tx) -> None:
    caller, _ = await on.entered(tx, on.bob)
    await access.set_keys(tx, caller, on.vacant, SetSshKeys(ssh_key_ids=[on.bob.key_id]), now=on.world.clock.now())


async def allow_own_keys(on: Scene, tx: Tx) -> None:
    caller, _ = await on.entered(tx, on.bob)
    await access.allow_own_keys(tx, caller, on.vacant, AllowOwnKeys(allowed=True), now=on.world.clock.now())


async def remove(on: Scene, tx: Tx) -> None:
    caller, _ = await on.entered(tx, on.world.ada)
    await members.remove(tx, caller, on.world.ada.project_id, on.bob.id, now=on.world.clock.now())


async def demote(on: Scene, tx: Tx) -> None:
    caller, _ = await on.entered(tx, on.world.ada)
    data, place = ChangeMember(role=Role.VIEWER), on.world.ada.project_id
    await members.change(tx, caller, place, on.bob.id, data, now=on.world.clock.now())


Act = Callable[[Scene, Tx], Awaitable[None]]
PAIRS: list[tuple[Act, Act]] = [
    *((act, remove) for act in (create, grant, hand_over, add_key, allow_own_keys)),
    (create, demote),
]
(OUTSIDER,) = (rule for rule in RULES if rule.kind == "keyset_outsider")
NAME: Any = lambda act: act.__name__  # noqa: E731 - the ids of parameters


async def commit_in_turn(on: Scene, first: Act, second: Act) -> None:
    """The second starts while the first is complete but not committed; it may wait for the first, or finish."""

    async def follow() -> None:
        async with on.world.services.api_db.write() as tx:
            await second(on, tx)

    async def is_settled() -> bool:
        return later.done() or bool(await peek.value(on.world.db, WAITS))

    async with on.world.services.api_db.write() as tx:
        await first(on, tx)
        later = asyncio.create_task(follow())
        await eventually(is_settled)
    with suppress(Problem):
        await later


@pytest.mark.parametrize("entered_first", [True, False], ids=["entered first", "lost the role first"])
@pytest.mark.parametrize(("enter", "lose"), PAIRS, ids=NAME)
async def test_whoever_loses_the_role_is_out(world: World, enter: Act, lose: Act, *, entered_first: bool) -> None:
    on = await scene(world)
    await commit_in_turn(on, *((enter, lose) if entered_first else (lose, enter)))
    assert await world.value(ADMITTED, on.bob.id) == 0
    assert await peek.rows(world.db, OUTSIDER.sql) == []


@pytest.mark.parametrize("order", [(create, remove), (remove, create)], ids=["entered first", "lost the role first"])
async def test_the_red_twin_without_the_lock_leaves_a_key_that_the_invariant_finds(
    world: World, order: tuple[Act, Act]
) -> None:
    on = await scene(world)
    await run(world.dsn, NO_LOCK)
    await commit_in_turn(on, *order)
    assert await world.value(ADMITTED, on.bob.id) == 1
    assert len(await peek.rows(world.db, OUTSIDER.sql)) == 1
