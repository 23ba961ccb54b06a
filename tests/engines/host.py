"""A process that holds an engine, as an agent would, and does what it is told line by line on standard input."""

import asyncio
import os
import signal
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import structlog
import uvloop

from gpuaas.engines.base import EngineError
from gpuaas.engines.leases import Kept
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.engines.oci.incapable import for_this_node
from gpuaas.wire.environments import EnvironmentSpec, KeySet, Ownership
from gpuaas.wire.runtimes import BundleSpec, RuntimeDescriptor
from gpuaas.wire.spares import SpareForm
from gpuaas.wire.storage import Backend, VolumeOwnership, VolumeRef, WantedMount
from tests.engines.conversations import converse
from tests.quiet import Quiet
from tests.starving import starve

LINE_LIMIT = 1_000_000
COUNTED = {
    *("open", "os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.chmod", "os.chown", "os.symlink", "os.listdir"),
    *("os.scandir", "os.posix_spawn", "subprocess.Popen", "socket.bind", "socket.connect", "shutil.copyfile"),
}


class Crash:
    """Counts what this process asks of the machine, as the interpreter itself reports it, and dies at the n-th."""

    def __init__(self) -> None:
        self.count, self.at = 0, 0
        sys.addaudithook(self._hook)

    def _hook(self, event: str, _: tuple[object, ...]) -> None:
        if event in COUNTED:
            self.count += 1
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)

    def arm(self, at: int) -> int:
        """Die at that step from now; how many steps there were since it was last armed."""
        count, self.count, self.at = self.count, 0, at
        return count


CRASH = Crash()


class Ticks:
    """The monotonic clock, and what a test lets pass at once."""

    def __init__(self) -> None:
        self.passed = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.passed


TICKS = Ticks()


class Failing:
    """The phase of a verb at which it fails."""

    phase = ""

    def reach(self, phase: str) -> None:
        if phase == self.phase:
            raise EngineError("planted", phase)


FAILING = Failing()


class Request(msgspec.Struct):
    n: int
    verb: str
    body: Any = None


