"""`/metrics` for Prometheus: this replica's requests, links and pools, and the platform's queues and counts.

It contains no names, addresses or secrets, but it is not public. With GPUAAS_METRICS_TOKEN it accepts only that
token; without one it answers only requests from this computer that did not pass a proxy.
"""

import hmac
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from itertools import accumulate

from litestar import Response, Router, get
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from gpuaas.api.deps import AnyRequest
from gpuaas.api.problems import reply_to
from gpuaas.api.services import Services
from gpuaas.api.traffic import BUCKETS
from gpuaas.core.clock import DatabaseClock
from gpuaas.core.db import AWAY, RERUN
from gpuaas.core.errors import InsufficientPermissions, TokenInvalid
from gpuaas.core.health import Health
from gpuaas.core.trouble import Reason
from gpuaas.core.watch import Watch
from gpuaas.domain.invariants import store as invariants
from gpuaas.domain.overview.store import Counts, counts
from gpuaas.domain.task_keys.store import nodes_behind

FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")


def check(request: AnyRequest, token: str) -> None:
    if token:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise TokenInvalid("Send the token of GPUAAS_METRICS_TOKEN as `Authorization: Bearer …`.")
    elif not is_local(request):
        raise InsufficientPermissions(
            "Metrics can only be read on this computer. Set GPUAAS_METRICS_TOKEN to read them from others."
        )


def is_local(request: AnyRequest) -> bool:
    """From a loopback address and not through a proxy, whose address could also be a loopback address."""
    client = request.scope.get("client")
    try:
        is_near = client is not None and ip_address(client[0]).is_loopback
    except ValueError:
        return False
    return is_near and not any(map(request.headers.get, FORWARDED))


@get("/metrics", include_in_schema=False)
async def prometheus(request: AnyRequest, services: Services) -> Response[bytes]:
    """The metrics for Prometheus; `gpuaas_database_up` is 0 if only this replica's own counts are available."""
    try:
        check(request, services.metrics_token)
    except (TokenInvalid, InsufficientPermissions) as refusal:
        return reply_to(refusal).response()  # a process of workers has no unit of work
    found: Counts | None
    violations: dict[str, int]
    behind: int | None
    try:
        async with services.worker_db.read("metrics") as tx:
            found, violations = await counts(tx), await invariants.counts(tx)
            behind = await nodes_behind(tx)
    except (*AWAY, *RERUN):
        found, violations, behind = None, {}, None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        Told([*of_replica(services), *of_platform(found), *of_invariants(violations), *of_task_keys(behind)])
    )
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def of_task_keys(behind: int | None) -> Iterator[Metric]:
    if behind is not None:
        yield GaugeMetricFamily("gpuaas_nodes_behind_task_key", "Nodes without the current task key.", behind)


