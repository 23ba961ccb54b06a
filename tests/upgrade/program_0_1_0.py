"""Run with the code of release 0.1.0: fills an empty database, and prints what people then see of it as JSON.

`tests/upgrade/populate.py` starts it with that code first in the path; nothing here may use what is newer.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from msgspec import json

from gpuaas.core.migrate import migrate
from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import Role
from tests.storage.volumes import attached, new_volume
from tests.world import World, world_on

SETTLED = (Status.FAILED, Status.RELEASE_FAILED, Status.RELEASED, Status.ACTIVE)
OPEN = (Status.RELEASING, Status.PROVISIONING, Status.REQUESTED)  # last: the steps of others would complete them


async def fill(world: World) -> None:
    await world.furnish()
    await world.sign_up("bob")
    await world.join(world.people["bob"], world.ada, project=Role.MEMBER, tenant=None)
    for _ in range(2):
        await world.nodes.add()
    for status in SETTLED:
        await world.allocation(status, name=f"is-{status.value.replace('_', '-')}")
    id = await world.allocation(name="used")
    volume_id = await new_volume(world)
    await attached(world, id, volume_id)
    (await world.http.post(f"/api/v1/volumes/{volume_id}/snapshots", json={"name": "monday"})).raise_for_status()
    (await world.http.post(f"/api/v1/allocations/{id}/restart", json={"reason": "driver"})).raise_for_status()
    shared = {"user_id": world.people["bob"].id, "ssh_key_id": world.people["bob"].key_id}
    (await world.http.post(f"/api/v1/allocations/{id}/access-grants", json=shared)).raise_for_status()
    token = {"title": "ci", "scopes": ["read"]}
    (await world.http.post("/api/v1/auth/tokens", json=token)).raise_for_status()
    await world.nodes.settle()
    for status in OPEN:
        await world.allocation(status, name=f"is-{status.value}")


async def seen(world: World) -> dict[str, Any]:
    """Facts that an upgrade must preserve."""
    path = f"/api/v1/projects/{world.ada.project_id}"
    rows = (await world.http.get(f"{path}/allocations", params={"limit": 100})).raise_for_status().json()["items"]
    volumes = (await world.http.get(f"{path}/volumes")).raise_for_status().json()["items"]
    timelines = {
        row["id"]: [
            [entry.phase, entry.outcome, entry.note, entry.at.isoformat()] for entry in await world.timeline(row["id"])
        ]
        for row in rows
    }
    return {
        "people": {
            name: {"id": each.id, "email": each.email, "key_id": each.key_id, "project_id": each.project_id}
            for name, each in world.people.items()
        },
        "allocations": {
            row["id"]: {
                key: row[key]
                for key in (
                    "name",
                    "status",
                    "sku",
                    "gpu_count",
                    "created_at",
                    "price_per_hour",
                    "requested_by",
                    "holder",
                )
            }
            for row in rows
        },
        "timelines": timelines,
        "volumes": {row["id"]: {key: row[key] for key in ("name", "status", "size_gib")} for row in volumes},
    }


async def main(dsn: str, data: Path) -> None:
    await migrate(dsn)
    async with world_on(dsn, data) as world:
        await fill(world)
        sys.stdout.buffer.write(json.format(json.encode(await seen(world))) + b"\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
