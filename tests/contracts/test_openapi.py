"""The contract names every route, every refusal, every field that is refused; and is the same bytes each time."""

import re
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import msgspec
import pytest

from gpuaas import wire
from gpuaas.api.app import described
from gpuaas.api.contract import contract
from gpuaas.wire.allocations import CreateAllocation
from tests.described import document as contract_document
from tests.isolation.probes import ALONE, BY_SECRET, IGNORES_KEY, probes, published
from tests.world import World

Operations = dict[str, dict[str, Any]]
KEYLESS = ALONE | {" ".join(name) for name in IGNORES_KEY}  # logging in and out, signing up, a terminal's token


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return contract_document()


def operations(document: dict[str, Any]) -> Operations:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


async def test_it_is_served_as_it_is_made(world: World, document: dict[str, Any]) -> None:
    first = await world.stranger.get("/api/v1/openapi.json")
    assert first.content == contract(described()) == (await world.stranger.get("/api/v1/openapi.json")).content
    assert document["openapi"].startswith("3.1")


def test_every_route_of_the_table_is_in_it_and_no_other(document: dict[str, Any]) -> None:
    app = described()
    routes = {name for name in published(app) if not name.startswith("GET /schema")}
    assert routes | ALONE | BY_SECRET == set(operations(document))
    assert len({str(probe) for probe in probes_of(app, document)}) >= len(routes)


def probes_of(app: Any, document: dict[str, Any]) -> list[Any]:
    app.routes[:] = [route for route in app.routes if not route.path.startswith("/schema")]
    return probes(app, document)


def test_every_operation_names_every_refusal(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        expected = {"422", "500", "503"}
        if "requestBody" in operation:
            expected |= {"413", "415"}
        if operation.get("security") != []:
            expected |= {"401"}
            expected |= {"403", "409"} if not name.startswith("GET") else set()
        if "{" in name and not name.endswith(("/skus/{sku}", "/skus")):
            expected |= {"404"}
        assert expected <= set(operation["responses"]), name
        for status in set(operation["responses"]) - {"200", "201", "202", "204"}:
            assert list(operation["responses"][status]["content"]) == ["application/problem+json"], (name, status)


def test_every_change_by_somebody_signed_in_takes_the_key(document: dict[str, Any]) -> None:
    with_key = {
        name
        for name, operation in operations(document).items()
        if any(parameter["name"] == "X-Idempotency-Key" for parameter in operation.get("parameters", []))
    }
    assert with_key == {name for name in operations(document) if not name.startswith("GET")} - KEYLESS


def test_what_is_sent_may_hold_no_field_that_is_not_named(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name, operation in operations(document).items():
        if "requestBody" in operation:
            used = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert schemas[used]["additionalProperties"] is False, name


TIME = re.compile(r"(^|_)(hours|minutes|seconds|days)$")


def refuses_zero(body: type[msgspec.Struct], field: str) -> bool:
    try:
        msgspec.convert({field: 0}, body)
    except msgspec.ValidationError as error:
        return str(error).endswith(f"`$.{field}`")
    return False


def test_every_request_refuses_a_time_limit_of_zero(document: dict[str, Any]) -> None:
    sent = {
        operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for operation in operations(document).values()
        if "requestBody" in operation
    }
    modules = [import_module(f"gpuaas.wire.{found.name}") for found in iter_modules(wire.__path__)]
    bodies = {name: getattr(module, name) for module in modules for name in sent if hasattr(module, name)}
    assert set(bodies) == sent
    limits = {
        (body, field) for body in bodies.values() for field in body.__struct_encode_fields__ if TIME.search(field)
    }
    assert (CreateAllocation, "idle_minutes") in limits
    assert len(limits) >= 5
    assert [f"{body.__name__}.{field}" for body, field in limits if not refuses_zero(body, field)] == []


def test_a_request_that_takes_zero_is_found() -> None:
    planted = msgspec.defstruct("Planted", [("hours", Annotated[float, msgspec.Meta(ge=0)] | None, None)])
    assert not refuses_zero(planted, "hours")
