"""Whether the pid 1 of an environment is alive: running, dead by proof, or unknown.

Only two facts together prove death: nothing listens on the socket of pid 1 (ECONNREFUSED or ENOENT), and the process
that was recorded as pid 1 is gone. Every other error (EMFILE, EAGAIN, EIO, ...) is a failed look, and a failed look
says nothing about the environment.
"""

import errno
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox import files, processes
from gpuaas.engines.sandbox.inside import Line

NAME = "init.pid"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
NOBODY_LISTENS = (errno.ECONNREFUSED, errno.ENOENT)


class Liveness(StrEnum):
    RUNNING = "running"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Sighting:
    """The outcome of one look."""

    liveness: Liveness
    pid: int | None = None
    """The live pid 1, also when it does not answer."""

    reason: str = ""
    """Why the look failed, if it did."""

    @property
    def is_dead(self) -> bool:
        return self.liveness is Liveness.DEAD

    def known(self) -> int | None:
        """The live pid 1, or None when it is proven dead; raises when neither is known."""
        if self.liveness is Liveness.UNKNOWN and self.pid is None:
            raise EngineError("the state of the environment is unknown", self.reason)
        return self.pid


class Init(Struct, frozen=True):
    """The pid 1 of an environment, so named that a reused number is no match."""

    pid: int
    born: str
    machine_boot: str


def record(folder: Path, pid: int) -> Init:
    """Written beside the environment's record. Not durable: a power cut ends the process too."""
    found = Init(pid, processes.born(pid), BOOT_ID.read_text().strip())
    files.write_whole(folder / NAME, msgspec.json.encode(found), durable=False)
    return found


def recorded(folder: Path) -> Init | None:
    """None for an environment that never booted, or was booted by an older agent."""
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=Init)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise OSError(errno.EIO, f"{NAME} is damaged: {error}") from error


def look(folder: Path, init: Init | None = None) -> Sighting:
    """One look at an environment; `init` is what the caller remembers of its pid 1, else the record on disk counts."""
    try:
        init = init or recorded(folder)
        alive = init is not None and _is_alive(init)
    except OSError as error:
        return Sighting(Liveness.UNKNOWN, reason=_words("its first process cannot be looked up", error))
    pid = init.pid if init and alive else None
    try:
        found = answering(folder)
    except OSError as error:
        return Sighting(Liveness.UNKNOWN, pid, _words("its socket cannot be reached", error))
    if found is None and pid is None:
        return Sighting(Liveness.DEAD)
    if found is None:
        return Sighting(Liveness.UNKNOWN, pid, f"its first process {pid} is alive and does not listen")
    if init is not None and found != pid:
        return Sighting(Liveness.UNKNOWN, found, f"process {found} answers in place of process {init.pid}")
    return Sighting(Liveness.RUNNING, found)


def answering(folder: Path) -> int | None:
    """The process behind the socket; None when nothing listens there."""
    try:
        line = Line(folder)
    except OSError as error:
        if error.errno in NOBODY_LISTENS:
            return None
        raise
    try:
        return line.peer_pid
    finally:
        line.close()


def _is_alive(init: Init) -> bool:
    try:
        os.kill(init.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return processes.is_alive(init.pid, init.born) and BOOT_ID.read_text().strip() == init.machine_boot


def _words(what: str, error: OSError) -> str:
    return f"{what}: {errno.errorcode.get(error.errno or 0, 'error')} {error.strerror or error}"
