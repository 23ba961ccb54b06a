"""What is loaded when, what help says, what shells complete."""

import os
import subprocess
import sys

import pytest

from gpuaas.main.cli import COMMANDS
from tests.cli.conftest import Terminal
from tests.cli.reference import FILE, reference

HEAVY = {"httpx", "asyncpg", "litestar", "asyncssh", "rich", "pydantic", "msgspec", "uvicorn", "structlog"}


def loaded_by(*args: str) -> set[str]:
    script = f"""
import sys
sys.argv = ["gpuaas", *{args!r}]
from gpuaas.main.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: gpuaas")
    return set(done.stderr.split())


def test_help_loads_no_command_and_nothing_heavy() -> None:
    loaded = loaded_by("--help")
    assert not HEAVY & loaded
    assert not {lazy.module for lazy in COMMANDS.values()} & loaded


def test_a_command_loads_no_other_and_nothing_of_the_server() -> None:
    loaded = loaded_by("ssh", "--help")
    assert "gpuaas.cli.ssh" in loaded
    assert not {"gpuaas.cli.admin", "gpuaas.cli.login", "gpuaas.main.up"} & loaded
    assert not {"asyncpg", "litestar", "asyncssh", "rich", "click", "pygments"} & loaded


def test_daemons_load_nothing_that_only_people_need() -> None:
    assert not {"litestar", "asyncpg", "asyncssh", "rich", "pygments"} & loaded_by("agent", "--help")
    assert not {"asyncssh", "rich", "pygments"} & loaded_by("server", "--help")


STAYING = {"asyncpg", "click", "cryptography", "httpx", "litestar", "rich", "structlog", "uvloop", "websockets"}


def test_the_supervisor_of_up_stays_small() -> None:
    loaded = loaded_by("up", "--help")
    assert "gpuaas.main.up" in loaded
    assert not STAYING & loaded
    assert not [name for name in loaded if name.startswith(("gpuaas.domain", "gpuaas.agent", "gpuaas.main.up_setup"))]


def test_the_root_process_of_up_stays_small() -> None:
    script = "import gpuaas.main.root_agent, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "gpuaas.main.root_agent" in done.stdout.split()
    assert not STAYING & set(done.stdout.split())


def test_help_lists_every_command(terminal: Terminal) -> None:
    ran = terminal.run("--help")
    assert ran.code == 0
    for name, lazy in COMMANDS.items():
        assert any(line.split(None, 1) == [name, lazy.help] for line in ran.out.splitlines() if line.strip()), name


@pytest.mark.parametrize("name", [name for name, lazy in COMMANDS.items() if lazy.module.startswith("gpuaas.cli.")])
def test_every_command_explains_itself_in_eighty_columns(terminal: Terminal, name: str) -> None:
    ran = terminal.run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert all(len(line) <= 80 for line in ran.out.splitlines())


def test_the_reference_is_complete() -> None:
    assert FILE.read_text() == reference(), "run: python -m tests.cli.reference"


@pytest.mark.parametrize(("typed", "offered"), [("gpuaas allo", "allocations"), ("gpuaas admin no", "nodes")])
def test_shells_complete_commands(typed: str, offered: str) -> None:
    environ = {
        **os.environ,
        "_GPUAAS_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    line = [sys.executable, "-c", "from gpuaas.main.cli import main; main()"]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [offered]
