"""`gpuaas server` as it is, with two eyes of the benchmark in it: how many messages came up, and (S7, stated as such)
tasks that are not signed. Run as `python -m benchmarks.link_server DATA PORT`, settings as the server's."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import cast

import uvloop

from gpuaas.core import logs, settings
from gpuaas.core.clock import Clock
from gpuaas.core.secrets import TaskSigner
from gpuaas.core.settings import Settings
from gpuaas.main import server
from gpuaas.wire.link import Task

COUNTER_SECONDS = 0.2
wired = server.wired


class CountingClock:
    """A link asks for the steady time once per message that comes up, and hardly anybody else does."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self.asked = clock, 0

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        self.asked += 1
        return self._clock.monotonic()


class Unsigned:
    """The same envelope without the signature."""

    def __init__(self, signer: TaskSigner) -> None:
        self.verifier = signer.verifier

    def sign(self, body: bytes) -> Task:
        return Task(body=body, signer=self.verifier.id, signature=bytes(64))


async def tell(clock: CountingClock, file: Path) -> None:
    while True:
        draft = file.with_suffix(".draft")
        draft.write_text(f"{clock.asked} {time.monotonic()}")
        draft.replace(file)  # whoever reads it finds it whole
        await asyncio.sleep(COUNTER_SECONDS)


@asynccontextmanager
async def watched(config: Settings, dsn: str) -> AsyncIterator[server.Wired]:
    async with wired(config, dsn) as made:
        links = made.nodes.links
        clock = CountingClock(links._clock)
        links._clock = links.dispatch._clock = clock
        if os.environ.get("BENCH_UNSIGNED"):
            unsigned = cast("TaskSigner", Unsigned(made.services.task_keys.signer(1)))
            links.dispatch._signer_of = lambda _: unsigned

        async def count() -> None:
            await tell(clock, config.data / "messages")

        yield replace(made, serving=[*made.serving, count])


def main() -> None:
    config = settings.load(os.environ, data=Path(sys.argv[1]), port=int(sys.argv[2]))
    config.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    logs.configure(level=config.log_level)
    server.wired = watched  # type: ignore[assignment]
    uvloop.run(server.serve(config, None))


if __name__ == "__main__":
    main()
