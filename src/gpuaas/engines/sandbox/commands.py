"""Programs of the machine that the engine runs, awaited and never hidden when they fail."""

import asyncio
import os

from gpuaas.engines.base import EngineError

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C.UTF-8"}


async def attempt(*argv: str, text: str = "") -> tuple[int, str]:
    """Exit code and everything it said."""
    given = os.memfd_create("input")  # a file, not a pipe: nobody has to feed it while the program runs
    try:
        os.write(given, text.encode())
        os.lseek(given, 0, os.SEEK_SET)
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=ENVIRONMENT,
            stdin=given,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except FileNotFoundError:
        return 127, f"{argv[0]} is not installed"
    finally:
        os.close(given)
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode(errors="replace").strip()


async def run(*argv: str, text: str = "") -> str:
    code, output = await attempt(*argv, text=text)
    if code != 0:
        raise EngineError("the node could not prepare the environment", f"{' '.join(argv)} → {code}: {output}")
    return output


def find(program: str) -> str | None:
    """Where a program is, looked for in the system's folders only."""
    paths = (os.path.join(folder, program) for folder in PATH.split(":"))  # noqa: PTH118 (plain strings for exec)
    return next((path for path in paths if os.access(path, os.X_OK)), None)
