"""Assembles routes, dependencies and error handling of the API."""

from litestar import Litestar, MediaType, Response, Router, get
from litestar.datastructures import State
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ASGIApp

from gpuaas.api import (
    access,
    admin_accounts,
    admin_allocations,
    admin_invariants,
    admin_nodes,
    admin_operations,
    admin_overview,
    admin_runtimes,
    admin_task_keys,
    admin_unknown,
    admin_unknown_volumes,
    admin_workers,
    allocations,
    audit,
    auth,
    break_glass,
    console,
    exposition,
    health,
    logs,
    members,
    metrics,
    nodes,
    operations,
    projects,
    quotas,
    runtimes,
    sessions,
    skus,
    ssh_keys,
    stream,
    terminals,
    volumes,
)
from gpuaas.api.bodies import StrictRequest
from gpuaas.api.contract import contract
from gpuaas.api.deps import DEPENDENCIES, AnyRequest
from gpuaas.api.direct import DIRECT
from gpuaas.api.services import Services
from gpuaas.api.unit import Unit, UnitMiddleware

VERSION = "1"
NOUNS = (
    auth,
    projects,
    audit,
    quotas,
    ssh_keys,
    skus,
    allocations,
    access,
    members,
    sessions,
    metrics,
    runtimes,
    break_glass,
    terminals,
    operations,
    logs,
    stream,
    admin_operations,
    admin_invariants,
    admin_accounts,
    admin_nodes,
    admin_allocations,
    admin_runtimes,
    admin_task_keys,
    admin_unknown,
    admin_unknown_volumes,
    admin_workers,
    admin_overview,
    volumes,
)


def on_error(request: AnyRequest, error: Exception) -> Response[bytes]:
    """The request's unit of work turns the error into a response."""
    unit: Unit = request.scope["state"]["unit"]
    return unit.refuse(error).response()


@get("/openapi.json", include_in_schema=False)
async def openapi(request: AnyRequest) -> Response[bytes]:
    """Built at the first request, because it takes longer than the rest of the start-up."""
    state = request.app.state
    if "contract" not in state:
        state.contract = contract(described())
    return Response(state.contract, media_type=MediaType.JSON)


def routes() -> list[Router]:
    return [
        Router("/api/v1", route_handlers=[*(noun.ROUTER for noun in NOUNS), openapi]),
        nodes.ROUTER,
        health.ROUTER,
        exposition.ROUTER,
    ]


def described() -> Litestar:
    """The same routes in an app that only builds the OpenAPI description: with a description, Litestar also serves
    pages.
    """
    bearer = SecurityScheme(type="http", scheme="bearer", description="session or personal token")
    cookie = SecurityScheme(type="apiKey", name="gpuaas_session", security_scheme_in="cookie")
    return Litestar(
        routes(),
        dependencies=DEPENDENCIES,
        openapi_config=OpenAPIConfig(
            title="GPUaaS",
            version=VERSION,
            components=Components(security_schemes={"bearer": bearer, "cookie": cookie}),
            security=[{"bearer": []}, {"cookie": []}],
            use_handler_docstrings=True,
        ),
        logging_config=None,
        signature_types=[],
    )


def create_litestar(services: Services) -> Litestar:
    return Litestar(
        routes(),
        dependencies=DEPENDENCIES,
        request_class=StrictRequest,
        exception_handlers={Exception: on_error},
        openapi_config=None,
        state=State({"services": services}),
        logging_config=None,  # core/logs.py
        signature_types=[],
    )


def create_health_app(services: Services) -> ASGIApp:
    """For a process that only runs workers: health and metrics."""
    return Litestar(
        [health.ROUTER, exposition.ROUTER],
        dependencies=DEPENDENCIES,
        openapi_config=None,
        state=State({"services": services}),
        logging_config=None,
    )


def create_app(services: Services, litestar: Litestar | None = None) -> ASGIApp:
    unit = UnitMiddleware(litestar or create_litestar(services), services, DIRECT)
    return console.ConsoleDoor(unit, console.load())
