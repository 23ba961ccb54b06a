"""The published contract: Litestar's OpenAPI with what it leaves out or says otherwise than we answer."""

import inspect
from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar
from msgspec import Struct

from gpuaas import wire

PROBLEM_CODES = {
    "401": "token_missing, token_invalid, token_expired",
    "409": "conflict",
    "413": "body_too_large",
    "422": "validation_error",
    "500": "internal_error",
    "503": "database_unavailable",
}
WITH_BODY = ("401", "409", "413", "422", "500", "503")
WITHOUT_BODY = ("401", "422", "500", "503")
METHODS = ("get", "post", "put", "patch", "delete")
Json = dict[str, Any]


def contract(app: Litestar) -> bytes:
    """As JSON, made once."""
    schema: Json = app.openapi_schema.to_schema()
    for path in schema["paths"].values():
        for method in METHODS:
            if method in path:
                complete(path[method])
    for name, component in schema["components"]["schemas"].items():
        if name.rpartition(".")[2] in closed_structs():
            component["additionalProperties"] = False
    return msgspec.json.encode(schema)


def complete(operation: Json) -> None:
    """Every route can refuse what every route refuses; validation is a 422 here, never Litestar's 400."""
    responses: Json = operation["responses"]
    responses.pop("400", None)
    for status in WITH_BODY if "requestBody" in operation else WITHOUT_BODY:
        if status == "401" and operation.get("security") == []:
            continue
        said = responses.get(status, {}).get("description", "")
        codes = ", ".join(filter(None, [said, PROBLEM_CODES[status]]))
        responses[status] = {
            "description": codes,
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
