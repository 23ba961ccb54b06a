"""The gateway process: one per folder, from start to stop or handover."""

import asyncio
import fcntl
import gc
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

from gpuaas.core.clock import SystemClock
from gpuaas.core.points import Points, points_from
from gpuaas.engines.descriptors import raise_limit
from gpuaas.engines.oci.gateway_protocol import SOCKET, Channel, record_event
from gpuaas.gateway import handover, kernel
from gpuaas.gateway.control import Control
from gpuaas.gateway.limits import read_limits
from gpuaas.gateway.listeners import listen_unix
from gpuaas.gateway.service import Gateway

LOCK = "gateway.lock"
TAKE_OVER_SECONDS = 15.0
PAUSE_SECONDS = 0.02
OOM_SCORE = -500


async def serve(root: Path, version: str, points: Points) -> None:
    raise_limit()
    lock = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    async with asyncio.timeout(TAKE_OVER_SECONDS):
        inherited = await _take_place(root, lock)
    gateway = Gateway(root, clock=SystemClock(), version=version, limits=read_limits(root))
    for event in inherited.events:
        record_event(gateway.node.logins, event)
    for record, descriptors in inherited.terminals:
        pidfd = kernel.open_process(record.pid, record.born)
        if pidfd is None:
            for descriptor in descriptors:
                os.close(descriptor)
        else:
            gateway.terminals.add(record, pidfd, descriptors)
    await gateway.start(inherited.environments)
    control = Control(gateway, inherited.control or listen_unix(root / SOCKET, 0o600), points)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, control.over.set)
    gc.collect()
    gc.freeze()  # reduces copied pages after a fork
    await control.over.wait()
    if control.successor is not None:
        await _leave(gateway, control, control.successor, lock)
    control.close()


async def _take_place(root: Path, lock: int) -> handover.Inheritance:
    """Start, or take over from a running gateway. A gateway that died during its handover leaves only the lock."""
    inherited: handover.Inheritance | None = None
    while not _try_lock(lock):
        if inherited is None:
            with suppress(OSError):
                inherited = await handover.take(root)
        await asyncio.sleep(PAUSE_SECONDS)
    return inherited or handover.Inheritance()


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _leave(gateway: Gateway, control: Control, successor: Channel, lock: int) -> None:
    """Hand over to the successor, then wait for sessions that are children of this process."""
    idle = asyncio.Event()
    gateway.node.on_session_end = idle.set
    control.drop_clients()
    try:
        await handover.give(successor, gateway, control.listener)
    except OSError:
        pass  # it died; the next gateway adopts by the records
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)
    while gateway.node.sessions or gateway.terminals.here:
        idle.clear()
        await idle.wait()


def run(root: Path, version: str) -> None:
    level = os.environ.get("GPUAAS_LOG_LEVEL", "info").upper()
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    os.umask(0o022)
    kernel.hide_from_tracers()
    with suppress(PermissionError):  # without CAP_SYS_RESOURCE the score stays, and those of other processes are raised
        kernel.set_oom_score(OOM_SCORE)
    points = points_from(os.environ.get("GPUAAS_GATEWAY_POINTS", ""))
    asyncio.run(serve(root, version, points))
