"""Requests at once at the edge of each quota: exactly as many succeed as fit. 16 in `make test`, 64 in `make soak`."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from gpuaas.core.db import DbRole, connect
from gpuaas.wire.quotas import Dimension, QuotaScope
from tests.live import eventually, serving
from tests.peek import plant, rows
from tests.quotas.edges import (
    AT_ONCE,
    FIT,
    OF_PROJECT,
    OF_TENANT,
    OF_USER,
    SAMPLE,
    Edge,
    all_at_once,
    launching,
    limit,
    limit_to,
    scope_id,
    used,
)
from tests.world import World

EDGES = [
    *[(QuotaScope.TENANT, edge) for edge in OF_PROJECT],
    *[(QuotaScope.PROJECT, edge) for edge in OF_PROJECT if edge.dimension.value == edge.name],
    *[(QuotaScope.TENANT, edge) for edge in OF_TENANT],
    *[(QuotaScope.USER, edge) for edge in OF_USER],
]
DRIFT = """
    select coalesce(u.scope_id, t.scope_id) from quota_usage u full join quota_truth t on t.scope_id = u.scope_id
    where to_jsonb(t) is distinct from to_jsonb(u)
        and (u.allocations, u.gpus, u.vcpus, u.memory_mib, u.volumes, u.storage_gib, u.snapshots, u.projects)
            is distinct from (0, 0, 0, 0, 0, 0, 0, 0)
"""
REFUSES_NOTHING = """
    create or replace function quota_refuse(kind text, id text, dimension text, most bigint, used bigint,
        requested bigint) returns void language plpgsql as 'begin end'
"""


@pytest.mark.parametrize("at_once", [SAMPLE, pytest.param(AT_ONCE, marks=pytest.mark.soak)])
@pytest.mark.parametrize(("scope", "edge"), EDGES, ids=str)
async def test_exactly_as_many_succeed_as_fit(world: World, scope: QuotaScope, edge: Edge, at_once: int) -> None:
    ask, id = await edge.make(world), scope_id(world.ada, scope)
    await limit_to(world, edge, scope, id)
    before = await used(world, scope, id, edge.dimension)
    assert await all_at_once(ask, at_once) == Counter(done=FIT, quota_exceeded=at_once - FIT)
    assert await used(world, scope, id, edge.dimension) == before + FIT * edge.each
    assert await rows(world.db, DRIFT) == []


async def test_resizes_at_the_edge(world: World) -> None:
    """Both sizes are held until a resize ends, so what it adds counts from its beginning."""
    await world.nodes.add(gpus=64)
    machines = [await world.allocation() for _ in range(3 * FIT)]
    (await limit(world, QuotaScope.TENANT, world.ada.tenant_id, gpus=4 * FIT)).raise_for_status()
    answers = await asyncio.gather(
        *(world.http.post(f"/api/v1/allocations/{id}/resize", json={"gpu_count": 2}) for id in machines)
    )
    assert Counter(answer.status_code for answer in answers) == Counter({202: FIT, 409: 2 * FIT})
    assert await used(world, QuotaScope.PROJECT, world.ada.project_id, Dimension.GPUS) == 4 * FIT
    await world.nodes.settle()
    assert await used(world, QuotaScope.PROJECT, world.ada.project_id, Dimension.GPUS) == 4 * FIT
    assert await rows(world.db, DRIFT) == []
    for id in machines:
        await world.release(id)
    await world.nodes.settle()
    assert await used(world, QuotaScope.TENANT, world.ada.tenant_id, Dimension.GPUS) == 0
    assert await rows(world.db, DRIFT) == []


async def test_a_check_before_the_transaction_alone_would_let_too_many_through(world: World) -> None:
    """The red twin: groups are also checked early and without a lock. With that alone, requests at once all pass it."""
    owner = await connect(world.dsn, DbRole.OWNER, hints=world.services.hints)
    await plant(owner, REFUSES_NOTHING)
    await owner.close()
    edge = Edge("groups", Dimension.ALLOCATIONS, 2, launching(count=2))
    ask = await edge.make(world)
    await limit_to(world, edge, QuotaScope.TENANT, world.ada.tenant_id)
    assert (await all_at_once(ask))["done"] > FIT
    assert (await world.submit(count=2)).json()["code"] == "quota_exceeded"  # one by one it would have held


async def test_streams_at_the_edge(migrated: str, tmp_path: Path) -> None:
    async with serving(migrated, tmp_path) as (world, url), AsyncExitStack() as stack:
        await world.furnish()
        ada = world.ada
        (await limit(world, QuotaScope.USER, ada.id, streams=FIT)).raise_for_status()
        limits = httpx.Limits(max_connections=None)
        http = await stack.enter_async_context(
            httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {ada.token}"}, limits=limits, timeout=30)
        )
        path = f"/api/v1/projects/{ada.project_id}/events"
        requests = [http.build_request("GET", path) for _ in range(AT_ONCE)]
        answers = await asyncio.gather(*(http.send(request, stream=True) for request in requests))
        assert Counter(answer.status_code for answer in answers) == Counter({200: FIT, 409: AT_ONCE - FIT})
        refused = next(answer for answer in answers if answer.status_code == 409)
        await refused.aread()
        assert refused.json()["code"] == "quota_exceeded"
        assert refused.json()["facts"] == {
            "scope": "user",
            "scope_id": ada.id,
            "dimension": "streams",
            "limit": FIT,
            "used": FIT,
            "requested": 1,
            "raised_by": "operator",
        }
        for answer in answers:
            await answer.aclose()

        async def all_closed() -> bool:
            return world.services.streams.count(ada.id) == 0

        await eventually(all_closed)
