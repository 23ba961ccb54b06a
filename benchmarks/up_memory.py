"""S16: memory of an idle `gpuaas up`: PSS of each process, PostgreSQL included, without spares and with them."""

import asyncio
import os
import re
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from benchmarks.harness import Run
from benchmarks.idle_memory import pss_mb
from benchmarks.startup import start, stop
from gpuaas.core.embedded import Embedded
from gpuaas.engines.images import images
from gpuaas.engines.node.processes import parent

LIMIT_MB = 200.0
SETTLE_SECONDS = 90  # connections of the start are closed after half a minute without use
SPARES = 8
NAMES = {
    r"postgres: .*\[local\]": "PostgreSQL, a connection",
    r"bin/postgres -D": "PostgreSQL, the postmaster",
    r"^postgres: ": "PostgreSQL, a background process",
    r"gpuaas\.main server ": "server",
    r"gpuaas\.main agent ": "agent",
    r"gpuaas\.gateway ": "SSH gateway",
    r"/gpuaas up ": "supervisor",
    r"lxcfs": "lxcfs",
}


async def run(run: Run) -> None:
    folder = run.scratch / "up"
    program, _ = await start(folder, **_variables(0))
    await stop(program)
    bare = await _idle(run, folder, spares=0)
    for name, measured in sorted(bare.items(), key=lambda item: -sum(item[1])):
        count = f"{len(measured)} of " if len(measured) > 1 else ""
        run.row(f"of it, {name}", f"{count}{sum(measured) / len(measured):.1f} MB")
    total = sum(map(sum, bare.values()))
    run.row("S16 idle memory without spares", f"{total:.0f} MB", f"≤ {LIMIT_MB:.0f} MB", met=total <= LIMIT_MB)
    # Their own processes: from one start to the next, PostgreSQL differs by more than they need.
    found = await _idle(run, folder, spares=SPARES)
    own = {name: measured for name, measured in found.items() if name not in bare}
    spares = max(map(len, own.values()), default=0)
    run.row(f"added by {spares} spares ({', '.join(own)})", f"{sum(map(sum, own.values())):.1f} MB")


async def _idle(run: Run, folder: Path, *, spares: int) -> dict[str, list[float]]:
    program, _ = await start(folder, **_variables(spares))
    try:
        await asyncio.sleep(run.options.pick(SETTLE_SECONDS, SETTLE_SECONDS // 3))
        found = defaultdict[str, list[float]](list)
        for pid, command in _processes(folder, program.pid).items():
            name = next((name for pattern, name in NAMES.items() if re.search(pattern, command)), command.split(" ")[0])
            with suppress(OSError, StopIteration):  # it has just ended
                found[name].append(pss_mb(pid))
        return found
    finally:
        await stop(program)


def _variables(spares: int) -> dict[str, str]:
    """With the shared image: `startup` measures the build of one."""
    return {"GPUAAS_SPARES": str(spares), images.VARIABLE: os.environ[images.VARIABLE]}


def _processes(folder: Path, supervisor: int) -> dict[int, str]:
    """Command lines by pid: what names the folder, PostgreSQL, and all that these have started."""
    commands = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                commands[int(entry.name)] = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
    found = {supervisor, *Embedded(folder / "postgres")._processes()}
    found |= {pid for pid, command in commands.items() if str(folder) in command}
    while more := {pid for pid in commands if pid not in found and parent(pid) in found}:
        found |= more
    return {pid: commands[pid] for pid in found & commands.keys()}
