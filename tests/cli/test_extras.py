"""The base package imports without what the extras add; a command that needs an extra names it."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from gpuaas.cli.extras import MODULES
from gpuaas.main.cli import COMMANDS

ROOT = Path(__file__).parents[2]
POSIX = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
ADDED = {module for modules in MODULES.values() for module in modules}
NAME = re.compile(r"[A-Za-z0-9._-]+")
IMPORT_ALL = """
import asyncio, getpass, importlib, pkgutil, subprocess, sys, tempfile
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import gpuaas.cli, gpuaas.sdk, gpuaas.wire
for package in (gpuaas.cli, gpuaas.sdk, gpuaas.wire):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name != "gpuaas.wire.signatures":
            importlib.import_module(found.name)
print(len([name for name in sys.modules if name.startswith("gpuaas.")]))
"""
RUN = """
import sys
names, sys.argv = sys.argv[1].split(","), ["gpuaas", *sys.argv[2:]]
sys.modules.update(dict.fromkeys(names))
from gpuaas.main.cli import main
main()
"""


def python(script: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-P", "-c", script, *args], capture_output=True, text=True, check=False)


def requirements(extra: str) -> set[str]:
    """Names of the distributions that an extra adds, with those of the extras that it includes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: set[str] = set()
    for line in project["optional-dependencies"][extra]:
        if included := re.match(r"gpuaas\[(.*)\]", line):
            found.update(*(requirements(name) for name in included[1].split(",")))
        else:
            name = NAME.match(line)
            assert name is not None
            found.add(name[0])
    return {name for name in found if not any(line.startswith(name) for line in project["dependencies"])}


def test_sdk_cli_and_wire_import_without_extras_and_without_modules_of_posix() -> None:
    done = python(IMPORT_ALL, *ADDED, *POSIX)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_an_import_of_anything_missing_is_noticed() -> None:
    done = python(IMPORT_ALL, "httpx")
    assert done.returncode == 1
    assert "import of httpx halted" in done.stderr


@pytest.mark.parametrize("extra", MODULES)
def test_the_modules_of_each_extra_are_those_of_its_distributions(extra: str) -> None:
    distributions = packages_distributions()
    assert {distributions[module][0].replace("_", "-") for module in MODULES[extra]} == requirements(extra)


@pytest.mark.parametrize("name", [name for name, lazy in COMMANDS.items() if lazy.extra])
def test_a_command_without_its_extra_says_what_to_install(name: str) -> None:
    extra = COMMANDS[name].extra
    done = python(RUN, ",".join(MODULES[extra]), name)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"next: pip install 'gpuaas[{extra}]'" in done.stderr
    assert all(module in done.stderr for module in MODULES[extra])


def test_the_commands_of_the_platform_are_those_with_an_extra() -> None:
    assert {lazy.module.startswith("gpuaas.main.") for lazy in COMMANDS.values() if lazy.extra} == {True}
    assert all(lazy.extra for lazy in COMMANDS.values() if lazy.module.startswith("gpuaas.main."))


def test_verifying_an_audit_export_needs_an_extra_and_the_other_audit_commands_do_not(tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    export.write_text("")
    words = ("admin", "audit", "verify", "--file", str(export))
    without, with_it = python(RUN, "cryptography", *words), python(RUN, "", *words)
    assert (without.returncode, with_it.returncode) == (1, 0)
    assert "pip install 'gpuaas[audit]'" in without.stderr
    assert python(RUN, "cryptography", "admin", "audit", "export", "--help").returncode == 0
