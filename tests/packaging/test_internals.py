"""Libraries whose internals we subclass: reviewed at one version, bounded below the next, and a new one fails here."""

import ast
import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gpuaas"
REVIEWED = {
    "httptools": ("0.9.0", "main/front_end.py: the order of parser callbacks"),
    "uvicorn": ("0.54.0", "main/front_end.py: HttpToolsProtocol; main/websockets.py: WebSocketsSansIOProtocol"),
    "websockets": (
        "17.4",
        "agent/link.py: ClientConnection; core/frames.py: apply_mask; main/websockets.py: states",
    ),
}
"""Distribution: the version whose source was read, and what has to be read again before this line is changed."""
DOCUMENTED = {"litestar", "msgspec", "prometheus_client", "typer"}
"""Bases of these are made to be subclassed, as their manuals show."""


def requirements(name: str, text: str) -> list[Requirement]:
    project = tomllib.loads(text)["project"]
    lines = [*project["dependencies"], *(line for lines in project["optional-dependencies"].values() for line in lines)]
    return [found for found in map(Requirement, lines) if found.name == name]


def unbounded(name: str, text: str) -> list[str]:
    """Why an installation could bring a version that nobody has reviewed."""
    reviewed = REVIEWED[name][0]
    major, minor = (int(part) for part in reviewed.split(".")[:2])
    found = requirements(name, text)
    tight = [each for each in found if f"{major}.{minor + 1}" not in each.specifier]
    return [
        *([f"{name} is required without a bound below {major}.{minor + 1}"] if not tight else []),
        *(f"{each} excludes {reviewed}, which was reviewed" for each in found if reviewed not in each.specifier),
        *(f"{each} has no upper bound" for each in found if f"{major + 1}.0" in each.specifier),
    ]


def subclassed(files: dict[str, str]) -> dict[str, set[str]]:
    """Third-party packages by the classes of theirs that ours derive from."""
    found: dict[str, set[str]] = {}
    for text in files.values():
        tree = ast.parse(text)
        modules = {
            alias.asname or alias.name: node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        } | {name.name: name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        for node in ast.walk(tree):
            for base in node.bases if isinstance(node, ast.ClassDef) else ():
                name = re.split(r"[.\[]", ast.unparse(base))[0]
                package = modules.get(name, "builtins").partition(".")[0]
                if package not in sys.stdlib_module_names and package != "gpuaas":
                    found.setdefault(package, set()).add(ast.unparse(base))
    return found


@pytest.mark.parametrize("name", REVIEWED)
def test_the_installed_version_is_the_one_that_was_reviewed(name: str) -> None:
    reviewed, where = REVIEWED[name]
    assert version(name) == reviewed, f"{name} is new: compare what we rely on ({where}), then change REVIEWED"


@pytest.mark.parametrize("name", REVIEWED)
def test_a_server_and_a_node_never_install_the_next_version(name: str) -> None:
    assert unbounded(name, (ROOT / "pyproject.toml").read_text()) == []


def test_a_bound_that_is_missing_is_noticed() -> None:
    planted = '[project]\ndependencies = ["uvicorn>=0.54"]\n[project.optional-dependencies]\n'
    assert unbounded("uvicorn", planted) == [
        "uvicorn is required without a bound below 0.55",
        "uvicorn>=0.54 has no upper bound",
    ]


def test_each_library_that_we_subclass_is_reviewed_or_made_for_it() -> None:
    found = subclassed({str(path): path.read_text() for path in SOURCE.rglob("*.py")})
    assert set(found) <= {*REVIEWED, *DOCUMENTED}, found
    assert {"uvicorn", "websockets"} <= set(found)


def test_a_new_subclass_of_another_library_is_noticed() -> None:
    planted = "from asyncpg.connection import Connection\nclass Ours(Connection[int]):\n    pass\n"
    assert subclassed({"planted.py": planted}) == {"asyncpg": {"Connection[int]"}}
