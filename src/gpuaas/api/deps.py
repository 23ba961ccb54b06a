"""What a route may ask for by name: its transaction, its caller, the time, the services, its place in a list."""

from datetime import datetime
from typing import Annotated, Any

from litestar import Request
from litestar.di import Provide
from litestar.params import QueryParameter

from gpuaas.api.services import Services
from gpuaas.api.unit import Unit
from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.core.paging import MOST, Paging
from gpuaas.domain.identity.callers import Caller

AnyRequest = Request[Any, Any, Any]
Limit = Annotated[int | None, QueryParameter(name="limit", ge=1, le=MOST, required=False)]
Cursor = Annotated[str | None, QueryParameter(name="cursor", max_length=200, required=False)]


async def provide_unit(request: AnyRequest) -> Unit:
    unit: Unit = request.scope["state"]["unit"]
    return unit


async def provide_tx(unit: Unit) -> Tx:
    return (await unit.enter())[0]


async def provide_caller(unit: Unit) -> Caller:
    return (await unit.enter())[1]


async def provide_services(request: AnyRequest) -> Services:
    services: Services = request.app.state.services
    return services


async def provide_now(services: Services) -> datetime:
    return services.clock.now()


async def provide_ids(services: Services) -> Ids:
    return services.ids


async def provide_paging(limit: Limit = None, cursor: Cursor = None) -> Paging:
    return Paging.of(limit, cursor)


DEPENDENCIES = {
    "unit": Provide(provide_unit),
    "tx": Provide(provide_tx),
    "caller": Provide(provide_caller),
    "services": Provide(provide_services),
    "now": Provide(provide_now),
    "ids": Provide(provide_ids),
    "paging": Provide(provide_paging),
}
