"""Samples and disk reports: one that cannot be taken costs nothing but itself."""

import asyncio
from datetime import UTC, datetime

from structlog.testing import capture_logs

from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.sampling import sample
from gpuaas.engines.fake import FakeEngine
from gpuaas.engines.fake_environments import FakeSamples
from gpuaas.wire.environments import DiskReport, DiskSpace
from gpuaas.wire.metrics import Sample, Samples
from tests.engines.benches import ignore, keys, spec
from tests.patience import PATIENCE_SECONDS


def now() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


class BlindEngine(FakeEngine):
    """Its disk cannot be looked at."""

    async def disk_space(self) -> DiskSpace:
        raise OSError("the disk does not answer")


class NoSamples(FakeSamples):
    async def take(self, at: datetime) -> list[Sample]:
        raise OSError(f"nothing can be measured at {at}")


async def first(engine: FakeEngine) -> object:
    outgoing = Outgoing()
    outgoing.open()
    sampling = asyncio.create_task(sample(engine, outgoing, now))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await outgoing.get()
    finally:
        sampling.cancel()
        await asyncio.wait({sampling})


async def test_samples_are_sent_when_the_disk_cannot_be_looked_at() -> None:
    engine = BlindEngine(clock=now, monotonic=lambda: 0.0)
    await engine.ensure(spec("a", keys(1)), ignore)
    with capture_logs() as logs:
        assert isinstance(await first(engine), Samples)
    assert [one["event"] for one in logs if one["log_level"] == "error"] == ["disk_report.failed"]


async def test_the_disk_is_reported_when_no_sample_can_be_taken() -> None:
    engine = FakeEngine(clock=now, monotonic=lambda: 0.0)
    engine.samples = NoSamples(engine.environments)
    with capture_logs() as logs:
        assert isinstance(await first(engine), DiskReport)
    assert [one["event"] for one in logs if one["log_level"] == "error"] == ["samples.failed"]
