"""Samples of every environment, the free space of the node's disk and changed facts, every ten seconds while there is
a link. Samples that cannot be sent are dropped.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime

import structlog

from gpuaas.agent.outgoing import Outgoing
from gpuaas.engines.base import Engine
from gpuaas.wire.environments import DiskReport
from gpuaas.wire.metrics import SAMPLE_SECONDS, SAMPLES_PER_MESSAGE, Samples

FIRST_SECONDS = 1.0  # after a link opened, so that a first sample arrives soon
log = structlog.get_logger()


async def sample(
    engine: Engine, outgoing: Outgoing, now: Callable[[], datetime], seconds: float = SAMPLE_SECONDS
) -> None:
    """Run until cancelled."""
    while True:
        if not outgoing.is_open:
            await asyncio.sleep(min(FIRST_SECONDS, seconds))
            continue
        await _send_samples(engine, outgoing, now)
        await _send_disk_report(engine, outgoing, now)
        await asyncio.sleep(seconds)


async def _send_samples(engine: Engine, outgoing: Outgoing, now: Callable[[], datetime]) -> None:
    try:
        taken = await engine.samples.take(now())
    except Exception:  # house: broad-except because a failed measurement must not end the agent
        log.exception("samples.failed")
        return
    for start in range(0, len(taken), SAMPLES_PER_MESSAGE):
        outgoing.put(Samples(samples=taken[start : start + SAMPLES_PER_MESSAGE]))


async def _send_disk_report(engine: Engine, outgoing: Outgoing, now: Callable[[], datetime]) -> None:
    try:
        disk, changed = await engine.disk_space(), await engine.changed_facts()
    except Exception:  # house: broad-except because a failed check of the disk must not end the agent
        log.exception("disk_report.failed")
        return
    outgoing.put(DiskReport(disk=disk, facts=changed, at=now()))
