"""What people and operators do around a failover or a restore, and what must be true on the node meanwhile."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.allocations import Status
from tests.world import Person, World

GPUS = 5
REASON = {"reason": "seen on the node"}


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """With more patience than most tests need: two database servers start on a machine that has other work."""
    async with asyncio.timeout(180):
        while not await holds():
            await asyncio.sleep(0.05)


@dataclass
class Story:
    """What is true on the node, whatever the database says."""

    world: World
    engine: FakeEngine
    node_id: str
    kept: list[str] = field(default_factory=list)  # known before the writes that are lost
    lost: list[str] = field(default_factory=list)  # made by them
    released: list[str] = field(default_factory=list)  # released by them
    volumes: list[str] = field(default_factory=list)  # made by them: the first is mounted in the first of `lost`

    async def make(self) -> str:
        id = (await self.world.submit()).raise_for_status().json()["allocations"][0]["id"]
        await self.reaches(id, Status.ACTIVE)
        return str(id)

    async def reaches(self, id: str, status: Status) -> None:
        async def is_there() -> bool:
            shown = await self.get(f"/api/v1/allocations/{id}")
            return bool(shown) and shown["status"] == status

        await eventually(is_there)

    async def get(self, path: str, who: Person | None = None) -> Any:
        """None while the control plane cannot answer."""
        answer = await (who or self.world.ada).http.get(path)
        return answer.json() if answer.status_code == httpx.codes.OK else None

    async def lose_writes(self, chance: random.Random) -> None:
        """What people do between the last write that survives and the end of the primary."""
        for _ in range(chance.randint(1, 2)):
            self.lost.append(await self.make())
        self.volumes = [await self.make_volume(name) for name in ("data", "scratch")]
        await self.attach(self.lost[0], self.volumes[0])
        gone = chance.choice(self.kept)
        (await self.world.release(gone)).raise_for_status()
        await self.reaches(gone, Status.RELEASED)
        self.kept.remove(gone)
        self.released.append(gone)
        again = chance.choice(self.kept)
        (await self.world.http.post(f"/api/v1/allocations/{again}/restart", json={})).raise_for_status()

        async def is_restarted() -> bool:
            return self.engine.environments[again].boot > 1

        await eventually(is_restarted)
        await self.reaches(again, Status.ACTIVE)
        self.lost.append(await self.make())

    @property
    def project(self) -> str:
        return f"/api/v1/projects/{self.world.ada.project_id}"

    async def make_volume(self, name: str) -> str:
        body = {"name": name, "size_gib": 1, "backend": "shared" if name == "data" else "local"}
        id = (await self.world.http.post(f"{self.project}/volumes", json=body)).raise_for_status().json()["id"]

        async def is_available() -> bool:
            shown = await self.get(f"{self.project}/volumes/{id}")
            return bool(shown) and shown["status"] == "available"

        await eventually(is_available)
        self.engine.volumes.disk.files[id]["written"] = name.encode()
        return str(id)

    async def attach(self, allocation_id: str, volume_id: str) -> None:
        path = f"/api/v1/allocations/{allocation_id}/storage-attachments"
        (await self.world.http.post(path, json={"volume_id": volume_id, "mount_path": "/data"})).raise_for_status()
        await eventually(lambda: self.is_attached(allocation_id, volume_id))

    async def is_attached(self, allocation_id: str, volume_id: str) -> bool:
        """In the database and on the node."""
        page = await self.get(f"/api/v1/allocations/{allocation_id}/storage-attachments")
        mounts = self.engine.environments[allocation_id].mounts.values()
        return [(one["volume_id"], one["status"]) for one in (page or {"items": []})["items"]] == [
            (volume_id, "attached")
        ] and volume_id in [one.volume_id for one in mounts]

    async def settle_volumes(self) -> None:
        """Both are listed, none lost its data; one is adopted and one removed."""

        async def are_listed() -> bool:
            page = await self.get("/api/v1/admin/unknown-volumes", self.world.operator)
            return page is not None and {item["volume_id"] for item in page["items"]} == set(self.volumes)

        await eventually(are_listed)
        self.check_volumes(*self.volumes)
        adopted, removed = self.volumes
        path, http = f"/api/v1/admin/nodes/{self.node_id}/unknown-volumes", self.world.operator.http
        answer = await http.post(f"{path}/{adopted}/adopt", json=REASON)
        assert answer.status_code == httpx.codes.OK, f"the volume was not adopted: {answer.text}"
        (await http.post(f"{path}/{removed}/remove", json={**REASON, "confirm": removed})).raise_for_status()

        async def is_settled() -> bool:
            shown = await self.get(f"{self.project}/volumes/{adopted}")
            gone = await self.get(f"{path}/{removed}", self.world.operator)
            return bool(shown and shown["usage"] and gone and gone["removed_at"])

        await eventually(is_settled)
        self.check_volumes(adopted)
        assert removed not in self.engine.volumes.disk.files

    def check_volumes(self, *ids: str) -> None:
        files = self.engine.volumes.disk.files
        assert all(files.get(id, {}).get("written") for id in ids), "a volume lost its data"

    async def unknown(self) -> list[Any] | None:
        page = await self.get("/api/v1/admin/unknown-environments", self.world.operator)
        return None if page is None else sorted(page["items"], key=lambda item: str(item["environment_id"]))

    async def all_are_listed(self) -> bool:
        found = await self.unknown()
        return found is not None and [item["environment_id"] for item in found] == sorted(self.lost)

    def check_devices(self) -> None:
        """Read on the node: no device is used twice, and nothing that ran was destroyed."""
        used = [device for here in self.engine.environments.values() for device in here.spec.devices]
        assert len(used) == len(set(used)), "a device has two environments"
        assert {*self.kept, *self.lost} <= set(self.engine.environments), "an environment was destroyed"

    async def settle(self) -> None:
        """As the runbooks say: everything unknown is listed, is adopted or removed, and control resumes."""
        await eventually(self.all_are_listed)
        self.check_devices()
        await self.sell_the_rest()
        self.check_devices()
        await self.control(*self.kept[:2])
        await self.settle_volumes()
        attached_to = self.lost[0]
        for number, item in enumerate(await self.unknown() or []):
            await (self.adopt if number % 2 == 0 else self.remove)(item["environment_id"])
        self.check_devices()
        await eventually(lambda: self.is_attached(attached_to, self.volumes[0]))
        self.check_volumes(self.volumes[0])

    async def rush(self) -> None:
        """Impatient people ask for every slot the moment the database takes writes again, before any node reported.
        A slot whose device is in use may be sold to them now: its node refuses, and they get nothing or another."""

        async def accepted() -> bool:
            answers = await asyncio.gather(*(self.world.submit() for _ in range(GPUS)))
            sold.extend(each.json() for each in answers if each.status_code == httpx.codes.ACCEPTED)
            return bool(sold)

        sold: list[Any] = []
        await eventually(accepted)
        for each in sold:
            id = each["allocations"][0]["id"]
            if await self.end_of(id) is Status.ACTIVE:
                self.kept.append(id)
            else:
                await self.is_cleaned(id)

    async def is_cleaned(self, id: str) -> None:
        """Its claims are over, so that a slot it was sold is for sale again unless it is held."""

        async def is_proven() -> bool:
            path = f"/api/v1/admin/allocations/{id}"
            shown = await self.get(path, self.world.operator)
            return bool(shown) and "cleanup_proven" in [entry["phase"] for entry in shown["timeline"]]

        await eventually(is_proven)

    async def end_of(self, id: str) -> Status:
        ends: list[Status] = []

        async def has_ended() -> bool:
            shown = await self.get(f"/api/v1/allocations/{id}")
            ends[:] = [Status(shown["status"])] if shown else []
            return bool(ends) and ends[0] in (Status.ACTIVE, Status.FAILED)

        await eventually(has_ended)
        return ends[0]

    async def sell_the_rest(self) -> None:
        """Once the nodes have reported, a slot that is sold is free."""

        async def is_full() -> bool:
            answer = await self.world.submit()
            if answer.status_code == httpx.codes.ACCEPTED:
                id = answer.json()["allocations"][0]["id"]
                assert await self.end_of(id) is Status.ACTIVE, "a slot whose device is in use was sold"
                self.kept.append(id)
            return len(self.kept) + len(self.lost) == GPUS

        await eventually(is_full)
        await self.world.services.index.refresh()
        refused = await self.world.submit()
        assert refused.status_code == httpx.codes.CONFLICT, "a slot whose device is in use was sold"

    async def control(self, *ids: str) -> None:
        """Their tasks are taken, whatever numbers their node has seen."""
        for id in ids:
            before = self.engine.environments[id].boot
            (await self.world.http.post(f"/api/v1/allocations/{id}/restart", json={})).raise_for_status()

            async def is_booted(id: str = id, before: int = before) -> bool:
                return self.engine.environments[id].boot > before

            await eventually(is_booted)
            await self.reaches(id, Status.ACTIVE)

    async def adopt(self, id: str) -> None:
        path = f"/api/v1/admin/nodes/{self.node_id}/unknown-environments/{id}/adopt"

        async def is_adopted() -> bool:
            """Refused while an allocation that was sold too early has its cleanup."""
            return (await self.world.operator.http.post(path, json=REASON)).status_code == httpx.codes.OK

        await eventually(is_adopted)
        await self.reaches(id, Status.ACTIVE)
        self.lost.remove(id)
        self.kept.append(id)
        await self.control(id)

    async def remove(self, id: str) -> None:
        path = f"/api/v1/admin/nodes/{self.node_id}/unknown-environments/{id}/remove"
        body = {**REASON, "confirm": id}
        (await self.world.operator.http.post(path, json=body)).raise_for_status()
        self.lost.remove(id)

        async def is_gone() -> bool:
            page = await self.unknown()
            return id not in self.engine.environments and id not in [item["environment_id"] for item in page or []]

        await eventually(is_gone)
