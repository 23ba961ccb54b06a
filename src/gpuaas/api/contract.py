"""The published contract: Litestar's OpenAPI, completed and corrected to match the actual responses."""

import inspect
from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from msgspec import Struct

from gpuaas import wire
from gpuaas.api.edge import KEY_LIMIT, SAFE_METHODS

ALWAYS = {"422": "validation_error", "500": "internal_error", "503": "database_unavailable"}
SIGNED_IN = {"401": "token_missing, token_invalid, token_expired", "403": "suspended"}
WITH_BODY = {"413": "body_too_large", "415": "unsupported_media_type"}
CHANGING = {"403": "csrf_refused", "409": "conflict"}
WITH_KEY = {"409": "request_in_progress", "422": "idempotency_key_reused"}
KEY_PARAMETER = {
    "name": "X-Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A repeated request with the same key within 24 hours is done once and receives the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_LIMIT, "pattern": "^[!-~]+$"},
}
Json = dict[str, Any]


def contract(app: Litestar) -> bytes:
    """As JSON; called once."""
    schema: Json = app.openapi_schema.to_schema()
    for route in app.routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
            for method in handler.http_methods:
                operation = schema["paths"].get(route.path_format, {}).get(method.lower())
                if operation is not None:
                    complete(operation, handler, is_change=method not in SAFE_METHODS)
    closed = closed_structs()
    for name, component in schema["components"]["schemas"].items():
        if name.rpartition(".")[2] in closed:
            component["additionalProperties"] = False
    return msgspec.json.encode(schema, order="deterministic")


def complete(operation: Json, handler: HTTPRouteHandler, *, is_change: bool) -> None:
    """Add the errors that every route can return. Validation errors are 422 here, not Litestar's 400."""
    operation["responses"].pop("400", None)
    operation["responses"].get("204", {}).pop("content", None)
    refuse(operation, ALWAYS)
    if "requestBody" in operation:
        refuse(operation, WITH_BODY)
    if handler.security == []:
        operation["security"] = []
        return
    refuse(operation, SIGNED_IN)
    if is_change:
        refuse(operation, CHANGING)
    if is_change and not handler.opt.get("ignores_key"):
        refuse(operation, WITH_KEY)
        declare_key(operation)


def declare_key(operation: Json) -> None:
    given = operation.setdefault("parameters", [])
    required = any(each["name"] == KEY_PARAMETER["name"] for each in given)
    others = [each for each in given if each["name"] != KEY_PARAMETER["name"]]
    operation["parameters"] = [*others, {**KEY_PARAMETER, "required": required}]


def refuse(operation: Json, problems: dict[str, str]) -> None:
    for status, codes in problems.items():
        said = operation["responses"].get(status, {}).get("description", "").split(", ")
        operation["responses"][status] = {
            "description": ", ".join(sorted({*filter(None, said), *codes.split(", ")})),
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }


def closed_structs() -> set[str]:
    return {struct.__name__ for struct in wire_structs() if struct.__struct_config__.forbid_unknown_fields}


def wire_structs() -> Iterator[type[Struct]]:
    for module in vars(wire).values():
        if inspect.ismodule(module):
            for value in vars(module).values():
                if inspect.isclass(value) and issubclass(value, Struct):
                    yield value
