"""Why an environment stopped: from conmon's file, and the kernel's count of OOM kills."""

import signal
from pathlib import Path

from gpuaas.engines.node import processes
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.oci import liveness
from gpuaas.engines.oci.folders import Folder
from gpuaas.wire.environments import ExitCause

SIGNALLED, KILLED = 128, 128 + signal.SIGKILL
CAUSES = {
    128 + signal.SIGHUP: ExitCause.REBOOTED_INSIDE,  # signals that reboot(2) sends to pid 1 of its pid namespace
    128 + signal.SIGINT: ExitCause.POWERED_OFF_INSIDE,
    KILLED: ExitCause.KILLED,
}


def code(path: Path) -> int | None:
    """The exit code from conmon; 128 plus the signal number if a signal ended pid 1."""
    try:
        return int(Folder(path).exit_code.read_text())
    except (FileNotFoundError, ValueError):
        return None


def cause(path: Path, limits: Limits) -> ExitCause | None:
    init = liveness.recorded(path)
    if init is not None and init.machine_boot != liveness.machine_boot():
        return ExitCause.NODE_RESTARTED
    found = code(path)
    if found is None:
        return None
    if found == KILLED and out_of_memory(Folder(path).container, limits):
        return ExitCause.OUT_OF_MEMORY
    return CAUSES.get(found, ExitCause.CRASHED if found > SIGNALLED else ExitCause.EXITED)


def is_ending(path: Path) -> bool:
    """Pid 1 has ended and conmon has not reaped it yet, because the kernel still ends other processes."""
    init = liveness.recorded(path)
    return init is not None and processes.born(init.pid) == init.born


def out_of_memory(container: str, limits: Limits) -> int:
    """Number of OOM kills in this boot."""
    folder = limits.folders(container).get("memory")
    if folder is None:
        return 0
    try:
        text = (folder / ("memory.events" if limits.version == "2" else "memory.oom_control")).read_text()
    except OSError:
        return 0
    return int(dict(line.split() for line in text.splitlines()).get("oom_kill", 0))
