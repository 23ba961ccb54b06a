"""`python -m benchmarks list | run NAME… | all | NAME…  [--quick] [--force]`."""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

import uvloop

from benchmarks import (
    api,
    attach,
    console,
    copies,
    create_to_ssh,
    dispatch,
    history,
    idle_memory,
    links,
    neighbour,
    placement,
    restart,
    revokes,
    role_changes,
    runtimes,
    startup,
    terminal,
    up_memory,
)
from benchmarks.harness import CannotMeasureError, MachineBusyError, Options, Run, measuring
from gpuaas.engines.images import images
from tests.images.real import SHARED

ALL: dict[str, tuple[str, Callable[[Run], Awaitable[None]]]] = {
    "create_to_ssh": ("S1: create to a first command over SSH, with Slurm and a bare handshake", create_to_ssh.run),
    "copies": ("S18: scp of many files and of a large one, with a plain sshd", copies.run),
    "idle_memory": ("memory of an idle environment and of a spare", idle_memory.run),
    "startup": ("S16: `gpuaas up` the first time and again", startup.run),
    "up_memory": ("S16: memory of `gpuaas up` when idle, by process, and of its spares", up_memory.run),
    "restart": ("S14: restart to SSH, with the bare engine", restart.run),
    "attach": ("attach and detach until observed, with the bare mount", attach.run),
    "revokes": ("T18: revoke to refused and to cut, with the bare engine", revokes.run),
    "role_changes": ("T18, T27: each change of access to refused and to live connections cut", role_changes.run),
    "runtimes": ("a bundle applied to a live machine, with the bare bind mount and file", runtimes.run),
    "neighbour": ("S19, T26: shell and API beside an allocation that exhausts each resource", neighbour.run),
    "placement": ("S3, S4: durable placements and placement decisions, with the bare statement", placement.run),
    "api": ("S5, S6: reading and creating over HTTP, with a FastAPI + SQLAlchemy twin", api.run),
    "dispatch": ("S7: tasks to nodes and back, with graphile-worker and procrastinate", dispatch.run),
    "history": ("S17: lists, timelines, counts and scrapes with 200,000 allocations, before and after", history.run),
    "links": ("S9, S10: 5,000 agents on one server: beats, memory, deaths, a reconnect storm", links.run),
    "console": ("Lighthouse on the main pages, commit to visible row, frames while scrolling", console.run),
    "terminal": ("S12, S13: browser terminals over two hops, with terminado over one", terminal.run),
}


async def measure(names: list[str], options: Options) -> int:
    failed = 0
    for name in names:
        try:
            async with measuring(name, options) as run:
                await ALL[name][1](run)
        except (MachineBusyError, CannotMeasureError) as refused:
            print(f"{name}: not measured: {refused}", file=sys.stderr)
            failed = 1
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", default=["all"], help="list, all, or names of benchmarks")
    parser.add_argument("--quick", action="store_true", help="short rounds, for development; the result is not kept")
    parser.add_argument("--force", action="store_true", help="measure on a busy machine and mark the result as busy")
    parser.add_argument("--seed", type=int, default=Options().seed)
    given = parser.parse_args()
    words = [word for word in given.words if word != "run"]
    if words == ["list"]:
        for name, (about, _) in ALL.items():
            print(f"{name:<14} {about}")
        return 0
    names = list(ALL) if words == ["all"] else words
    if unknown := [name for name in names if name not in ALL]:
        parser.error(f"there is no benchmark {unknown[0]}; there are {', '.join(ALL)}")
    os.environ.setdefault(images.VARIABLE, str(SHARED))  # no benchmark measures the build of an image
    options = Options(quick=given.quick, force=given.force, seed=given.seed)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(measure(names, options))


sys.exit(main())
