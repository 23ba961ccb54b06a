"""Runs programs of the node and reports their failures."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gpuaas.engines.base import EngineError

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
PYTHON = os.path.realpath(sys.executable)
SOURCE = Path(__file__).parents[3]
ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
FOR_OURS = {**ENVIRONMENT, "PYTHONPATH": str(SOURCE)}  # for our programs; uses our folder for compiled modules
if sys.pycache_prefix:
    FOR_OURS["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix


@contextmanager
def given(text: str) -> Iterator[int]:
    """The input of a program as a file instead of a pipe, so that no task has to write it."""
    descriptor = os.memfd_create("input")
    try:
        os.write(descriptor, text.encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def ours(file: str | None, *arguments: str) -> tuple[str, ...]:
    """The command of one of our modules with only the standard library and our source; it needs `FOR_OURS`."""
    return (PYTHON, "-S", "-s", "-P", str(file), *arguments)


def mortal(*argv: str) -> tuple[str, ...]:
    """A long-running command that ends with the agent, so that a repeated attempt does not meet it."""
    return ("setpriv", "--pdeathsig", "KILL", "--", *argv)


async def attempt(*argv: str, text: str = "", environment: Mapping[str, str] = ENVIRONMENT) -> tuple[int, str]:
    """Run it; return exit code and output."""
    try:
        with given(text) as stdin:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=environment,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
    except FileNotFoundError:
        return 127, f"{argv[0]} is not installed"
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.kill()
        raise
    return process.returncode or 0, output.decode(errors="replace").strip()


async def run(*argv: str, text: str = "") -> str:
    code, output = await attempt(*argv, text=text)
    if code != 0:
        raise EngineError("the node could not prepare the environment", f"{' '.join(argv)} → {code}: {output}")
    return output


def find(program: str) -> str | None:
    """The path of a program, searched only in system folders."""
    paths = (os.path.join(folder, program) for folder in PATH.split(":"))  # noqa: PTH118 (plain strings for exec)
    return next((path for path in paths if os.access(path, os.X_OK)), None)
