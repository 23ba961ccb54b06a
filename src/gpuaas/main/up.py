"""`gpuaas up`: everything on this machine, from one command."""

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import stat
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TextIO

import httpx
import typer
import uvloop

from gpuaas.agent import identity
from gpuaas.cli.complaints import Complaint
from gpuaas.core import logs
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.embedded import Embedded
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.migrate import migrate
from gpuaas.core.settings import default_data_folder
from gpuaas.engines.images import image_build
from gpuaas.engines.images.images import ImageError
from gpuaas.engines.oci import facts
from gpuaas.main import demo
from gpuaas.main.agent import ENGINES, EngineKind, enrol_node, images_folder
from gpuaas.main.children import Child
from gpuaas.main.demo import Demo, UpFile, read

GPUS = 8
READY_SECONDS = 60.0
PORT_SECONDS = 2.0  # the server of a supervisor that was just killed needs a moment to be gone
TRAVERSABLE = 0o711  # people reach their machines through it, and see nothing else in it


class Up:
    def __init__(self, folder: Path, port: int, *, with_demo: bool, engine: EngineKind) -> None:
        self._folder, self._port, self._with_demo, self._engine = folder, port, with_demo, engine
        self._url = f"http://127.0.0.1:{port}"
        self._file = folder / "up.json"
        self._agent_folder = folder / "agent"
        self._postgres = Embedded(folder / "postgres")
        self._children: list[Child] = []

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
        await self._until_port_is_free()
        dsn = await self._postgres.start()
        await migrate(dsn)
        async with self._demo(dsn) as world:
            file = demo.people(self._url, demo=self._with_demo, kept=read(self._file))
            demo.write(self._file, file)
            file = await world.ensure_people(file, demo=self._with_demo)
            await world.ensure_catalog()
            await world.ensure_bundles()
            demo.write(self._file, file)
            data = ["--data", str(self._folder), "--port", str(self._port)]
            self._launch("server", ["server", *data], {"GPUAAS_DSN": dsn})
            await self._until(self._server_ready, "the server")
            await self._ensure_image()
            await self._ensure_node(world)
            storage = ["--shared-storage", str(self._folder / "shared-storage")]
            arguments = ["--folder", str(self._agent_folder), "--gpus", str(GPUS), "--stop-environments", *storage]
            arguments += ["--engine", self._engine]
            self._launch("agent", ["agent", *arguments], {})
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

    async def _ensure_image(self) -> None:
        """Environments start from it; the first start builds it."""
        if self._engine is not EngineKind.OCI:
            return
        began, clock = time.monotonic(), SystemClock()

        async def on_phase(phase: str, note: str) -> None:
            typer.echo(f"[{time.monotonic() - began:4.0f} s] base image, {phase}: {note}")

        folder = images_folder(self._agent_folder)
        if image_build.of_recipe(folder) is None:
            typer.echo("Building the base image of environments, once on this machine (about two minutes).")
        try:
            await image_build.ensure(folder, added=(), environ=os.environ, now=clock.now, on_phase=on_phase)
        except ImageError as error:
            raise Complaint(error.detail, details=error.excerpt, next_step=error.next_step) from error

    async def _ensure_node(self, world: Demo) -> None:
        if not identity.is_enrolled(self._agent_folder):
            engine = ENGINES[self._engine](self._agent_folder, gpus=GPUS, ssh_host=None, bind="127.0.0.1")
            await enrol_node(self._agent_folder, engine, self._url, await world.enrolment_token())
        identity.change_server(self._agent_folder, self._url)
        if self._with_demo:
            node_id = identity.load(self._agent_folder).node_id
            await world.approve_slots(node_id, GPUS)
            await world.stage_bundle(node_id)

    def _launch(self, name: str, arguments: list[str], environ: dict[str, str]) -> None:
        command = [sys.executable, "-m", "gpuaas.main", *arguments, "--with-parent", str(os.getpid())]
        child = Child(name, command, self._folder / "logs" / f"{name}.log", environ)
        self._children.append(child)
        child.start()

    async def _until_port_is_free(self) -> None:
        deadline = time.monotonic() + PORT_SECONDS
        while why := refusal_of(self._port):
            if time.monotonic() > deadline:
                raise Complaint(
                    f"port {self._port} of 127.0.0.1 cannot be had: {why}",
                    next_step=f"gpuaas up --port {self._port + 1}, or end the program that listens there",
                )
            await asyncio.sleep(0.1)

    async def _until(self, ready: Callable[[httpx.AsyncClient], Awaitable[bool]], what: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        async with httpx.AsyncClient(base_url=self._url, timeout=2) as http:
            while not await ready(http):
                for child in self._children:
                    if child.is_hopeless:
                        ended = f"the {child.name} ends right after its start"
                        raise Complaint(ended, details=child.last_words(), next_step=f"less {child.log}")
                if time.monotonic() > deadline:
                    raise Complaint(f"{what} was not ready in time", next_step=f"less {self._folder}/logs/*.log")
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
        await self._postgres.stop()


def greeting(file: UpFile, seconds: float, program: str) -> str:
    people = "\n".join(f"  {user.role:<6} {user.email:<24} {user.password}" for user in file.users)
    first = file.users[0]
    return f"""
GPUaaS is up at {file.url} (ready in {seconds:.1f} s). Ctrl-C stops it.

{people}

Next, open it in a browser and sign in; or in another terminal:
  {program} login --url {file.url} --email {first.email}
  {program} ssh-keys add
  {program} allocations create --sku sim-h200-slice --name first && {program} ssh first
"""


def refusal_of(port: int) -> str:
    """Why nobody can listen on this port now; empty if one can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return os.strerror(error.errno or 0).lower()
    return ""


def prepare(folder: Path) -> None:
    """Made by us, it is as it must be; one that was there is judged and left as it is."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        check(folder)
    except OSError as error:
        raise Complaint(f"{folder} cannot be made: {error.strerror}", next_step="gpuaas up --data FOLDER") from error
    else:
        folder.chmod(TRAVERSABLE)  # whatever the umask says
    try:
        (folder / "logs").mkdir(exist_ok=True)
        (folder / "logs").chmod(0o700)
    except OSError as error:
        raise Complaint(f"{folder} is not ours: {error.strerror}", next_step="gpuaas up --data FOLDER") from error


def check(folder: Path) -> None:
    mode = folder.stat().st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IWOTH:
        raise Complaint(f"everybody can write in {folder}", next_step=f"gpuaas up --data {folder / 'gpuaas'}")
    if stat.S_ISDIR(mode) and os.geteuid() == 0 and not mode & stat.S_IXOTH:
        raise Complaint(
            f"people reach their machines through {folder}, and it is closed", next_step=f"chmod o+x {folder}"
        )


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
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the API, on loopback.")] = 8080,
    engine: Annotated[
        EngineKind | None, typer.Option(help="How environments are made; default: oci where this machine can.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo/--no-demo", help="With a demo tenant, user and approved slots.")] = True,
) -> None:
    """Run a whole GPUaaS on this machine: PostgreSQL, control plane, one node."""
    began = time.monotonic()
    folder = (data or default_data_folder()).absolute()
    prepare(folder)
    held = lock(folder)
    if held is None:
        running = read(folder / "up.json")
        typer.echo(f"GPUaaS runs from {folder} already{f', at {running.url}' if running else ''}. Nothing was changed.")
        return
    logs.configure(level="warning", human=True)
    with held:
        uvloop.run(Up(folder, port, with_demo=demo, engine=engine or usable_engine()).run(began))


def usable_engine() -> EngineKind:
    lacks = facts.missing()
    if not lacks:
        return EngineKind.OCI
    typer.echo(f"This machine cannot make environments. Missing: {', '.join(lacks)}.")
    typer.echo("The node uses the fake engine: the console and the API work, but no allocation is real.")
    return EngineKind.FAKE
