"""What goes wrong with a volume on a real machine: told clearly, nothing lost, and a way out each time."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpuaas.main.agent import oci
from gpuaas.wire.environments import Environment, EnvironmentState
from tests.engines.benches import Key, place
from tests.engines.openssh import OpenSsh
from tests.live import agent, eventually, serving
from tests.world import World, database

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="volumes are attached live only where the agent is root")
PORTS = range(28_700, 28_720)
HOLD = "cd /data && exec 3< precious && echo held && exec sleep 1000"


@dataclass(frozen=True)
class Machine:
    world: World
    id: str
    ssh: OpenSsh

    async def ask(self, volume_id: str, path: str = "/data", mode: str = "read_write") -> Any:
        wanted = {"volume_id": volume_id, "mount_path": path, "access_mode": mode}
        return await self.world.http.post(f"/api/v1/allocations/{self.id}/storage-attachments", json=wanted)

    async def attach(self, volume_id: str, path: str = "/data", mode: str = "read_write") -> str:
        id = str((await self.ask(volume_id, path, mode)).raise_for_status().json()["id"])
        await self.until(id, "attached")
        return id

    async def detach(self, id: str, *, force: bool = False) -> None:
        answer = await self.world.http.delete(f"{self.place(id)}?force={str(force).lower()}")
        answer.raise_for_status()

    def place(self, id: str) -> str:
        return f"/api/v1/allocations/{self.id}/storage-attachments/{id}"

    async def until(self, id: str, status: str) -> str:
        """Why it is so."""
        seen: dict[str, Any] = {}

        async def is_so() -> bool:
            seen.update((await self.world.http.get(self.place(id))).raise_for_status().json())
            return bool(seen["status"] == status)

        await eventually(is_so)
        return str(seen["status_reason"])


@asynccontextmanager
async def machines(folder: Path, count: int) -> AsyncIterator[list[Machine]]:
    async with database() as dsn, serving(dsn, folder) as (world, url):
        await world.furnish()
        with place(0) as node:
            engine = oci(node / "node-a", gpus=count, ports=PORTS, shared_storage=node / "shared")
            async with agent(world, url, node / "node-a", engine):
                made = [await machine(world, folder, f"m{number}") for number in range(count)]
                try:
                    yield made
                finally:
                    for each in made:
                        await world.release(each.id)
                    await eventually(lambda: are_gone(world, made))


async def machine(world: World, folder: Path, name: str) -> Machine:
    key = Key()
    line = f"{key.authorized.type} {key.authorized.blob}"
    added = (await world.http.post("/api/v1/ssh-keys", json={"title": name, "public_key": line})).raise_for_status()
    submitted = (await world.submit(name=name, ssh_key_ids=[added.json()["id"]])).raise_for_status()
    id = submitted.json()["allocations"][0]["id"]

    async def is_up() -> bool:
        return bool((await world.seen(id))["status"] == "active")

    await eventually(is_up)
    door, home = (await world.seen(id))["connection"], folder / name
    home.mkdir()
    where = Environment(
        allocation_id=id,
        state=EnvironmentState.RUNNING,
        boot=1,
        port=door["port"],
        host_key=door["host_key"],
    )
    return Machine(world, id, OpenSsh(home, where, key, door["username"]))


async def are_gone(world: World, made: list[Machine]) -> bool:
    return all([(await world.get(each.id)).released_at is not None for each in made])


async def volume(world: World) -> str:
    """Of one GiB, held to it."""
    asked = {"name": "small", "size_gib": 1, "backend": "local"}
    made = await world.http.post(f"/api/v1/projects/{world.ada.project_id}/volumes", json=asked)
    return str(made.raise_for_status().json()["id"])


async def test_whatever_goes_wrong_with_a_volume_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    async with machines(tmp_path, 2) as (first, second):
        volume_id = await volume(first.world)
        await a_wrong_path_is_refused(first, volume_id)
        attachment_id = await first.attach(volume_id)
        await first.ssh.says("echo precious > /data/precious")
        await a_second_writer_is_refused(second, volume_id)
        await a_full_volume_says_so(first)
        await a_volume_in_use_stays(first, attachment_id)
        await first.attach(volume_id, "/mnt/again")
        assert await first.ssh.says("cat /mnt/again/precious") == "precious"


async def a_wrong_path_is_refused(machine: Machine, volume_id: str) -> None:
    """By the API where its words tell, by the node where only the machine knows; elsewhere it can be attached."""
    refused = await machine.ask(volume_id, "/etc")
    assert (refused.status_code, refused.json()["code"]) == (422, "mount_path_refused")
    assert "Use a path such as /data" in refused.json()["detail"]
    home = await machine.ssh.says("ln -s /etc ~/trap; echo ~")
    trapped = (await machine.ask(volume_id, f"{home}/trap")).raise_for_status().json()["id"]
    assert "link" in await machine.until(trapped, "failed")
    assert await machine.ssh.says("test -e /etc/passwd && hostname")


async def a_second_writer_is_refused(other: Machine, volume_id: str) -> None:
    """A reader is not."""
    refused = await other.ask(volume_id)
    assert (refused.status_code, refused.json()["code"]) == (409, "volume_in_use")
    assert "read_only" in refused.json()["detail"]
    reading = await other.attach(volume_id, mode="read_only")
    assert await other.ssh.says("cat /data/precious; touch /data/x 2>/dev/null || echo no") == "precious\nno"
    await other.detach(reading)
    await other.until(reading, "detached")


async def a_full_volume_says_so(machine: Machine) -> None:
    """What is on it stays, and there is room again when something is deleted."""
    full = await machine.ssh.run("fallocate -l 800M /data/most; dd if=/dev/zero of=/data/big bs=1M; sync")
    assert "No space left on device" in full.err
    after = "cat /data/precious; rm /data/big /data/most; echo more > /data/more && cat /data/more"
    assert await machine.ssh.says(after) == "precious\nmore"


async def a_volume_in_use_stays(machine: Machine, attachment_id: str) -> None:
    """Until what uses it has ended, or is ended by force."""
    holder = await machine.ssh.spawn("ssh", *machine.ssh.options(), machine.ssh.target, HOLD)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    await machine.detach(attachment_id)
    assert "sleep" in await machine.until(attachment_id, "detach_failed")
    assert holder.returncode is None
    assert await machine.ssh.says("cat /data/precious") == "precious"
    await machine.detach(attachment_id, force=True)
    await machine.until(attachment_id, "detached")
    await holder.communicate()
    assert holder.returncode != 0
