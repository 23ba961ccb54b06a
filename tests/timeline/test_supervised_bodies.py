"""Recordings and exports end with the right to read them, also while they are sent."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from litestar.response import Stream
from litestar.testing import RequestFactory

from gpuaas.api.audit import export_audit, export_tenant_audit
from gpuaas.core.errors import InsufficientPermissions, Problem
from gpuaas.wire.identity import Role
from tests.world import Person, World


def ask(who: Person) -> Any:
    return RequestFactory().get("/", headers={"Authorization": f"Bearer {who.token}"})


def body_of(answer: Stream) -> AsyncIterator[bytes]:
    return cast("AsyncIterator[bytes]", answer.iterator)


async def test_an_export_of_a_tenant_ends_with_the_role_of_its_reader(world: World) -> None:
    owner = await world.sign_up("owner")
    await world.join(owner, world.ada, project=Role.MEMBER, tenant=Role.OWNER)
    answer = await export_tenant_audit.fn(world.ada.tenant_id, ask(owner), world.services)
    assert world.services.streams.count(owner.id) == 1
    async with world.db.write() as tx:
        await tx.run("delete from tenant_members where user_id = $1 and tenant_id = $2", owner.id, world.ada.tenant_id)
    with pytest.raises(Problem):
        await anext(body_of(answer))
    assert world.services.streams.count(owner.id) == 0


async def test_an_export_of_everything_ends_with_the_role_of_the_operator(world: World) -> None:
    answer = await export_audit.fn(ask(world.operator), world.services)
    body = body_of(answer)
    assert b"public_key" in await anext(body)
    async with world.db.write() as tx:
        await tx.run("update users set platform_role = null where id = $1", world.operator.id)
    with pytest.raises(InsufficientPermissions):
        await anext(body)
    assert world.services.streams.count(world.operator.id) == 0
