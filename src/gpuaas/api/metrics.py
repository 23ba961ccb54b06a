"""Metrics and health of an allocation, as observed, with source and age."""

from typing import Annotated

from litestar import Router, get
from litestar.params import QueryParameter

from gpuaas.api.deps import Context
from gpuaas.api.problems import problems
from gpuaas.core.errors import NotFound, ValidationError
from gpuaas.domain.allocations import commands
from gpuaas.domain.allocations.health import health, reasons
from gpuaas.domain.metrics import store
from gpuaas.domain.metrics.series import metrics, window
from gpuaas.wire.metrics import AllocationHealth, Metrics

Range = Annotated[
    str, QueryParameter(name="range", max_length=6, required=False, description="how far back: 15m, 6h, 1d")
]
Step = Annotated[
    str | None, QueryParameter(name="step", max_length=6, required=False, description="between points: 10s, 5m")
]


@get("/allocations/{id:str}/metrics", responses=problems(NotFound, ValidationError))
async def allocation_metrics(id: str, context: Context, range: Range = "1h", step: Step = None) -> Metrics:
    """Metrics of the allocation, each series with its source and age, or the reason why it is unavailable. The
    resolution is ten seconds for the last hour, and a minute for the last day.
    """
    await commands.get(context.tx, context.caller, id)
    wanted = window(range, step, context.now)
    newest = await store.newest(context.tx, id)
    history = store.ring if wanted.is_fine else store.minutes
    rows = await history(context.tx, id, wanted.since) if newest else []
    return metrics(id, newest, rows, wanted)


@get("/allocations/{id:str}/health", responses=problems(NotFound))
async def allocation_health(id: str, context: Context) -> AllocationHealth:
    """The health of the allocation with reasons, times and next steps."""
    row = await commands.get(context.tx, context.caller, id)
    newest = await store.newest(context.tx, id)
    return AllocationHealth(
        allocation_id=id,
        health=health(row),
        reasons=reasons(row),
        sampled_at=newest.at if newest else None,
        age_seconds=newest.age_seconds if newest else None,
    )


ROUTER = Router("", tags=["metrics"], route_handlers=[allocation_metrics, allocation_health])
