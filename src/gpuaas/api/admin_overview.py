"""Operators: an overview of the platform."""

from litestar import Router, get
from msgspec.structs import asdict

from gpuaas.api.deps import Context
from gpuaas.api.problems import problems
from gpuaas.api.traffic import REFUSAL, SERVER_ERROR, Traffic
from gpuaas.core.errors import InsufficientPermissions
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.invariants import store as invariants
from gpuaas.domain.overview.store import counts
from gpuaas.domain.workers import store as workers
from gpuaas.wire.overview import Overview, Requests


@get("/admin/overview", responses=problems(InsufficientPermissions))
async def overview(context: Context) -> Overview:
    """Queues, failures, latencies and the capacity of the fleet."""
    context.caller.require_platform(Permission.FLEET_READ)
    found = await counts(context.tx)
    violations = await invariants.counts(context.tx)
    return Overview(
        at=context.now,
        requests=requests(context.services.traffic),
        workers=await workers.statuses(context.tx, context.services.workers),
        invariant_violations={kind: count for kind, count in violations.items() if count},
        **asdict(found),
    )


def requests(traffic: Traffic) -> Requests:
    return Requests(
        replica_started_at=traffic.started_at,
        total=traffic.count(),
        server_errors=traffic.count(SERVER_ERROR),
        refused=traffic.count(REFUSAL, SERVER_ERROR),
        raced=sum(traffic.raced.values()),
        p50_seconds=traffic.quantile(0.5),
        p95_seconds=traffic.quantile(0.95),
        p99_seconds=traffic.quantile(0.99),
    )


ROUTER = Router("", tags=["platform"], route_handlers=[overview])
