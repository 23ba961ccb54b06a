"""Checks who writes and reads which table: `make check` and `make ownership` run it.

Statements come from the modules, functions and policies from docs/reference/schema.sql, which a test compares with the
database. Owners are in tools/ownership/owners.toml, older violations in tools/ownership/allowances.toml.
"""

import argparse
import sys
import tomllib
from pathlib import Path

from tools.ownership import rules
from tools.ownership.composed import kind_violations, kinds_of
from tools.ownership.rules import Owners, Violation
from tools.ownership.schema import missing_owners, read_schema, schema_violations
from tools.ownership.statements import judged, loaded_modules, statements

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "docs/reference/schema.sql"
DROP = "Run `make ownership ARGS=--shrink`."
ALLOWANCES = rules.FOLDER / "allowances.toml"


def look(owners: Owners) -> tuple[set[Violation], list[str]]:
    """All violations, and what hinders a judgement."""
    schema = read_schema(SCHEMA.read_text())
    known, broken = judged(each for each in statements(ROOT / "src/gpuaas") if each.module not in owners.composers)
    found = {each for one in known for each in rules.of_module(owners, one.statement.where, one.use)}
    found |= set(schema_violations(owners, schema))
    kinds = dict(kinds_of(loaded_modules()))
    found |= {each for where, kind in kinds.items() for each in kind_violations(owners, where, kind)}
    errors = [*missing_owners(owners, schema)]
    errors += [f"{each.where}: no statement, whatever its placeholders become: {each.text.strip()}" for each in broken]
    places = {one.statement.where for one in known} | kinds.keys() | {f"function {name}" for name in schema.functions}
    errors += [
        f"owners.toml: {place} does not exist, and may change the status of {table}"
        for table, permitted in owners.moves.items()
        for place in permitted
        if place not in places
    ]
    return found, errors


def compare(found: set[Violation], total: int, allowed: set[Violation]) -> list[str]:
    """Violations without an allowance, and allowances without a violation."""
    stale = sorted(allowed - found)
    errors = [f"{each}" for each in sorted(found - allowed)]
    errors += [f"allowances.toml: nothing needs {each.kind} {each.name} of {each.where}. {DROP}" for each in stale]
    if total != len(allowed):
        errors.append(f"allowances.toml: its sum is {total}, and it lists {len(allowed)}")
    return errors


def recorded(*, is_replaced: bool) -> tuple[int, set[Violation]]:
    """The allowances. A file with the marks of a merge conflict counts as empty if it is written again."""
    try:
        return rules.load_allowances(ALLOWANCES.read_text())
    except (FileNotFoundError, tomllib.TOMLDecodeError):
        if is_replaced:
            return 0, set()
        raise


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shrink", action="store_true", help="drop allowances that nothing needs")
    parser.add_argument("--accept", action="store_true", help="allow what is found, and drop what is not")
    options = parser.parse_args(arguments)
    found, errors = look(rules.load_owners(ROOT))
    total, allowed = recorded(is_replaced=options.accept)
    if options.accept or options.shrink:
        kept = found if options.accept else found & allowed
        ALLOWANCES.write_text(rules.write_allowances(kept))
        print(f"allowances.toml: {len(allowed)} before, {len(kept)} now, {len(found - allowed)} new violations")
        total, allowed = len(kept), kept
    errors += compare(found, total, allowed)
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
