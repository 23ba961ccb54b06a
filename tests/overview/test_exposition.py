"""What Prometheus and operators read: true counts, nobody's names, and nothing for strangers."""

import re
from dataclasses import replace

import httpx
from hypothesis import given
from hypothesis import strategies as st

from gpuaas.api.traffic import BUCKETS, Traffic
from gpuaas.api.unit import UnitMiddleware
from gpuaas.wire.allocations import Status
from tests.world import World

LINE = re.compile(r'^[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [0-9.e+-]+$')


def local(world: World, token: str = "", **headers: str) -> httpx.AsyncClient:
    """From the machine itself, by way of nothing."""
    services = replace(world.services, metrics_token=token)
    world._routes.state.services = services
    transport = httpx.ASGITransport(UnitMiddleware(world._routes, services), client=("127.0.0.1", 1234))  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)


def values(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.match(line) for line in lines), [line for line in lines if not LINE.match(line)]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


async def test_the_machine_itself_reads_true_counts(world: World) -> None:
    await world.allocation()
    await world.allocation(Status.REQUESTED)
    await world.http.get("/api/v1/allocations/nothing")
    found = values((await local(world).get("/metrics")).raise_for_status().text)
    assert found['gpuaas_allocations{status="active"}'] == 1
    assert found['gpuaas_allocations{status="requested"}'] == 1
    assert found['gpuaas_slots{state="claimed"}'] == 2
    assert found['gpuaas_slots{state="free"}'] == 6
    assert found['gpuaas_requests_total{method="GET",route="get_allocation",status="404"}'] == 1
    assert found['gpuaas_requests_total{method="POST",route="create_allocation",status="202"}'] == 2
    assert found['gpuaas_request_seconds_count{route="create_allocation"}'] == 2
    assert found["gpuaas_database_up"] == 1
    assert found['gpuaas_database_connections{role="worker",state="in_use"}'] >= 0


async def test_strangers_and_those_behind_a_proxy_are_refused(world: World) -> None:
    assert (await world.stranger.get("/metrics")).status_code == 403
    assert (await world.http.get("/metrics")).status_code == 403  # a person's own token opens nothing here
    proxied = await local(world, **{"X-Forwarded-For": "203.0.113.9"}).get("/metrics")
    assert (proxied.status_code, proxied.json()["code"]) == (403, "insufficient_permissions")


async def test_with_a_token_only_the_token_counts(world: World) -> None:
    assert (await local(world, "wanted").get("/metrics")).status_code == 401
    assert (await local(world, "wanted", Authorization="Bearer other").get("/metrics")).status_code == 401
    assert (await local(world, "wanted", Authorization="Bearer wanted").get("/metrics")).status_code == 200


async def test_nobodys_name_is_in_it(world: World) -> None:
    a = await world.allocation(name="secret-project-name")
    await world.http.get("/api/v1/somewhere/secret-path")
    text = (await local(world).get("/metrics")).text
    for mark in (a, "secret", world.ada.email, world.ada.tenant_id, world.ada.project_id, world.ada.token):
        assert mark not in text


async def test_operators_see_the_platform_at_a_glance_and_others_do_not(world: World) -> None:
    await world.allocation()
    await world.allocation(Status.PROVISIONING)
    shown = (await world.operator.http.get("/api/v1/admin/overview")).raise_for_status().json()
    assert shown["allocations"] == {"active": 1, "provisioning": 1}
    assert shown["capacity"] == {"approved": 8, "claimed": 2, "free": 6, "blocked": 0}
    queues = {queue["name"]: queue for queue in shown["queues"]}
    assert queues["node_tasks"]["waiting"] == 1
    assert queues["node_tasks"]["oldest_seconds"] is not None
    assert shown["operations"]["running"] == 1
    assert {worker["worker"] for worker in shown["workers"]} >= {"allocations", "metrics", "janitor"}
    assert shown["requests"]["total"] > 0
    assert shown["nodes"] == {"active": 1, "offline": 0, "contested": 0, "missing_requirements": 0}
    assert (await world.http.get("/api/v1/admin/overview")).status_code == 403


async def test_a_process_that_cannot_get_a_connection_says_it_is_not_ready(world: World) -> None:
    assert (await world.stranger.get("/readyz")).status_code == 200
    held = [await world.services.api_db.pool.take() for _ in range(world.services.api_db.pool.size)]
    try:
        assert (await world.stranger.get("/readyz")).status_code == 503
        assert (await world.stranger.get("/healthz")).status_code == 200
    finally:
        for connection in held:
            world.services.api_db.pool.give(connection)
    assert world.services.api_db.pool.in_use == 0


@given(st.lists(st.floats(0, 9), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_never_below_the_true_one_and_at_most_a_bucket_above(seconds: list[float], share: float) -> None:
    traffic = Traffic()
    for each in seconds:
        traffic.saw("GET", "a", 200, each)
    true = sorted(seconds)[max(0, -(-int(share * 1000) * len(seconds) // 1000) - 1)]
    told = traffic.quantile(share)
    assert told is not None
    assert told in BUCKETS
    assert told >= true
    lower = [bound for bound in BUCKETS if bound < told]
    assert not lower or true > lower[-1]


def test_a_stream_is_counted_and_no_latency() -> None:
    traffic = Traffic()
    traffic.saw("GET", "events", 200, None)
    assert (traffic.count(), traffic.quantile(0.5), traffic.latencies) == (1, None, {})
