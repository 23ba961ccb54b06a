"""`gpuaas up`: everything on this machine, from one command."""

import asyncio
import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TextIO

import httpx
import typer
import uvloop
from msgspec.structs import replace

from gpuaas.agent import identity
from gpuaas.core import logs
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.embedded import Embedded
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.migrate import migrate
from gpuaas.core.settings import default_data_folder
from gpuaas.main import demo
from gpuaas.main.agent import enrol_node, sandbox
from gpuaas.main.demo import Demo, UpFile, read

GPUS = 8
READY_SECONDS = 60.0
RESTART_SECONDS = 1.0
STOP_SECONDS = 20.0


class Child:
    """A process of ours that is started again when it ends unasked, and ends with us."""

    def __init__(self, name: str, arguments: list[str], folder: Path, environ: dict[str, str]) -> None:
        self.name, self._arguments, self._environ = name, arguments, environ
        self._log = folder / "logs" / f"{name}.log"
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False

    async def run(self) -> None:
        while not self._stopping:
            with self._log.open("ab") as out:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "gpuaas.main",
                    *self._arguments,
                    "--with-parent",
                    str(os.getpid()),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env={**os.environ, **self._environ},
                    start_new_session=True,  # Ctrl-C is for us; we tell the children in order
                )
            code = await self._process.wait()
            if not self._stopping:
                typer.echo(f"{self.name} ended with {code}; starting it again (see {self._log})", err=True)
                await asyncio.sleep(RESTART_SECONDS)

    async def stop(self) -> None:
        self._stopping = True
        if self._process and self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


class Up:
    def __init__(self, folder: Path, port: int, *, with_demo: bool) -> None:
        self._folder, self._port, self._with_demo = folder, port, with_demo
        self._url = f"http://127.0.0.1:{port}"
        self._file = folder / "up.json"
        self._agent_folder = folder / "agent"
        self._postgres = Embedded(folder / "postgres")
        self._children: list[Child] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, began: float) -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        try:
            file = await self._start()
            typer.echo(greeting(file, time.monotonic() - began, shutil.which("gpuaas") or sys.argv[0]))
            await stop.wait()
            typer.echo("\nStopping: environments are kept, and boot again at the next `gpuaas up`.")
        finally:
            await self._stop()

    async def _start(self) -> UpFile:
        dsn = await self._postgres.start()
        await migrate(dsn)
        async with self._demo(dsn) as world:
            file = read(self._file) or demo.people(self._url, demo=self._with_demo)
            file = replace(file, url=self._url)
            demo.write(self._file, file)
            file = await world.ensure_people(file, demo=self._with_demo)
            await world.ensure_catalog()
            demo.write(self._file, file)
            data = ["--data", str(self._folder), "--port", str(self._port)]
            await self._launch("server", ["server", *data], {"GPUAAS_DSN": dsn})
            await self._until(self._server_ready, "the server")
            await self._ensure_node(world)
            await self._launch(
                "agent", ["agent", "--folder", str(self._agent_folder), "--gpus", str(GPUS), "--stop-environments"], {}
            )
            await self._until(self._node_ready, "the node")
        return file

    @asynccontextmanager
    async def _demo(self, dsn: str) -> AsyncIterator[Demo]:
        clock = SystemClock()
        db = await connect(dsn, DbRole.WORKER, hints=Hints("up"), size=2)
        try:
            yield Demo(db, Ids(clock), clock.now())
        finally:
            await db.close()

    async def _ensure_node(self, world: Demo) -> None:
        if not identity.is_enrolled(self._agent_folder):
            engine = sandbox(self._agent_folder, gpus=GPUS, ssh_host=None, bind="127.0.0.1")
            await enrol_node(self._agent_folder, engine, self._url, await world.enrolment_token())
        identity.change_server(self._agent_folder, self._url)
        if self._with_demo:
            await world.approve_slots(identity.load(self._agent_folder).node_id, GPUS)

    async def _launch(self, name: str, arguments: list[str], environ: dict[str, str]) -> None:
        child = Child(name, arguments, self._folder, environ)
        self._children.append(child)
        self._tasks.append(asyncio.create_task(child.run()))

    async def _until(self, ready: Callable[[httpx.AsyncClient], Awaitable[bool]], what: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        async with httpx.AsyncClient(base_url=self._url, timeout=2) as http:
            while not await ready(http):
                if time.monotonic() > deadline:
                    raise typer.Exit(complain(f"{what} was not ready in time; see {self._folder}/logs"))
                await asyncio.sleep(0.03)

    async def _server_ready(self, http: httpx.AsyncClient) -> bool:
        try:
            return (await http.get("/readyz")).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    async def _node_ready(self, http: httpx.AsyncClient) -> bool:
        answer = await http.get("/readyz")
        return answer.status_code == httpx.codes.OK and answer.json()["links"] > 0

    async def _stop(self) -> None:
        for child in reversed(self._children):
            await child.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._postgres.stop()


def greeting(file: UpFile, seconds: float, program: str) -> str:
    people = "\n".join(f"  {user.role:<6} {user.email:<24} {user.password}" for user in file.users)
    first = file.users[0]
    return f"""
GPUaaS is up at {file.url} (ready in {seconds:.1f} s). Ctrl-C stops it.

{people}

Next, in another terminal:
  {program} login --url {file.url} --email {first.email}
  {program} ssh-keys add
  {program} allocations create --sku sim-h200-slice --name first && {program} ssh first
"""


def complain(message: str) -> int:
    typer.echo(f"gpuaas up: {message}", err=True)
    return 1


def lock(folder: Path) -> TextIO | None:
    """Held while we live; the kernel lets go of it however we end."""
    file = (folder / "up.lock").open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return file


def command(
    data: Annotated[Path | None, typer.Option(help="Folder that holds everything.")] = None,
    port: Annotated[int, typer.Option(help="Port of the API, on loopback.")] = 8080,
    demo: Annotated[bool, typer.Option("--demo/--no-demo", help="With a demo tenant, user and approved slots.")] = True,
) -> None:
    """Run a whole GPUaaS on this machine: PostgreSQL, control plane, one node with the sandbox engine."""
    began = time.monotonic()
    folder = (data or default_data_folder()).absolute()
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)
    held = lock(folder)
    if held is None:
        running = read(folder / "up.json")
        typer.echo(f"GPUaaS runs from {folder} already{f', at {running.url}' if running else ''}. Nothing was changed.")
        return
    logs.configure(level="warning", human=True)
    with held:
        uvloop.run(Up(folder, port, with_demo=demo).run(began))
