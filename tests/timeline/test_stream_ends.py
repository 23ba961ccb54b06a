"""An open event stream ends when its reader loses the right to read, without waiting for the next keepalive."""

import asyncio
from contextlib import aclosing

import pytest

from gpuaas.api.stream import Resumed, entry_follower
from gpuaas.domain.timeline.store import START
from gpuaas.wire.identity import Role
from tests.patience import PATIENCE_SECONDS
from tests.world import Person, World


async def lose(world: World, bob: Person, token_id: str, how: str) -> None:
    member = f"/api/v1/projects/{world.ada.project_id}/members/{bob.id}"
    subjects = {"user": bob.id, "project": world.ada.project_id, "tenant": world.ada.tenant_id}
    match how:
        case "removed":
            answer = await world.http.delete(member)
        case "left":
            answer = await bob.http.delete(member)
        case "token revoked":
            answer = await bob.http.delete(f"/api/v1/auth/tokens/{token_id}")
        case _:
            kind = how.partition(" ")[0]
            path = f"/api/v1/admin/{kind}s/{subjects[kind]}/suspend"
            answer = await world.operator.http.post(path, json={"reason": "abuse"})
    answer.raise_for_status()


@pytest.mark.parametrize(
    "how", ["removed", "left", "token revoked", "user suspended", "project suspended", "tenant suspended"]
)
async def test_a_stream_ends_with_the_right_to_read_it(world: World, how: str) -> None:
    bob = await world.sign_up("bob")
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    made = await bob.http.post("/api/v1/auth/tokens", json={"title": "ci", "scopes": ["read"]})
    token = made.raise_for_status().json()
    follower = entry_follower(world.services, token["token"], world.ada.project_id, None, Resumed(START))
    follower.keepalive_seconds = 10 * PATIENCE_SECONDS  # it looks again only when a hint wakes it
    is_looking = asyncio.Event()

    async def read() -> list[str]:
        async with aclosing(follower.events()) as events:
            said = [await anext(events)]
            is_looking.set()
            return said + [line async for line in events]

    reading = asyncio.create_task(read())
    await is_looking.wait()
    await lose(world, bob, token["details"]["id"], how)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await reading)[-1] == "event: end\ndata: {}\n\n"
