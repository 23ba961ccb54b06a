"""The dependencies of routes. A route should use only one: Litestar resolves several in separate tasks, which costs
more than the rest of a small request (measured).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from litestar import Request
from litestar.di import Provide
from litestar.params import QueryParameter

from gpuaas.api.services import Services
from gpuaas.api.unit import Unit
from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.core.paging import MOST
from gpuaas.domain.identity.callers import Caller
from gpuaas.wire.common import NO_CONTROL_CHARACTERS

AnyRequest = Request[Any, Any, Any]
Limit = Annotated[int | None, QueryParameter(name="limit", ge=1, le=MOST, required=False)]
Reason = Annotated[
    str | None, QueryParameter(name="reason", required=False, max_length=500, pattern=NO_CONTROL_CHARACTERS)
]
Cursor = Annotated[str | None, QueryParameter(name="cursor", max_length=200, required=False)]


@dataclass(frozen=True, slots=True)
class Context:
    """The request of a signed-in caller: transaction, caller, time and services."""

    tx: Tx
    caller: Caller
    now: datetime
    services: Services

    @property
    def ids(self) -> Ids:
        return self.services.ids


async def context_of(unit: Unit) -> Context:
    tx, caller = await unit.enter()
    return Context(tx, caller, unit.services.clock.now(), unit.services)


async def provide_context(request: AnyRequest) -> Context:
    return await context_of(provide_unit(request))


def provide_unit(request: AnyRequest) -> Unit:
    """For reads of one statement, which need no transaction."""
    unit: Unit = request.scope["state"]["unit"]
    return unit


def provide_services(request: AnyRequest) -> Services:
    """For routes without sign-in."""
    services: Services = request.app.state.services
    return services


DEPENDENCIES = {
    "context": Provide(provide_context),
    "unit": Provide(provide_unit, sync_to_thread=False),
    "services": Provide(provide_services, sync_to_thread=False),
}