class Told(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


def of_replica(services: Services) -> Iterator[Metric]:
    traffic, links = services.traffic, services.links
    requests = CounterMetricFamily("gpuaas_requests", "Requests answered.", labels=["method", "route", "status"])
    for (method, route, status), number in traffic.requests.items():
        requests.add_metric([method, route, str(status)], number)
    yield requests
    seconds = HistogramMetricFamily("gpuaas_request_seconds", "Time to the whole answer.", labels=["route"])
    for route, histogram in traffic.latencies.items():
        bounds = [*map(str, BUCKETS), "+Inf"]
        seconds.add_metric([route], list(zip(bounds, accumulate(histogram.buckets), strict=True)), histogram.total)
    yield seconds
    raced = CounterMetricFamily(
        "gpuaas_requests_raced", "Attempts that lost a race and ran again, such as placement.", labels=["route"]
    )
    for route, number in traffic.raced.items():
        raced.add_metric([route], number)
    yield raced
    yield GaugeMetricFamily("gpuaas_links", "Node links open on this replica.", links.count)
    yield CounterMetricFamily("gpuaas_beats", "Beats received from agents by this replica.", links.beats)
    yield CounterMetricFamily("gpuaas_samples_dropped", "Samples dropped by a full buffer.", links.samples_dropped)
    yield GaugeMetricFamily(
        "gpuaas_logins_dropped", "SSH logins dropped by agents because their buffer was full.", links.logins_dropped
    )
    pool = GaugeMetricFamily("gpuaas_database_connections", "Connections by pool.", labels=["role", "state"])
    for role, db in (("api", services.api_db), ("operator", services.operator_db), ("worker", services.worker_db)):
        pool.add_metric([role, "in_use"], db.pool.in_use)
        pool.add_metric([role, "most"], db.pool.size)
        pool.add_metric([role, "waiting"], db.pool.waiting)
    yield pool
    yield from of_health(services.health)
    yield from of_watch(services.watch)


def of_health(health: Health) -> Iterator[Metric]:
    errors = CounterMetricFamily("gpuaas_database_errors", "Database errors by reason.", labels=["reason"])
    for reason in Reason:
        errors.add_metric([reason], health.errors[reason])
    yield errors
    steps = CounterMetricFamily("gpuaas_loop_failures", "Failed steps of background loops.", labels=["loop", "reason"])
    for (loop, why), number in health.failed_steps.items():
        steps.add_metric([loop, why], number)
    yield steps
    yield GaugeMetricFamily("gpuaas_loops_failing", "Background loops whose last step failed.", len(health.failing))


def of_watch(watch: Watch) -> Iterator[Metric]:
    yield CounterMetricFamily(
        "gpuaas_database_history_changes", "Failovers and restores that this replica detected.", watch.changes
    )
    clock = watch.clock
    if isinstance(clock, DatabaseClock) and clock.skew is not None and clock.uncertainty is not None:
        yield GaugeMetricFamily("gpuaas_clock_skew_seconds", "System clock ahead of the database's.", clock.skew)
        yield GaugeMetricFamily("gpuaas_clock_uncertainty_seconds", "Uncertainty of that skew.", clock.uncertainty)


def of_platform(found: Counts | None) -> Iterator[Metric]:
    yield GaugeMetricFamily("gpuaas_database_up", "Whether the database answered this scrape.", int(found is not None))
    if found is None:
        return
    waiting = GaugeMetricFamily("gpuaas_queue_waiting", "Waiting rows.", labels=["queue"])
    oldest = GaugeMetricFamily("gpuaas_queue_oldest_seconds", "Age of the oldest waiting row.", labels=["queue"])
    for queue in found.queues:
        waiting.add_metric([queue.name], queue.waiting)
        oldest.add_metric([queue.name], max(0.0, queue.oldest_seconds or 0.0))
    yield from (waiting, oldest)
    yield labelled("gpuaas_allocations", "Allocations; if ended, of the last day.", "status", found.allocations)
    yield labelled("gpuaas_nodes", "Nodes by intent, and offline nodes.", "state", found.nodes)
    capacity = found.capacity
    slots = {"claimed": capacity.claimed, "free": capacity.free, "blocked": capacity.blocked}
    yield labelled("gpuaas_slots", "Approved slots.", "state", slots)
    unknown = found.unknown_environments
    yield labelled("gpuaas_unknown_environments", "Unknown environments.", "node", unknown)
    volumes = found.unknown_volumes
    yield labelled("gpuaas_unknown_volumes", "Unknown volumes.", "place", volumes)
    yield GaugeMetricFamily("gpuaas_links_all", "Node links open on all replicas.", found.links)
    yield GaugeMetricFamily("gpuaas_replicas", "Live replicas.", found.replicas)
    yield GaugeMetricFamily("gpuaas_operations_running", "Running operations.", found.operations.running)
    yield GaugeMetricFamily("gpuaas_operations_failed_hour", "Failed in an hour.", found.operations.failed_last_hour)


def of_invariants(violations: dict[str, int]) -> Iterator[Metric]:
    if violations:
        yield labelled("gpuaas_invariant_violations", "Violations seen twice in a row.", "kind", violations)


def labelled(name: str, help: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


ROUTER = Router("", route_handlers=[prometheus])
