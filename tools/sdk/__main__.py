"""Writes `src/gpuaas/sdk/routes` from the server's OpenAPI description. With --check it only compares."""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from gpuaas.api.app import described
from gpuaas.api.contract import contract
from tools.sdk.document import operations
from tools.sdk.modules import modules

FOLDER = Path(__file__).parents[2] / "src" / "gpuaas" / "sdk" / "routes"


def generated() -> dict[str, str]:
    return {"__init__.py": "", **modules(operations(msgspec.json.decode(contract(described()))))}


def differences(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Files that are missing, outdated, or not generated any more."""
    present = {file.name: file.read_text() for file in folder.glob("*.py")}
    return sorted(name for name in {*wanted, *present} if wanted.get(name) != present.get(name))


def write(folder: Path, wanted: Mapping[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name in differences(folder, wanted):
        file = folder / name
        if name in wanted:
            file.write_text(wanted[name])
        else:
            file.unlink()


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(prog="python -m tools.sdk", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    wanted = generated()
    if not options.check:
        write(options.folder, wanted)
        return 0
    changed = differences(options.folder, wanted)
    for name in changed:
        print(f"{options.folder.name}/{name} is not what the API describes; next step: make sdk")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
