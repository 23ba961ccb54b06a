"""Operations as the OpenAPI document describes them, with the types of `gpuaas.wire` in place of schemas."""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any

from msgspec import Struct

from gpuaas import wire
from gpuaas.wire.common import Page

BASE = "/api/v1"
KEY_HEADER = "X-Idempotency-Key"
RESUME_HEADER = "Last-Event-ID"
PAGE = re.compile(r"Page_(?P<item>.+)_")
TOKEN = re.compile(r"[A-Z][a-z0-9]*")
FORMATS = {"date-time": datetime, "date": date}
SIMPLE = {"string": str, "integer": int, "number": float, "boolean": bool}
REQUIRED = object()
Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A path or query parameter. `default` is REQUIRED, or what the server assumes when it is left out."""

    name: str
    type: Any
    default: object = REQUIRED


@dataclass(frozen=True, kw_only=True)
class Operation:
    method: str
    path: str  # without the prefix that every route has
    handler: str  # the name of the server's function, from the operation id
    description: str
    path_parameters: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    takes_key: bool  # the server does it once per idempotency key
    resumes: bool  # a stream that continues after the last event that was received
    body: type[Struct] | None
    answer: Any  # a type of `wire`, `None`, or `bytes` for content that is not JSON
    is_stream: bool

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def page_item(self) -> Any:
        """The type of the items, if the answer is a page."""
        return self.answer.__args__[0] if getattr(self.answer, "__origin__", None) is Page else None


class Types:
    """Structs and enums of `gpuaas.wire` by the names that the document gives them."""

    def __init__(self) -> None:
        self._found: dict[str, list[type]] = {}
        for module in pkgutil.iter_modules(wire.__path__, "gpuaas.wire."):
            for name, value in vars(importlib.import_module(module.name)).items():
                is_model = isinstance(value, type) and issubclass(value, Struct | Enum)
                if is_model and value.__module__ == module.name:
                    self._found.setdefault(name, []).append(value)

    def named(self, name: str) -> Any:
        """`Node`, `gpuaas.wire.capacity.Node`, or `Page_gpuaas.wire.capacity.Node_`."""
        if found := PAGE.fullmatch(name):
            return Page[self.named(found["item"])]  # type: ignore[misc]  # a type that is known only now
        module, _, plain = name.rpartition(".")
        matches = [one for one in self._found.get(plain, []) if module in {"", one.__module__}]
        if len(matches) != 1:
            raise LookupError(f"{len(matches)} types of gpuaas.wire are called {name}")
        return matches[0]

    def of_schema(self, schema: Json) -> tuple[Any, bool]:
        """The type, and whether null is allowed."""
        if "oneOf" in schema:
            parts = [one for one in schema["oneOf"] if one.get("type") != "null"]
            if len(parts) != 1:
                raise LookupError(f"a parameter of several types: {schema}")
            return self.of_schema(parts[0])[0], len(parts) < len(schema["oneOf"])
        if "$ref" in schema:
            return self.named(schema["$ref"].rpartition("/")[2]), False
        if found := FORMATS.get(schema.get("format", "")):
            return found, False
        if schema.get("type") not in SIMPLE:
            raise LookupError(f"no Python type for the schema {schema}")
        return SIMPLE[schema["type"]], False


def operations(document: Json) -> Iterator[Operation]:
    types = Types()
    for path, methods in sorted(document["paths"].items()):
        for method, described in sorted(methods.items()):
            if path.startswith(f"{BASE}/"):
                yield operation(types, path, method.upper(), described)


def operation(types: Types, path: str, method: str, described: Json) -> Operation:
    parameters = described.get("parameters", [])
    headers = {one["name"] for one in parameters if one["in"] == "header"}
    body = described.get("requestBody")
    answer, is_stream = answer_of(types, described)
    return Operation(
        method=method,
        path=path.removeprefix(BASE),
        handler=handler_of(path, described["operationId"]),
        description=described.get("description") or "",
        path_parameters=tuple(parameter(types, one) for one in parameters if one["in"] == "path"),
        query=tuple(parameter(types, one) for one in parameters if one["in"] == "query"),
        takes_key=KEY_HEADER in headers,
        resumes=RESUME_HEADER in headers,
        body=types.of_schema(body["content"]["application/json"]["schema"])[0] if body else None,
        answer=answer,
        is_stream=is_stream,
    )


def parameter(types: Types, described: Json) -> Parameter:
    schema = described["schema"]
    type, is_nullable = types.of_schema(schema)
    if is_nullable:
        return Parameter(name=described["name"], type=type | None, default=None)
    return Parameter(name=described["name"], type=type, default=schema.get("default", REQUIRED))


def answer_of(types: Types, described: Json) -> tuple[Any, bool]:
    """The type of a success, and whether it is an event stream."""
    successes = [one for status, one in sorted(described["responses"].items()) if status.startswith("2")]
    content = next((one["content"] for one in successes if one.get("content")), None)
    if content is None:
        return None, False
    if "application/json" in content:
        return types.of_schema(content["application/json"]["schema"])[0], False
    return bytes, "text/event-stream" in content


def handler_of(path: str, operation_id: str) -> str:
    """`list_slots` from `ApiV1AdminNodesIdSlotsListSlots`: the id is the path, mostly, followed by the handler."""
    tokens = TOKEN.findall(operation_id)
    for segment in path.split("/"):
        for word in re.split(r"[-_{}]+", segment):
            if word and tokens[0] == word.capitalize():
                tokens = tokens[1:]
    return "_".join(token.lower() for token in tokens)
