"""Bundles in a world's catalog, and what its people do with them."""

from pathlib import Path
from typing import Any

import httpx
from msgspec import to_builtins
from msgspec.structs import replace

from gpuaas.wire.runtimes import PublishRuntimeBundle, RuntimeFamily
from tests.runtimes.wheels import publication
from tests.world import Person, World

BUNDLES = "/api/v1/admin/runtime-bundles"


async def publish(world: World, data: PublishRuntimeBundle) -> str:
    answer = await world.operator.http.post(BUNDLES, json=to_builtins(data))
    return str(answer.raise_for_status().json()["id"])


async def shelve(world: World, folder: Path, *versions: str, check: list[str] | None = None) -> list[str]:
    """`python-data` in these versions, oldest first."""
    return [await publish(world, publication(folder, version, check=check)) for version in versions]


def for_cuda(folder: Path, version: str = "1.0", **needs: Any) -> PublishRuntimeBundle:
    return replace(publication(folder, version, slug="cuda-data"), runtime_family=RuntimeFamily.CUDA, **needs)


async def ask(world: World, id: str, person: Person | None = None, **body: Any) -> httpx.Response:
    return await (person or world.ada).http.post(f"/api/v1/allocations/{id}/runtime-bundles", json=body)


async def clear(world: World, id: str) -> httpx.Response:
    return await world.http.delete(f"/api/v1/allocations/{id}/runtime-bundles")


async def runtime(world: World, id: str) -> dict[str, Any]:
    answer = await world.http.get(f"/api/v1/allocations/{id}/runtime-bundles")
    shown: dict[str, Any] = answer.raise_for_status().json()
    return shown


async def applied(world: World, id: str, **body: Any) -> dict[str, Any]:
    """Asked for, done by the nodes, and read again."""
    (await ask(world, id, **body)).raise_for_status()
    await world.nodes.settle()
    return await runtime(world, id)
