"""Health endpoints: whether the process is alive, and whether it can serve requests.

They are public, so their responses contain no address, login or file name. The log does.
"""

import asyncio
import shutil

from litestar import Response, Router, get

from gpuaas.api.services import Services
from gpuaas.core.trouble import Reason, reason_of

READY_SECONDS = 2.0
MIB = 1 << 20
DETAILS = {
    Reason.UNREACHABLE: "The database is unreachable.",
    Reason.READ_ONLY: "The database accepts no changes.",
    Reason.DISK_FULL: "The disk of the database is full.",
    Reason.TOO_MANY_CONNECTIONS: "The database accepts no more connections.",
    Reason.POOL_EXHAUSTED: "All database connections of this replica are in use.",
    Reason.SLOW: "The database does not answer in time.",
    Reason.LOGIN_REFUSED: "The database refuses the login of this replica.",
    Reason.FAILING: "The database reports internal errors.",
    Reason.CLOCK_UNKNOWN: "The time of the database was not measured yet.",
}


@get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers. This does not check the database, because a restart would not help."""
    return {"status": "ok"}


@get("/readyz")
async def readyz(services: Services) -> Response[dict[str, object]]:
    """Whether this replica should receive requests: 503 with the problems while the database or disk has trouble."""
    problems = [*await of_database(services), *of_disk(services), *of_loops(services)]
    notices = [{"code": code, "detail": detail} for code, detail in services.health.notices.items()]
    told: dict[str, object] = {
        "status": "degraded" if problems else "ok",
        "links": services.links.count,
        "problems": problems,
        "notices": [*notices, *of_slow_loops(services)],
    }
    return Response(told, status_code=503 if problems else 200)


async def of_database(services: Services) -> list[dict[str, str]]:
    """Checks the pools for requests and for workers: without a free connection in time, the replica cannot serve."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            for db in (services.api_db, services.worker_db):
                if await db.is_read_only():
                    return [problem(Reason.READ_ONLY)]
    except Exception as error:  # house: broad-except because any error means that the replica is not ready
        reason = reason_of(error)
        if reason is None:
            raise
        return [problem(reason)]
    return []


def of_disk(services: Services) -> list[dict[str, str]]:
    """The disk of the data folder, to which the embedded database writes."""
    free = shutil.disk_usage(services.data).free // MIB
    if free >= services.min_free_mib:
        return []
    limit = f"below GPUAAS_MIN_FREE_MIB={services.min_free_mib}"
    return [{"code": "disk_nearly_full", "detail": f"The disk of the data folder has {free} MiB free, {limit}."}]


def of_loops(services: Services) -> list[dict[str, str]]:
    failing = services.health.failing.values()
    return [problem(each.reason, each.loop) for each in failing if each.reason and each.is_unready]


def of_slow_loops(services: Services) -> list[dict[str, str]]:
    """A slow loop, or a loop with a bug, does not make the replica unready."""
    failing = services.health.failing.values()
    return [
        {"code": "loop_failing", "detail": f"The loop {each.loop} failed {each.failures} times. The log says why."}
        for each in failing
        if not each.is_unready
    ]


def problem(reason: Reason, loop: str = "") -> dict[str, str]:
    detail = f"{loop}: {DETAILS[reason]}" if loop else DETAILS[reason]
    return {"code": f"database_{reason}", "detail": detail}


ROUTER = Router("", route_handlers=[healthz, readyz], include_in_schema=False)
