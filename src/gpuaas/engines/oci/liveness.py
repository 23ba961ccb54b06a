"""Whether pid 1 of an environment is alive: running, dead by proof, or unknown.

The kernel proves death: the recorded process is gone or, if an agent died before writing the record, the environment's
control group has no process. Every other error (EMFILE, EIO, ...) is a failed observation, which says nothing about
the environment.
"""

import errno
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files, processes
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.processes import Process
from gpuaas.engines.oci.folders import Folder
from gpuaas.wire.gateway import InitProcess

NAME = "init.json"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Liveness(StrEnum):
    RUNNING = "running"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Sighting:
    """The result of one observation."""

    liveness: Liveness
    process: Process | None = None
    """The live pid 1."""

    reason: str = ""
    """Why the observation failed; empty if it succeeded."""

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    @property
    def is_dead(self) -> bool:
        return self.liveness is Liveness.DEAD

    def known(self) -> Process | None:
        """The live pid 1, or None if it is proven dead; raises if the state is unknown."""
        if self.liveness is Liveness.UNKNOWN:
            raise EngineError("the state of the environment is unknown", self.reason)
        return self.process


def record(folder: Path, pid: int) -> InitProcess:
    """Write it beside the environment's record, without a sync: a power failure ends the process too."""
    found = InitProcess(pid=pid, born=processes.born(pid), machine_boot=machine_boot())
    files.write_whole(folder / NAME, msgspec.json.encode(found), durable=False)
    return found


def machine_boot() -> str:
    return BOOT_ID.read_text().strip()


def recorded(folder: Path) -> InitProcess | None:
    """The recorded pid 1; None if the environment never booted or the boot was interrupted."""
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=InitProcess)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise OSError(errno.EIO, f"{NAME} is damaged: {error}") from error


def is_alive(init: InitProcess) -> bool:
    return processes.is_alive(init.pid, init.born) and machine_boot() == init.machine_boot


def look(folder: Path, limits: Limits, init: InitProcess | None = None) -> Sighting:
    """Observe once; `init` is the pid 1 known to the caller, otherwise the one on disk is used."""
    try:
        init = init or recorded(folder)
        if init is None:
            return _look_in_group(Folder(folder).container, limits)
        if is_alive(init):
            return Sighting(Liveness.RUNNING, Process(init.pid, init.born))
        return Sighting(Liveness.DEAD)
    except OSError as error:
        words = f"{errno.errorcode.get(error.errno or 0, 'error')} {error.strerror or error}"
        return Sighting(Liveness.UNKNOWN, reason=f"its first process cannot be looked up: {words}")


def _look_in_group(container: str, limits: Limits) -> Sighting:
    """After an interrupted boot, pid 1 is the first process of the control group, if any."""
    found = limits.members(container)
    if not found:
        return Sighting(Liveness.DEAD)
    process = Process(min(found), processes.born(min(found)))
    if process.pid not in limits.members(container):  # it ended meanwhile, and its pid may be reused
        raise OSError(errno.ESRCH, "its processes are changing")
    return Sighting(Liveness.RUNNING, process)
