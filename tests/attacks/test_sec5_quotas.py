"""SEC5: somebody who has just signed up cannot take the fleet, the storage, or endless tokens, keys and projects."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from gpuaas.main.demo import Demo
from tests.quotas.edges import public_key
from tests.world import Person, World, database, world_on

MANY = 70


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[World]:
    """As shipped: nobody has changed a quota."""
    async with database() as dsn, world_on(dsn, tmp_path) as world:
        await Demo(world.db, world.services.ids, world.services.clock.now()).ensure_catalog()
        await world.hire_operator()
        yield world


async def got(person: Person, path: str, bodies: list[dict[str, Any]]) -> int:
    """How many succeeded before the first refusal, which has to be the quota's."""
    for number, body in enumerate(bodies):
        answer = await person.http.post(f"/api/v1/{path}", json=body, headers={"X-Idempotency-Key": uuid4().hex})
        if not answer.is_success:
            assert answer.json()["code"] == "quota_exceeded", answer.text
            assert "operator" in answer.json()["detail"]
            return number
    return len(bodies)


async def test_a_fresh_account_gets_a_small_part_of_the_fleet(platform: World) -> None:
    await platform.nodes.add(gpus=64)
    eve = await platform.sign_up("eve")
    body = {"sku": "sim-h200-slice", "ssh_key_ids": [eve.key_id], "project_id": eve.project_id}
    assert await got(eve, "allocations", [body] * MANY) == 8
    assert await got(eve, "allocations", [{**body, "gpu_count": 8}]) == 0
    more = [{"slug": f"more-{number}"} for number in range(MANY)]
    assert await got(eve, "projects", more) < 8  # and another project is no way around the tenant's quota
    other = (await eve.http.get("/api/v1/projects")).json()["items"][0]["id"]
    assert await got(eve, "allocations", [{**body, "project_id": other}]) == 0


async def test_a_fresh_account_gets_no_huge_volume(platform: World) -> None:
    eve = await platform.sign_up("eve")
    volumes = f"projects/{eve.project_id}/volumes"
    assert await got(eve, volumes, [{"name": "huge", "size_gib": 15_000}]) == 0
    assert await got(eve, volumes, [{"name": f"v{number}", "size_gib": 1} for number in range(MANY)]) == 16
    beyond = await eve.http.post(f"/api/v1/{volumes}", json={"name": "beyond", "size_gib": (1 << 14) + 1})
    assert (beyond.status_code, beyond.json()["code"]) == (422, "validation_error")


async def test_snapshots_are_no_way_around_the_storage_quota(platform: World) -> None:
    await platform.nodes.add(gpus=1)
    eve = await platform.sign_up("eve")
    made = await eve.http.post(f"/api/v1/projects/{eve.project_id}/volumes", json={"name": "half", "size_gib": 500})
    await platform.nodes.settle()
    snapshots = f"volumes/{made.raise_for_status().json()['id']}/snapshots"
    assert await got(eve, snapshots, [{"name": "first"}]) == 1
    await platform.nodes.settle()
    assert await got(eve, snapshots, [{"name": "second"}]) == 0  # 500 + 500 of 1,024 are used


async def test_a_fresh_account_gets_no_endless_tokens_and_keys(platform: World) -> None:
    eve = await platform.sign_up("eve")
    tokens = [{"title": f"{number}", "scopes": ["read"]} for number in range(MANY)]
    assert await got(eve, "auth/tokens", tokens) == 32
    keys = [{"title": f"{number}", "public_key": public_key()} for number in range(MANY)]
    assert await got(eve, "ssh-keys", keys) == 31  # and the one that they signed up with
