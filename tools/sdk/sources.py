"""Python source of types, defaults and arguments, with the imports that it needs."""

import keyword
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import NODEFAULT, UNSET, UnsetType
from msgspec.structs import FieldInfo

from tools.sdk.document import REQUIRED

CALLED = {
    "body",
    "dict",
    "idempotency_key",
    "self",
    "delete",
    "get",
    "given",
    "once",
    "only_read",
    "patch",
    "path",
    "post",
    "put",
}
"""Names that the generated methods use themselves."""
LISTS, MAPPINGS = (list, tuple, set, frozenset), (dict, Mapping)


@dataclass
class Imports:
    """The imports of a module, each name once."""

    names: dict[str, set[str]] = field(default_factory=dict)

    def use(self, module: str, name: str) -> str:
        self.names.setdefault(module, set()).add(name)
        return name

    def source(self) -> str:
        return "\n".join(
            f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self.names.items())
        )


def parts_of(type: Any) -> tuple[Any, ...]:
    """Members of a union; a plain type is a union with one member. Limits on values are the server's to check."""
    while get_origin(type) is Annotated:
        type = get_args(type)[0]
    return get_args(type) if get_origin(type) in {Union, types.UnionType} else (type,)


def source_of(type: Any, imports: Imports) -> str:
    return " | ".join(part_source(part, imports) for part in ordered(parts_of(type)))


def ordered(parts: Iterable[Any]) -> list[Any]:
    return sorted(parts, key=lambda part: (part is types.NoneType, part is UnsetType))


def part_source(part: Any, imports: Imports) -> str:
    while get_origin(part) is Annotated:
        part = get_args(part)[0]
    origin, arguments = get_origin(part), get_args(part)
    inner = ", ".join(source_of(argument, imports) for argument in arguments if argument is not ...)
    if part is types.NoneType or part is None:
        return "None"
    if origin in LISTS:
        return f"{imports.use('collections.abc', 'Iterable')}[{inner}]"
    if origin in MAPPINGS:
        return f"{imports.use('collections.abc', 'Mapping')}[{inner}]"
    if origin is not None:
        return f"{part_source(origin, imports)}[{inner}]"
    return str(part.__name__) if part.__module__ == "builtins" else imports.use(part.__module__, part.__name__)


def default_source(value: object, imports: Imports) -> str:
    if value is UNSET:
        return imports.use("msgspec", "UNSET")
    if isinstance(value, Enum):
        return f"{imports.use(type(value).__module__, type(value).__name__)}.{value.name}"
    if isinstance(value, list | tuple) and not value:
        return "()"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    raise LookupError(f"no source for the default {value!r}")


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a method, and the expression that is sent for it."""

    name: str
    type: str
    default: str | None = None
    sends_as: str  # the name in the path, the query or the body
    expression: str
    by_keyword: bool = False  # although it is required

    @property
    def source(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default is not None else "")


def argument_name(name: str) -> str:
    """As Python allows it: `from_` for `from`, and `path_` where a function of that name is called."""
    return f"{name}_" if keyword.iskeyword(name) or name in CALLED else name


def body_argument(found: FieldInfo, imports: Imports) -> Argument:
    """A field of the body. Lists are taken from any iterable; `None` where null is not allowed leaves the field out."""
    parts = parts_of(found.type)
    name = expression = argument_name(found.name)
    is_list = any(get_origin(plain(part)) in LISTS for part in parts)
    is_mapping = any(get_origin(plain(part)) in MAPPINGS for part in parts)
    type, default = source_of(found.type, imports), default_of(found)
    if is_list or is_mapping:
        copied = f"[*{name}]" if is_list else f"dict({name})"
        missing = [source_of(part, imports) for part in parts if part in {types.NoneType, UnsetType}]
        tests = [f"{name} is None"] * ("None" in missing) + [f"{name} is UNSET"] * ("UnsetType" in missing)
        expression = f"{name} if {' or '.join(tests)} else {copied}" if tests else copied
    elif UnsetType in parts and types.NoneType not in parts:
        type, expression = f"{type} | None", f"{imports.use('gpuaas.sdk.requests', 'given')}({name})"
    return Argument(
        name=name,
        type=type,
        default=None if default is REQUIRED else default_source(default, imports),
        sends_as=found.name,
        expression=expression,
        by_keyword=name in {"confirm", "reason"} or parts == (bool,),
    )


def plain(type: Any) -> Any:
    while get_origin(type) is Annotated:
        type = get_args(type)[0]
    return type


def default_of(found: FieldInfo) -> object:
    if found.default is not NODEFAULT:
        return found.default
    if found.default_factory is not NODEFAULT:
        return found.default_factory()
    return REQUIRED
