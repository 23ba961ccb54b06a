"""Is the process alive, and can it serve?"""

from litestar import Response, Router, get

from gpuaas.api.services import Services
from gpuaas.core.db import AWAY


@get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@get("/readyz")
async def readyz(services: Services) -> Response[dict[str, object]]:
    """It reaches its database and is taking links."""
    try:
        async with services.worker_db.read() as tx:
            await tx.value("select 1")
    except AWAY:
        return Response({"status": "database unavailable"}, status_code=503)
    return Response({"status": "ok", "links": services.links.count})


ROUTER = Router("", route_handlers=[healthz, readyz], include_in_schema=False)
