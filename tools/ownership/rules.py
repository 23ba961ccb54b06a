"""The owners of tables and functions, and the violations of ownership."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.ownership.sql import COMPOSED, Use

FOLDER = Path(__file__).parent
CORE = "core"
KINDS = {
    "write": "writes a table of another package",
    "status": "writes a status, which only the transition function may",
    "read": "reads a table of a higher layer",
    "call": "calls a function of a higher layer",
    "composed": "is composed when it runs, so that nobody can see which table it names",
}


@dataclass(frozen=True, order=True)
class Violation:
    """`kind` is one of KINDS; `name` is the table or function."""

    kind: str
    where: str
    name: str

    def __str__(self) -> str:
        return f"{self.where}: {self.kind} {self.name}: it {KINDS[self.kind]}"


@dataclass(frozen=True, kw_only=True)
class Owners:
    """`moves` names what may change a table's status; `layers` gives each package its height."""

    tables: Mapping[str, str]
    functions: Mapping[str, str]
    moves: Mapping[str, tuple[str, ...]]
    statuses: Mapping[str, str]
    not_states: frozenset[str]
    composers: frozenset[str]  # modules whose texts are judged through the kinds
    layers: Mapping[str, int]

    def height(self, package: str) -> int:
        return self.layers[package.partition(".")[0]]


def load_owners(root: Path) -> Owners:
    """From owners.toml; the layers are those of the import contracts."""
    document = tomllib.loads((FOLDER / "owners.toml").read_text())
    project = tomllib.loads((root / "pyproject.toml").read_text())
    return Owners(
        tables=_by_name(document["tables"]),
        functions=_by_name(document["functions"]),
        moves={table: tuple(places) for table, places in document["moves"].items()},
        statuses=document["statuses"],
        composers=frozenset(document["composers"]),
        not_states=frozenset(document["not_states"]),
        layers=layers_of(project["tool"]["importlinter"]["contracts"]),
    )


def layers_of(contracts: Iterable[Mapping[str, object]]) -> dict[str, int]:
    """The height of each package of `domain`; `core` is below all."""
    contract = next(each for each in contracts if each["id"] == "domain")
    lines = contract["layers"]
    assert isinstance(lines, list)
    heights = {
        name.strip(" ()"): height for height, line in enumerate(reversed(lines), 1) for name in str(line).split("|")
    }
    return {**heights, CORE: 0}


def _by_name(by_package: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {name: package for package, names in by_package.items() for name in names}


def violations(
    owners: Owners,
    where: str,
    package: str,
    use: Use,
    *,
    is_store: bool = True,
    writes_for: frozenset[str] = frozenset(),
) -> Iterator[Violation]:
    """The violations of one statement, function, policy or view of a package. It may also write the tables and statuses
    of the packages `writes_for`."""
    height = owners.height(package)
    for table in use.writes & owners.tables.keys():
        owner = owners.tables[table]
        if not is_store or not (_is_within(package, owner) or owner in writes_for):
            yield Violation("write", where, table)
    for table, column in use.changes:
        is_permitted = where in owners.moves.get(table, ()) or owners.tables.get(table) in writes_for
        if owners.statuses.get(table) == column and not is_permitted:
            yield Violation("status", where, table)
    for table in use.reads & owners.tables.keys():
        if owners.height(owners.tables[table]) > height:
            yield Violation("read", where, table)
    for function in use.calls & owners.functions.keys():
        if owners.height(owners.functions[function]) > height:
            yield Violation("call", where, function)
    unknown = {name for name in use.writes | use.reads if name not in owners.tables and not name.startswith("pg_")}
    for name in sorted(unknown) + (["execute"] if use.is_dynamic else []):
        yield Violation("composed", where, "" if name == COMPOSED else name)


def _is_within(package: str, owner: str) -> bool:
    return package == owner or package.startswith(f"{owner}.")


def of_module(owners: Owners, where: str, use: Use) -> Iterator[Violation]:
    """Of a statement in a module: `domain.storage.volumes.store:MOVE` belongs to the package `storage.volumes`."""
    module = where.partition(":")[0]
    path = module.partition(".")[2]
    package = CORE if module.startswith(f"{CORE}.") else path.rpartition(".")[0] or path
    is_store = package == CORE or module.endswith(".store")
    return violations(owners, where, package, use, is_store=is_store)


# Allowances ---------------------------------------------------------------------------------------------------------

HEADER = """\
# Violations that are older than the check. The list can only shrink: an allowance that nothing needs fails the check.
# After a merge or a move of code: `make ownership ARGS=--shrink` drops what is no longer needed. `ARGS=--accept` adds
# what is new; the sum shows it to reviewers.
"""


def load_allowances(text: str) -> tuple[int, set[Violation]]:
    """The recorded sum, and the list."""
    document = tomllib.loads(text)
    listed = {
        Violation(kind, where, name)
        for kind in KINDS
        for where, names in document.get(kind, {}).items()
        for name in names
    }
    return int(document["sum"]), listed


def write_allowances(allowed: Iterable[Violation]) -> str:
    by_kind: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    ordered = sorted(set(allowed))
    for each in ordered:
        by_kind[each.kind][each.where].append(each.name)
    lines = [HEADER, f"sum = {len(ordered)}"]
    for kind in KINDS:
        if by_kind[kind]:
            lines.append(f"\n[{kind}]")
            lines += [
                f'"{where}" = [{", ".join(f"{chr(34)}{name}{chr(34)}" for name in names)}]'
                for where, names in by_kind[kind].items()
            ]
    return "\n".join(lines) + "\n"
