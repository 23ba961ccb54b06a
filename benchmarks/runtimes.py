"""A bundle that its node has, applied to a live machine until the API says that it is; the floor of the same run is
what the node itself must do at least: one bind mount and one file written whole."""

import os
import statistics
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from benchmarks.create_to_ssh import Person, up
from benchmarks.harness import CannotMeasureError, Run, interleave, percentile
from gpuaas.engines.node import files
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.runtimes import AllocationRuntime, RuntimeState, StagingStatus
from gpuaas.wire.timeline import OperationStatus
from tests.runtimes.wheels import publication

ROUNDS = 40
SLUG, VERSIONS = "tiny-data", ("1.0", "2.0")


async def run(run: Run) -> None:
    rounds = run.options.pick(ROUNDS, 4)
    wheels = run.scratch / "wheels"
    bundles = [publication(wheels, version, slug=SLUG) for version in VERSIONS]
    os.environ |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}  # for the agent below: no index is asked
    async with up(run.scratch / "up") as file, floor(run.scratch) as bare:
        async with AsyncClient(file.url) as stranger:
            tokens = {
                user.role: (await stranger.auth.login(user.email, user.password)).access_token for user in file.users
            }
        async with AsyncClient(file.url, tokens["admin"]) as operator:
            for bundle in bundles:
                await operator.admin.runtimes.publish(bundle)
        async with AsyncClient(file.url, tokens["user"]) as client:
            person = await Person.with_key(client, file, run.scratch)
            machine = await person.active("runtimes")
            began = time.perf_counter()
            for version in VERSIONS:  # the first of each stages it
                await applied(client, machine.id, version)
            run.row(f"staging of {len(VERSIONS)} small bundles", f"{time.perf_counter() - began:.1f} s")

            async def ours(number: int) -> float:
                began = time.perf_counter()
                await applied(client, machine.id, VERSIONS[number % len(VERSIONS)])
                return (time.perf_counter() - began) * 1000

            got, least = await interleave(rounds, ours, bare)
    run.keep("apply ms", got)
    run.keep("bind mount and file ms", least)
    ratios = [mine / other for mine, other in zip(got, least, strict=True)]
    run.row(
        f"apply → applied, p50 of {len(got)}", f"{statistics.median(got):.1f} ms  p99 {percentile(got, 0.99):.1f} ms"
    )
    run.row("bare bind mount + file written whole, p50", f"{statistics.median(least):.1f} ms")
    run.row("apply to the bare bind mount + file", f"{statistics.median(ratios):.1f} x (worst {max(ratios):.1f})")


async def applied(client: AsyncClient, allocation_id: str, version: str) -> AllocationRuntime:
    """Asked for, and followed on the allocation's own events until its operation has ended."""
    asked = await client.runtimes.apply(allocation_id, SLUG, version=version)
    if asked.operation_id is None:
        raise CannotMeasureError(f"nothing was begun: {asked.state}")
    async for seen in client.operations.watch(asked.operation_id, allocation_id=allocation_id):
        if seen.status is OperationStatus.FAILED:
            raise CannotMeasureError(seen.reason)
    now = await client.runtimes.get(allocation_id)
    if (now.state, now.staging) != (RuntimeState.APPLIED, StagingStatus.STAGED):
        raise CannotMeasureError(f"the runtime is {now.state}: {now.reason}")
    return now


@asynccontextmanager
async def floor(folder: Path) -> AsyncIterator["Floor"]:
    made = Floor(folder)
    try:
        yield made
    finally:
        made.close()


class Floor:
    """By system calls' own programs, with nothing above them."""

    def __init__(self, folder: Path) -> None:
        self._source, self._target, self._file = folder / "staged", folder / "seen", folder / "allocation.env"
        for path in (self._source, self._target):
            path.mkdir()

    async def __call__(self, _round: int) -> float:
        began = time.perf_counter()
        subprocess.run(["mount", "--bind", str(self._source), str(self._target)], check=True)
        files.write_whole(self._file, msgspec.json.encode({"bundle": SLUG}), mode=0o644)
        taken = (time.perf_counter() - began) * 1000
        self.close()
        return taken

    def close(self) -> None:
        if self._target.is_mount():
            subprocess.run(["umount", str(self._target)], check=True)
