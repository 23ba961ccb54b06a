"""The effects of functions, triggers, policies and views of a database, read from its schema as SQL."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from pglast.parser import parse_sql_json

from tools.ownership.rules import Owners, Violation, violations
from tools.ownership.sql import Json, Use, nodes, use_of, use_of_plpgsql, use_of_tree

STATUS_COLUMNS = ("status", "state", "intent")


@dataclass
class Schema:
    """By name: tables with their columns; functions, views and policies with what they do; triggers with functions."""

    tables: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, Use] = field(default_factory=dict)
    views: dict[str, Use] = field(default_factory=dict)
    policies: dict[tuple[str, str], Use] = field(default_factory=dict)
    triggers: dict[tuple[str, str], str] = field(default_factory=dict)


def read_schema(text: str) -> Schema:
    raw = text.encode()
    schema = Schema()
    tree: dict[str, Json] = json.loads(parse_sql_json(text))
    parsed = tree["stmts"]
    assert isinstance(parsed, list)
    for each in parsed:
        assert isinstance(each, dict)
        start, length = each.get("stmt_location", 0), each.get("stmt_len", len(raw))
        node = each["stmt"]
        assert isinstance(start, int)
        assert isinstance(length, int)
        assert isinstance(node, dict)
        kind, body = next(iter(node.items()))
        assert isinstance(body, dict)
        _add(schema, kind, body, raw[start : start + length].decode())
    return schema


def _add(schema: Schema, kind: str, node: dict[str, Json], text: str) -> None:
    if kind == "CreateStmt":
        schema.tables[_relation(node["relation"])] = [
            str(each["colname"]) for name, each in nodes(node.get("tableElts")) if name == "ColumnDef"
        ]
    elif kind == "CreateFunctionStmt":
        name, use = _function(node, text)
        schema.functions[name] = schema.functions.get(name, Use()) | use
    elif kind == "ViewStmt":
        schema.views[_relation(node["view"])] = use_of_tree(node["query"])
    elif kind == "CreatePolicyStmt":
        use = use_of_tree([node.get("qual"), node.get("with_check")])
        schema.policies[str(node["policy_name"]), _relation(node["table"])] = use
    elif kind == "CreateTrigStmt":
        schema.triggers[str(node["trigname"]), _relation(node["relation"])] = _name(node["funcname"])


def _relation(node: Json) -> str:
    assert isinstance(node, dict)
    return str(node["relname"])


def _name(names: Json) -> str:
    """The last of a qualified name."""
    assert isinstance(names, list)
    text: Json = names[-1]
    while isinstance(text, dict):
        text = next(iter(text.values()))
    return str(text)


def _function(node: dict[str, Json], text: str) -> tuple[str, Use]:
    options = {str(each["defname"]): each.get("arg") for name, each in nodes(node["options"]) if name == "DefElem"}
    if _name([options["language"]]) == "plpgsql":
        return _name(node["funcname"]), use_of_plpgsql(text)
    [body] = [str(each["sval"]) for name, each in nodes(options["as"]) if name == "String"]
    return _name(node["funcname"]), use_of(body)


def schema_violations(owners: Owners, schema: Schema) -> Iterator[Violation]:
    """The violations of functions, views, policies and triggers."""
    for name, use in schema.functions.items():
        if name in owners.functions:
            yield from violations(owners, f"function {name}", owners.functions[name], use)
    for name, use in schema.views.items():
        if name in owners.tables:
            yield from violations(owners, f"view {name}", owners.tables[name], use)
    for (name, table), use in schema.policies.items():
        if table in owners.tables:
            yield from violations(owners, f"policy {name} on {table}", owners.tables[table], use)
    for (name, table), function in schema.triggers.items():
        if function in owners.functions and table in owners.tables:
            use = Use(calls=frozenset({function}))
            yield from violations(owners, f"trigger {name} on {table}", owners.tables[table], use)


def missing_owners(owners: Owners, schema: Schema) -> Iterator[str]:
    """Objects without an owner, owners of objects that do not exist, and statuses without a transition."""
    for what, exists, owned in (
        ("table", schema.tables.keys() | schema.views.keys(), owners.tables.keys()),
        ("function", schema.functions.keys(), owners.functions.keys()),
    ):
        yield from (f"{what} {name} has no owner in owners.toml" for name in sorted(exists - owned))
        yield from (f"{what} {name} has an owner in owners.toml and does not exist" for name in sorted(owned - exists))
    for table, columns in schema.tables.items():
        for column in set(columns) & set(STATUS_COLUMNS):
            if owners.statuses.get(table) != column and table not in owners.not_states:
                yield f"table {table} has a column {column}, and owners.toml does not say what may write it"
    for package in {*owners.tables.values(), *owners.functions.values()}:
        if package.partition(".")[0] not in owners.layers:
            yield f"package {package} of owners.toml is in no layer of the import contracts"
