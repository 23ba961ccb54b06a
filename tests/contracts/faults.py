"""Faults made from the contract: each field of each body and each parameter, wrong in every way its schema forbids."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from tests.contracts.refusals import Bad
from tests.isolation.probes import ADMIN, Probe, schema_of
from tests.isolation.town import Town

Schema = dict[str, Any]
OF_EACH_TYPE: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "integer": 7,
    "number": 0.5,
    "string": "7",
    "array": [],
    "object": {},
}
TIMES = ("yesterday", "2030-01-01T00:00:00", "2030-02-30T00:00:00Z", "10000-01-01T00:00:00Z")
IN_WORDS = {"integer": ("x", "1.5", "", str(10**40)), "boolean": ("perhaps", "2")}
ODD_IDS = ("x", "-1", "é" * 30, "%25", "%2e%2e", "a%2Fb", "a%0Ab", "a" * 300, "%F0%9F%92%A9", "'%20or%201=1--", "%00")
# Of what an example in the matrix leaves out because it names nothing.
EXAMPLES: dict[str, Schema] = {
    "SignUp": {"email": "fault@example.com", "password": "correct horse battery"},
    "Login": {"email": "fault@example.com", "password": "correct horse battery"},
    "CreateAllocation": {
        "storage_attachments": [{"mount_path": "/mnt/x", "new_volume": {"name": "fault", "size_gib": 1}}]
    },
}


def bodies(town: Town, contract: Schema) -> Iterator[Bad]:
    """Right but for one thing."""
    for name, operation in operations(contract):
        if schema := schema_of(operation):
            good = well_formed(town, name, schema)
            content = json.loads(good.body) | EXAMPLES.get(schema, {})
            for wrong, says, body in broken(content, {"$ref": f"/{schema}"}, contract):
                yield replace(good, says=f"{name}: {wrong} {says}", wrong=wrong, body=json.dumps(body).encode())


def parameters(town: Town, contract: Schema) -> Iterator[Bad]:
    for name, operation in operations(contract):
        good = well_formed(town, name, schema_of(operation))
        for parameter in operation.get("parameters", []):
            word = parameter["name"]
            for value in wrong_words(parameter, contract):
                says = f"{name}: {word}={value[:20]}"
                if parameter["in"] == "query":
                    yield replace(good, says=says, wrong=word, path=f"{good.path}?{word}={quote(value)}")
                elif parameter["in"] == "header":
                    yield replace(good, says=says, wrong=word, headers={**good.headers, word: value})


def ids(town: Town, contract: Schema) -> Iterator[Bad]:
    """What no id looks like, wherever one goes."""
    for name, operation in operations(contract):
        method, _, path = name.partition(" ")
        for parameter in [part for part in path.split("/") if part.startswith("{")]:
            for odd in ODD_IDS:
                probe = Probe(method, path.replace(parameter, odd), body=schema_of(operation))
                yield asked(town, probe, says=f"{name}: {parameter} {odd[:20]}")


def operations(contract: Schema) -> Iterator[tuple[str, Schema]]:
    for path, methods in contract["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def well_formed(town: Town, name: str, schema: str) -> Bad:
    method, _, path = name.partition(" ")
    return asked(town, Probe(method, path, body=schema), says=name)


def asked(town: Town, probe: Probe, *, says: str) -> Bad:
    who = "operator" if probe.path.startswith(ADMIN) else "owner"
    part = next(part for part in town.parts if part.name == who)
    ask = probe.ask(town, part)
    return Bad(
        says=says,
        method=ask.method,
        path=ask.target.removeprefix("/api/v1"),
        body=ask.body,
        headers=dict(ask.headers),
        who="operator" if who == "operator" else "ada",
    )


def broken(good: Any, schema: Schema, contract: Schema) -> Iterator[tuple[str, str, Any]]:
    """The field, what is wrong with it, and the whole; of things within things as far as the example shows them."""
    (kind,) = [kind for kind in alternatives(schema, contract) if kind["type"] in ("object", "array")][:1] or [{}]
    if isinstance(good, list) and good and "items" in kind:
        for field, says, item in broken(good[0], kind["items"], contract):
            yield field, says, [item, *good[1:]]
    if not isinstance(good, dict) or "properties" not in kind:
        return
    yield "no_such_field", "that nobody knows", {**good, "no_such_field": 1}
    for field in kind.get("required", []):
        yield field, "left out", {name: value for name, value in good.items() if name != field}
    for field, of in kind["properties"].items():
        for says, value in wrong_values(of, contract):
            yield field, says, {**good, field: value}
        for inner, says, value in broken(good.get(field), of, contract):
            yield inner, says, {**good, field: value}


def alternatives(schema: Schema, contract: Schema) -> list[Schema]:
    """What a value may be, references followed."""
    if "$ref" in schema:
        return alternatives(contract["components"]["schemas"][schema["$ref"].rpartition("/")[2]], contract)
    for word in ("oneOf", "anyOf", "allOf"):
        if word in schema:
            return [kind for each in schema[word] for kind in alternatives(each, contract)]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return [{**schema, "type": type} for type in types]


def wrong_values(schema: Schema, contract: Schema) -> Iterator[tuple[str, Any]]:
    kinds = alternatives(schema, contract)
    types = {kind["type"] for kind in kinds}
    types |= {"integer"} if "number" in types else set()
    for type, value in OF_EACH_TYPE.items():
        if type not in types:
            yield f"of type {type}", value
    for kind in kinds:
        yield from (("beyond its limits", value) for value in beyond(kind))


def beyond(kind: Schema) -> Iterator[Any]:
    """Just outside each limit that is written down."""
    if "minimum" in kind:
        yield kind["minimum"] - 1
    if "exclusiveMinimum" in kind:
        yield kind["exclusiveMinimum"]
    if "maximum" in kind:
        yield kind["maximum"] + 1
        yield 10**40
    if kind.get("minLength"):
        yield "x" * (kind["minLength"] - 1)
    if "maxLength" in kind:
        yield "x" * (kind["maxLength"] + 1)
    if "pattern" in kind:
        yield "! \n"
    if kind.get("minItems"):
        yield []
    if "maxItems" in kind:
        yield ["x"] * (kind["maxItems"] + 1)
    if "enum" in kind:
        yield "dancing"
    if kind.get("format") == "date-time":
        yield from TIMES


def wrong_words(parameter: Schema, contract: Schema) -> Iterator[str]:
    """The same for what is written into an address or a header; there, all is text."""
    for kind in alternatives(parameter["schema"], contract):
        yield from IN_WORDS.get(kind["type"], ())
        yield from (str(value) for value in beyond(kind) if not isinstance(value, list) and value != 10**40)
    if parameter["name"] == "cursor":
        yield "!!!!"
