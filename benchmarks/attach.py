"""Attach and detach asked of a live `gpuaas up` until they are observed; the floor of the same run is the bare mount:
a folder bound to another by `mount`, and taken off by `umount`, with nothing above them."""

import asyncio
import statistics
import time
from pathlib import Path

from benchmarks.create_to_ssh import Person, up
from benchmarks.harness import CannotMeasureError, Run, percentile
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.storage import AttachmentStatus, VolumeStatus

ROUNDS = 20
PAUSE_SECONDS = 0.002
Pair = tuple[float, float]


async def run(run: Run) -> None:
    rounds = run.options.pick(ROUNDS, 3)
    async with up(run.scratch / "up") as file:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        async with AsyncClient(file.url, token) as client:
            person = await Person.with_key(client, file, run.scratch)
            bench = Bench(client, (await person.active("attaches")).id, file.project_id or "")
            await bench.prepare()
            bare = BareMount(run.scratch / "bare")
            attached, mounted = list[Pair](), list[Pair]()
            for _ in range(rounds):
                attached.append(await bench.both())
                mounted.append(await bare.both())
    for name, mine, floor in (
        ("attach", [one[0] for one in attached], [one[0] for one in mounted]),
        ("detach", [one[1] for one in attached], [one[1] for one in mounted]),
    ):
        run.keep(f"{name} ms", mine)
        run.keep(f"bare {name} ms", floor)
        ratios = [ours / bare for ours, bare in zip(mine, floor, strict=True)]
        run.row(f"{name}, p50 of {len(mine)}", f"{statistics.median(mine):.0f} ms  p99 {percentile(mine, 0.99):.0f} ms")
        run.row(f"bare {'mount' if name == 'attach' else 'umount'}, p50", f"{statistics.median(floor):.1f} ms")
        run.row(f"{name} to the bare one", f"{statistics.median(ratios):.1f} x (worst {max(ratios):.1f})")


class Bench:
    """One machine and one volume."""

    def __init__(self, client: AsyncClient, allocation_id: str, project_id: str) -> None:
        self._client, self._machine, self._project, self._volume = client, allocation_id, project_id, ""

    async def prepare(self) -> None:
        self._volume = (await self._client.volumes.create(self._project, "attached", 1)).id
        while (found := await self._client.volumes.get(self._project, self._volume)).status is VolumeStatus.CREATING:
            await asyncio.sleep(PAUSE_SECONDS)
        if found.status is not VolumeStatus.AVAILABLE:
            raise CannotMeasureError(f"the volume is {found.status}: {found.status_reason}")

    async def both(self) -> Pair:
        began = time.perf_counter()
        made = await self._client.volumes.attach(self._machine, self._volume, "/data")
        await self._until(made.id, AttachmentStatus.ATTACHED)
        between = time.perf_counter()
        await self._client.volumes.detach(self._machine, made.id)
        await self._until(made.id, AttachmentStatus.DETACHED)
        return (between - began) * 1000, (time.perf_counter() - between) * 1000

    async def _until(self, id: str, wanted: AttachmentStatus) -> None:
        while (seen := await self._client.volumes.attachment(self._machine, id)).status is not wanted:
            if seen.status in (AttachmentStatus.FAILED, AttachmentStatus.DETACH_FAILED):
                raise CannotMeasureError(f"the attachment is {seen.status}: {seen.status_reason}")
            await asyncio.sleep(PAUSE_SECONDS)


class BareMount:
    def __init__(self, folder: Path) -> None:
        self._source, self._target = folder / "source", folder / "target"
        for each in (self._source, self._target):
            each.mkdir(parents=True)

    async def both(self) -> Pair:
        began = time.perf_counter()
        await command("mount", "--bind", "-o", "nosuid,nodev", str(self._source), str(self._target))
        between = time.perf_counter()
        await command("umount", str(self._target))
        return (between - began) * 1000, (time.perf_counter() - between) * 1000


async def command(*words: str) -> None:
    process = await asyncio.create_subprocess_exec(*words)
    if await process.wait():
        raise CannotMeasureError(f"{words[0]} needs root here")