def say(message: dict[str, object]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


async def do(engine: OciEngine, request: Request) -> object:
    async def on_phase(phase: str, note: str) -> None:
        say({"n": request.n, "phase": [phase, note]})
        FAILING.reach(phase)

    async def pass_time() -> None:
        TICKS.passed += request.body
        await pass_time_of_gateway(engine, request.body)

    verbs: dict[str, Callable[[], Awaitable[object]]] = {
        "pass_time": pass_time,
        **tricks(engine, request.body),
        "lease": lambda: engine.lease(msgspec.convert(request.body[0], datetime), *request.body[1:]),
        "enforce": engine.enforce,
        "end_connection": lambda: engine.end_connection(*request.body),
        "start": engine.start,
        "close": lambda: engine.close(stop_environments=request.body),
        "probe": engine.probe,
        "disk_space": engine.disk_space,
        "changed_facts": engine.changed_facts,
        "observe": engine.observe,
        "ensure": lambda: engine.ensure(msgspec.convert(request.body, EnvironmentSpec), on_phase),
        "remove": lambda: engine.remove(request.body, on_phase),
        "set_keys": lambda: engine.set_keys(request.body[0], msgspec.convert(request.body[1], KeySet)),
        "set_ownership": lambda: engine.set_ownership(request.body[0], msgspec.convert(request.body[1], Ownership)),
        "samples": lambda: engine.samples.take(datetime.fromisoformat(request.body)),
        "stage": lambda: engine.runtimes.stage(
            msgspec.convert(request.body[0], BundleSpec), Quiet(on_phase), manifest=request.body[1]
        ),
        "unstage": lambda: engine.runtimes.unstage(request.body[0], request.body[1], Quiet(on_phase)),
        "staged": engine.runtimes.staged,
        "write_descriptor": lambda: engine.runtimes.write_descriptor(
            request.body[0], msgspec.convert(request.body[1], RuntimeDescriptor | None)
        ),
        "descriptor": lambda: engine.runtimes.descriptor(request.body),
        **storage_verbs(engine, request.body, on_phase),
        "spares_want": lambda: engine.spares.want(msgspec.convert(request.body, list[SpareForm])),
        "spares_keep": engine.spares.keep,
        "spares_report": engine.spares.report,
        "images_report": engine.images.report,
        "converse": lambda: converse(engine.terminals, *request.body),
        "connections": lambda: engine.connections(request.body),
        "end_connections": lambda: engine.end_connections(
            request.body[0], None if request.body[1] is None else frozenset(request.body[1]), request.body[2]
        ),
    }
    return await verbs[request.verb]()


def tricks(engine: OciEngine, body: Any) -> dict[str, Callable[[], Awaitable[object]]]:
    """What no agent asks of an engine."""
    return {
        "arm": lambda: arm(body),
        "starve": lambda: starve_self(body),
        "fail_at": lambda: fail_at(body),
        "break_resets": lambda: break_resets(engine, body),
        "forget_numbers": lambda: forget_numbers(engine),
    }


async def break_resets(engine: OciEngine, problem: str) -> None:
    engine._resets._methods.simulated.problem = problem


async def starve_self(free: int | None) -> None:
    starve(free)


async def arm(at: int) -> int:
    return CRASH.arm(at)


async def fail_at(phase: str) -> None:
    FAILING.phase = phase


async def forget_numbers(engine: OciEngine) -> None:
    for name in ("indexes.json", "ports.json"):
        (Path(sys.argv[1]) / name).unlink(missing_ok=True)
    engine._numbers.open()


async def pass_time_of_gateway(engine: OciEngine, seconds: float) -> None:
    """The gateway counts time by itself, from what the lease on disk says of the moment when it was given."""
    file = Path(sys.argv[1]) / "lease.json"
    if file.exists():
        kept = msgspec.json.decode(file.read_bytes(), type=Kept)
        earlier = msgspec.structs.replace(kept, node_time=kept.node_time - timedelta(seconds=seconds))
        file.write_bytes(msgspec.json.encode(earlier))
        await engine._gateway.renew_lease()


def storage_verbs(
    engine: OciEngine, body: Any, on_phase: Callable[[str, str], Awaitable[None]]
) -> dict[str, Callable[[], Awaitable[object]]]:
    def volume(place: Any) -> VolumeRef:
        return msgspec.convert(place, VolumeRef)

    volumes, mounts = engine.volumes, engine.mounts
    return {
        "volume_ensure": lambda: volumes.ensure(
            volume(body[0]), body[1], on_phase, ownership=msgspec.convert(body[2], VolumeOwnership | None)
        ),
        "volume_set_ownership": lambda: volumes.set_ownership(
            volume(body[0]), msgspec.convert(body[1], VolumeOwnership)
        ),
        "volumes_present": volumes.present,
        "volume_measure": lambda: volumes.measure(volume(body)),
        "volume_snapshot": lambda: volumes.snapshot(volume(body[0]), body[1], on_phase),
        "volume_delete": lambda: volumes.delete(volume(body), on_phase),
        "conform": lambda: volumes.conform(Backend(body), on_phase),
        "attach": lambda: mounts.attach(body[0], msgspec.convert(body[1], WantedMount), on_phase),
        "detach": lambda: mounts.detach(body[0], volume(body[1]), body[2], force=body[3], on_phase=on_phase),
    }


async def answer(engine: OciEngine, request: Request) -> None:
    try:
        say({"n": request.n, "result": await do(engine, request)})
    except EngineError as error:
        say({"n": request.n, "error": [error.reason, error.detail]})


def report_bug(task: asyncio.Task[None]) -> None:
    """What is no outcome of a verb: the test shall see it, not wait for it."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        say({"n": int(task.get_name()), "error": ["a bug", "".join(traceback.format_exception(error))]})


def made() -> OciEngine:
    root, first, last = sys.argv[1:4]
    engine = OciEngine(
        Path(root),
        clock=lambda: datetime.now(UTC),
        monotonic=TICKS,
        ports=range(int(first), int(last)),
        images_folder=Path(os.environ["GPUAAS_IMAGES"]),
        shared_storage=Path(os.environ["SHARED_STORAGE"]),
        most_spares=2,
    )
    return cast("OciEngine", for_this_node(engine, Path(root)))  # it refuses what only an engine of its own could do


async def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # standard output has the answers
    engine = made()
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    tasks: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        request = msgspec.json.decode(line, type=Request)
        task = asyncio.create_task(answer(engine, request), name=str(request.n))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        task.add_done_callback(report_bug)


uvloop.run(main())  # the agent's own loop
