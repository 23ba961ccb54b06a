"""Requests that each take one piece of a quota, as many at once as a test wants."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gpuaas.wire.quotas import Dimension, QuotaScope
from tests.world import Person, World

AT_ONCE, SAMPLE, FIT = 64, 16, 5
Ask = Callable[[int], Awaitable[httpx.Response]]


@dataclass(frozen=True)
class Edge:
    """One way to use a dimension: how much of it each request takes, and what makes the requests."""

    name: str
    dimension: Dimension
    each: int
    make: Callable[[World], Awaitable[Ask]]

    def __str__(self) -> str:
        return self.name


def public_key() -> str:
    key = Ed25519PrivateKey.generate().public_key()
    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def launching(**fields: Any) -> Callable[[World], Awaitable[Ask]]:
    async def make(world: World) -> Ask:
        await world.nodes.add(gpus=AT_ONCE * fields.get("gpu_count", 1) * fields.get("count", 1))
        return lambda number: world.submit(key=f"k{number}", **fields)

    return make


def launching_with_a_volume(size_gib: int) -> Callable[[World], Awaitable[Ask]]:
    async def make(world: World) -> Ask:
        await world.nodes.add(gpus=AT_ONCE)

        def ask(number: int) -> Awaitable[httpx.Response]:
            new = {"mount_path": "/data", "new_volume": {"name": f"v{number}", "size_gib": size_gib}}
            return world.submit(key=f"k{number}", storage_attachments=[new])

        return ask

    return make


def posting(path: str, body: Callable[[int], dict[str, Any]]) -> Callable[[World], Awaitable[Ask]]:
    async def make(world: World) -> Ask:
        place = path.format(project=world.ada.project_id)
        return lambda number: world.http.post(f"/api/v1/{place}", json=body(number))

    return make


async def snapshots(world: World) -> Ask:
    await world.nodes.add()
    volumes = f"/api/v1/projects/{world.ada.project_id}/volumes"
    made = await world.http.post(volumes, json={"name": "data", "size_gib": 1})
    await world.nodes.settle()
    place = f"/api/v1/volumes/{made.raise_for_status().json()['id']}/snapshots"
    return lambda number: world.http.post(place, json={"name": f"s{number}"})


VOLUMES = "projects/{project}/volumes"
OF_PROJECT = [
    Edge("allocations", Dimension.ALLOCATIONS, 1, launching()),
    Edge("allocations in groups", Dimension.ALLOCATIONS, 2, launching(count=2)),
    Edge("GPUs", Dimension.GPUS, 2, launching(gpu_count=2)),
    Edge("vCPU", Dimension.VCPUS, 1, launching()),
    Edge("memory", Dimension.MEMORY_MIB, 1024, launching()),
    Edge("volumes", Dimension.VOLUMES, 1, posting(VOLUMES, lambda number: {"name": f"v{number}", "size_gib": 1})),
    Edge("volumes at launch", Dimension.VOLUMES, 1, launching_with_a_volume(1)),
    Edge("GiB", Dimension.STORAGE_GIB, 3, posting(VOLUMES, lambda number: {"name": f"v{number}", "size_gib": 3})),
    Edge("GiB at launch", Dimension.STORAGE_GIB, 3, launching_with_a_volume(3)),
    Edge("snapshots", Dimension.SNAPSHOTS, 1, snapshots),
]
OF_TENANT = [Edge("projects", Dimension.PROJECTS, 1, posting("projects", lambda number: {"slug": f"p{number}"}))]
OF_USER = [
    Edge(
        "tokens", Dimension.TOKENS, 1, posting("auth/tokens", lambda number: {"title": f"{number}", "scopes": ["read"]})
    ),
    Edge(
        "keys",
        Dimension.SSH_KEYS,
        1,
        posting("ssh-keys", lambda number: {"title": f"{number}", "public_key": public_key()}),
    ),
]


async def limit(world: World, scope: QuotaScope, id: str, **limits: int | None) -> httpx.Response:
    return await world.operator.http.put(f"/api/v1/admin/{scope}s/{id}/quotas", json={"limits": limits})


async def used(world: World, scope: QuotaScope, id: str, dimension: Dimension) -> int:
    shown = (await world.operator.http.get(f"/api/v1/admin/{scope}s/{id}/quotas")).raise_for_status().json()
    return int(next(line["used"] for line in shown["lines"] if line["dimension"] == dimension))


async def limit_to(world: World, edge: Edge, scope: QuotaScope, id: str) -> None:
    """Room for FIT requests more than there is, and not quite for one more after them."""
    most = await used(world, scope, id, edge.dimension) + FIT * edge.each + edge.each - 1
    (await limit(world, scope, id, **{edge.dimension: most})).raise_for_status()


async def all_at_once(ask: Ask, at_once: int = SAMPLE) -> Counter[str]:
    """How often each answer was given: `done`, or the code of a refusal."""
    answers = await asyncio.gather(*(ask(number) for number in range(at_once)))
    return Counter("done" if answer.is_success else str(answer.json()["code"]) for answer in answers)


def scope_id(person: Person, scope: QuotaScope) -> str:
    return {QuotaScope.TENANT: person.tenant_id, QuotaScope.PROJECT: person.project_id, QuotaScope.USER: person.id}[
        scope
    ]
