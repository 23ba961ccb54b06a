"""Every SQL statement of the control plane's modules, as the modules compose it.

Constants are judged by their values after the import, so that an f-string of constants is the statement it becomes.
Strings inside functions are evaluated with the module's names; what only exists when the function runs stays a
placeholder.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType

import msgspec

from tools.lint_house import SQL, dotted
from tools.ownership.sql import PLACEHOLDER, NotSqlError, Use, use_of

PACKAGES = ("core", "domain")
WORDS = re.compile(r"\b(select|insert\s+into|update|delete\s+from)\s")  # a module without them need not be imported
# A part of a statement that writes, such as the body of a `with`.
WRITE = re.compile(r"[(;]\s*(insert\s+into|update\s+\S+\s+(\w+\s+)?set|delete\s+from)\s")


@dataclass(frozen=True)
class Statement:
    """`where` is the module below `gpuaas` and the name within it: `domain.tasks.store:QUEUE`."""

    where: str
    text: str

    @property
    def module(self) -> str:
        return self.where.partition(":")[0]


@dataclass(frozen=True)
class Judged:
    statement: Statement
    use: Use


def judged(statements: Iterable[Statement]) -> tuple[list[Judged], list[Statement]]:
    """The effects of each, and those that do not parse. A text that is part of another statement may be incomplete."""
    found, broken = list[Judged](), list[Statement]()
    for statement in statements:
        try:
            found.append(Judged(statement, use_of(statement.text)))
        except NotSqlError:
            broken.append(statement)
    whole = [each.statement.text for each in found]
    return found, [each for each in broken if not any(_is_part(each.text, text) for text in whole)]


def _is_part(fragment: str, text: str) -> bool:
    """All that stands between the placeholders of a fragment stands in the text, in this order."""
    place = 0
    for piece in PLACEHOLDER.split(fragment):
        place = text.find(piece.strip(), place)
        if place < 0:
            return False
    return True


def statements(source: Path) -> list[Statement]:
    """All statements of these packages below `source`, which is `src/gpuaas`."""
    return [
        statement
        for package in PACKAGES
        for path in sorted((source / package).rglob("*.py"))
        for statement in statements_of(_module_name(path, source), path.read_text())
    ]


def _module_name(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements_of(name: str, text: str, module: ModuleType | None = None) -> Iterator[Statement]:
    if not WORDS.search(text):
        return
    tree = ast.parse(text)
    names = vars(module or importlib.import_module(f"gpuaas.{name}"))
    for label, value in _constants(tree, names):
        yield from (Statement(f"{name}:{label}", sql) for sql in dict.fromkeys(_strings(value)) if _is_sql(sql))
    for function, node in _functions(tree):
        evaluated = dict.fromkeys(_evaluated(each, names) for each in _outermost_strings(node))
        yield from (Statement(f"{name}:{function}", sql) for sql in evaluated if _is_sql(sql))


def _is_sql(text: str) -> bool:
    """A statement, or a part of one that writes."""
    return SQL.match(text) is not None or WRITE.search(text) is not None


def _constants(tree: ast.Module, names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The values that the module or one of its classes assigns."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            owner = names.get(node.name)
            for label in _assigned(node.body):
                if hasattr(owner, label):
                    yield f"{node.name}.{label}", getattr(owner, label)
    yield from ((label, names[label]) for label in _assigned(tree.body) if label in names)


def _assigned(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, msgspec.Struct):
        yield from _strings([getattr(value, name) for name in value.__struct_fields__])
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _strings([getattr(value, each.name) for each in fields(value)])


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def _outermost_strings(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, ast.Constant | ast.JoinedStr) or (isinstance(child, ast.BinOp) and _is_text(child)):
            yield child
        else:
            yield from _outermost_strings(child)


def _is_text(node: ast.BinOp) -> bool:
    """A sum of texts: one of its ends is a string."""
    return isinstance(node.op, ast.Add) and any(
        isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and isinstance(each.value, str))
        for each in (node.left, node.right)
    )


def _evaluated(node: ast.expr, names: Mapping[str, object]) -> str:
    """The text, with `{}` for what only exists when the function runs."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_evaluated(part, names) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _evaluated(node.left, names) + _evaluated(node.right, names)
    value = _value(node.value if isinstance(node, ast.FormattedValue) else node, names)
    return value if isinstance(value, str) else "{}"


def _value(node: ast.expr, names: Mapping[str, object]) -> object:
    path = dotted(node)
    if isinstance(node, ast.Call) or not re.fullmatch(r"\w+(\.\w+)*", path):
        return None
    first, *rest = path.split(".")
    value = names.get(first)
    for each in rest:
        value = getattr(value, each, None)
    return value


def loaded_modules() -> dict[str, ModuleType]:
    """By their names below `gpuaas`; those that were imported to read their constants, and what they import."""
    return {
        name.removeprefix("gpuaas."): module
        for name, module in sorted(sys.modules.items())
        if name.startswith("gpuaas.")
    }
