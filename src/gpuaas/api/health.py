"""Is the process alive, and can it serve?"""

import asyncio

from litestar import Response, Router, get

from gpuaas.api.services import Services
from gpuaas.core.db import AWAY

READY_SECONDS = 2.0


@get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@get("/readyz")
async def readyz(services: Services) -> Response[dict[str, object]]:
    """It reaches its database, for requests and for work, and is taking links. A pool without a free connection in
    time is no pool to send people to."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            for db in (services.api_db, services.worker_db):
                async with db.read() as tx:
                    await tx.value("select 1")
    except AWAY:
        return Response({"status": "database unavailable"}, status_code=503)
    return Response({"status": "ok", "links": services.links.count})


ROUTER = Router("", route_handlers=[healthz, readyz], include_in_schema=False)
