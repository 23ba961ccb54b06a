"""The whole way, nothing faked: API, worker, link, agent, environment, and a real OpenSSH client that is cut off."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuaas.main.agent import oci
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.identity import Role
from tests.engines.benches import Key, place
from tests.engines.openssh import OpenSsh
from tests.live import agent, eventually, serving
from tests.patience import PATIENCE_SECONDS
from tests.world import Person, World, database

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the oci engine")
PORTS = range(28_500, 28_540)


@dataclass(frozen=True)
class Scene:
    world: World
    id: str
    ada: OpenSsh
    bob: Person
    bobs: OpenSsh

    async def installed(self) -> None:
        """Until the machine was seen to admit exactly what is wanted."""

        async def is_so() -> bool:
            shown = await self.world.http.get(f"/api/v1/allocations/{self.id}/ssh-keys")
            return bool(shown.json()["installed"])

        await eventually(is_so)


def line(key: Key) -> str:
    return f"{key.authorized.type} {key.authorized.blob}"


@asynccontextmanager
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        with place(0) as folder:
            async with agent(world, url, folder / "node-a", oci(folder / "node-a", gpus=2, ports=PORTS)):
                yield await furnished_scene(world, tmp_path)


async def furnished_scene(world: World, folder: Path) -> Scene:
    mine, theirs = Key(), Key()
    bob = await world.sign_up("bob", key=line(theirs))
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    added = await world.http.post("/api/v1/ssh-keys", json={"title": "real", "public_key": line(mine)})
    id = (await world.submit(ssh_key_ids=[added.json()["id"]])).json()["allocations"][0]["id"]

    async def is_up() -> bool:
        return bool((await world.seen(id))["status"] == "active")

    await eventually(is_up)
    connection = (await world.seen(id))["connection"]
    where = Environment(
        allocation_id=id,
        state=EnvironmentState.RUNNING,
        boot=1,
        port=connection["port"],
        host_key=connection["host_key"],
    )
    for name in ("ada", "bob"):
        (folder / name).mkdir()
    return Scene(
        world, id, OpenSsh(folder / "ada", where, mine, "gpu"), bob, OpenSsh(folder / "bob", where, theirs, "gpu")
    )


async def test_a_grant_lets_in_and_its_revoke_cuts_the_session_and_says_why(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        assert await on.ada.says("whoami") == "gpu"
        assert (await on.bobs.run("true")).code == 255
        place = f"/api/v1/allocations/{on.id}/access-grants"
        grant = await on.world.http.post(place, json={"user_id": on.bob.id, "ssh_key_id": on.bob.key_id})
        await on.installed()
        assert await on.bobs.says("whoami") == "gpu"
        session = await on.bobs.spawn("ssh", "-tt", *on.bobs.options(), on.bobs.target, "echo in; exec sleep 1000")
        assert session.stdout is not None
        await session.stdout.readline()

        async def is_listed() -> bool:
            seen = (await on.world.http.get(f"/api/v1/allocations/{on.id}/sessions")).json()
            return [(one["email"], one["kind"]) for one in seen["items"]] == [(on.bob.email, "ssh")]

        await eventually(is_listed)
        revoked = await on.world.http.delete(f"{place}/{grant.json()['id']}")
        assert revoked.json()["status"] == "revoked"
        async with asyncio.timeout(PATIENCE_SECONDS):
            said, _ = await session.communicate()
        assert session.returncode == 255
        assert b"this key is no longer accepted" in said
        assert (await on.bobs.run("true")).code == 255
        assert await on.ada.says("whoami") == "gpu"


async def test_a_session_is_ended_by_name_and_its_person_may_come_back(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        session = await on.ada.spawn("ssh", "-tt", *on.ada.options(), on.ada.target, "echo in; exec sleep 1000")
        assert session.stdout is not None
        await session.stdout.readline()
        place = f"/api/v1/allocations/{on.id}/sessions"
        listed: list[dict[str, str]] = []

        async def is_listed() -> bool:
            listed[:] = (await on.world.http.get(place)).json()["items"]
            return len(listed) == 1

        await eventually(is_listed)
        ended = await on.world.http.delete(f"{place}/{listed[0]['id']}", params={"reason": "coffee"})
        assert ended.status_code == 202
        async with asyncio.timeout(PATIENCE_SECONDS):
            said, _ = await session.communicate()
        assert b"coffee" in said

        async def is_over() -> bool:
            operation = (await on.world.http.get(f"/api/v1/operations/{ended.json()['operation_id']}")).json()
            return bool(operation["status"] == "succeeded") and (await on.world.http.get(place)).json()["items"] == []

        await eventually(is_over)
        (told,) = [entry for entry in await on.world.timeline(on.id) if entry.phase == "session_end_asked"]
        assert told.note.endswith(": coffee")
        assert await on.ada.says("whoami") == "gpu"
