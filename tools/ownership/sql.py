"""The effects of a statement on tables, read from the syntax tree of PostgreSQL's own parser."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pglast.parser import ParseError, parse_plpgsql_json, parse_sql_json

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
COMPOSED = "composed_name"
PLACEHOLDER = re.compile(r"\{\w*\}")
# Substitutes for a placeholder: a condition, nothing, a value, a name, or a query.
FILLINGS = ("true", "", "1", COMPOSED, "and true", "'a'", "select")
MOST_TRIES = 4096
ASSIGNMENTS = (3, 4, 5)  # parse modes of `name := value`, by the number of parts of the name
STATEMENTS = frozenset({"InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"})


class NotSqlError(ValueError):
    """No filling of its placeholders makes the text a statement."""


@dataclass(frozen=True)
class Use:
    """The effects of one statement. `changes` names the columns of existing rows that it sets."""

    writes: frozenset[str] = frozenset()
    changes: frozenset[tuple[str, str]] = frozenset()
    reads: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    is_dynamic: bool = False  # it runs a text that only exists when it runs

    def __or__(self, other: "Use") -> "Use":
        return Use(
            self.writes | other.writes,
            self.changes | other.changes,
            self.reads | other.reads,
            self.calls | other.calls,
            self.is_dynamic or other.is_dynamic,
        )


@dataclass
class _Found:
    writes: set[str] = field(default_factory=set)
    changes: set[tuple[str, str]] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)

    def use(self) -> Use:
        return Use(
            frozenset(self.writes),
            frozenset(self.changes),
            frozenset(self.reads),
            frozenset(self.calls),
            is_dynamic=False,
        )


def use_of(text: str) -> Use:
    """The effects of one or more statements, whose placeholders a program fills in when it runs."""
    holes = PLACEHOLDER.findall(text)
    pieces = PLACEHOLDER.split(text)
    for fillings in itertools.islice(itertools.product(FILLINGS, repeat=len(holes)), MOST_TRIES):
        filled = "".join(itertools.chain(*zip(pieces, [*(f" {each} " for each in fillings), ""], strict=True)))
        try:
            tree: Json = json.loads(parse_sql_json(filled))
        except ParseError:
            continue
        return use_of_tree(tree)
    raise NotSqlError(text)


def use_of_tree(tree: Json) -> Use:
    """Of a statement or expression that is parsed already."""
    found = _Found()
    _walk(tree, frozenset(), found)
    return found.use()


def use_of_expression(text: str) -> Use:
    return use_of(f"select {text}")


def use_of_plpgsql(definition: str) -> Use:
    """Of a `create function … language plpgsql`."""
    tree: Json = json.loads(parse_plpgsql_json(definition))
    total = Use()
    for kind, node in nodes(tree):
        if kind == "PLpgSQL_stmt_dynexecute":
            total |= Use(is_dynamic=True)
        elif kind == "PLpgSQL_expr":
            total |= _plpgsql_expression(node)
    return total


def _plpgsql_expression(node: dict[str, Json]) -> Use:
    text = str(node["query"])
    if node.get("parseMode", 0) == 0:
        return use_of(text)
    value = re.sub(r"^\s*[\w.\[\]]+\s*:?=(?!=)", "", text) if node["parseMode"] in ASSIGNMENTS else text
    return use_of_expression(value)


def nodes(tree: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    if isinstance(tree, list):
        for each in tree:
            yield from nodes(each)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if isinstance(value, dict) and key[:1].isupper():
                yield key, value
            yield from nodes(value)


def _walk(tree: Json, ctes: frozenset[str], found: _Found) -> None:
    if isinstance(tree, list):
        for each in tree:
            _walk(each, ctes, found)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if isinstance(value, dict):
                _node(key, value, ctes, found)
            else:
                _walk(value, ctes, found)


def _node(kind: str, node: dict[str, Json], ctes: frozenset[str], found: _Found) -> None:
    ctes |= _names_of_ctes(node)
    if kind in STATEMENTS:
        _write(kind, node, found)
        node = {key: value for key, value in node.items() if key != "relation"}
    elif kind == "RangeVar" or (kind == "relation" and "relname" in node):
        name = str(node["relname"])
        if name not in ctes and node.get("schemaname") not in ("pg_catalog", "information_schema"):
            found.reads.add(name)
        return
    elif kind == "LockingClause":  # it names aliases of tables that stand in the from clause
        return
    elif kind == "FuncCall":
        found.calls.add(_last_name(node["funcname"]))
    _walk(node, ctes, found)


def _write(kind: str, node: dict[str, Json], found: _Found) -> None:
    relation = node["relation"]
    assert isinstance(relation, dict)
    table = str(relation["relname"])
    found.writes.add(table)
    changed: list[Json] = [node.get("targetList")] if kind == "UpdateStmt" else []
    conflict = node.get("onConflictClause")
    if isinstance(conflict, dict):
        changed.append(conflict.get("targetList"))
    for _, target in nodes([each for each in changed if each is not None]):
        if "name" in target and "val" in target:
            found.changes.add((table, str(target["name"])))
    if kind == "MergeStmt":  # its parts are not told apart: nobody here merges
        found.changes.add((table, "status"))


def _names_of_ctes(node: dict[str, Json]) -> frozenset[str]:
    clause = node.get("withClause")
    return frozenset(str(cte["ctename"]) for _, cte in nodes(clause) if "ctename" in cte)


def _last_name(names: Json) -> str:
    assert isinstance(names, list)
    last = names[-1]
    assert isinstance(last, dict)
    text = last["String"]
    assert isinstance(text, dict)
    return str(text["sval"])
