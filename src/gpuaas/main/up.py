"""`gpuaas up`: a complete platform on this computer, with one command."""

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import stat
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated, TextIO

import typer

from gpuaas.cli.complaints import Complaint
from gpuaas.core.settings import default_data_folder
from gpuaas.engines.oci import requirements
from gpuaas.main import privileges
from gpuaas.main.children import Child
from gpuaas.main.engine_kinds import EngineKind
from gpuaas.main.node_words import agent_words
from gpuaas.main.privileges import AgentUser, Plan, Situation, Sudo
from gpuaas.main.root_messages import Begin
from gpuaas.main.root_side import SUDO, SUDO_SILENT, RootSide, passed_on, spawn
from gpuaas.main.setup_side import SetupSide
from gpuaas.main.up_file import SLOTS, UpFile, read
from gpuaas.main.up_messages import DatabaseReady, Done, NeedsNode, NodeReady, NotDone, Progress, SetUp

PORT_SECONDS = 2.0  # the server of a supervisor that was just killed needs a moment to end
TRAVERSABLE = 0o711  # people reach their environments through it, but cannot list it
# For the server of one computer: a connection that has been used for a while costs PostgreSQL 8 MB.
POOL_SIZE = "4"


class Up:
    def __init__(
        self, folder: Path, port: int, *, with_demo: bool, engine: EngineKind, root: RootSide | None = None
    ) -> None:
        """`root` runs the agent if this process is not root; otherwise the agent is a child."""
        self._folder, self._port, self._with_demo, self._engine = folder, port, with_demo, engine
        self._root = root
        self._url = f"http://127.0.0.1:{port}"
        self._agent_folder, self._shared_storage = folder / "agent", folder / "shared-storage"
        self._children: list[Child | RootSide] = []

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
        wanted = SetUp(
            folder=self._folder,
            url=self._url,
            engine=self._engine,
            with_demo=self._with_demo,
            has_root=self._root is not None,
        )
        setup = await SetupSide.start(wanted)
        try:
            while True:
                match await setup.event(self._check_children):
                    case DatabaseReady(dsn):
                        self._start_server(dsn)
                    case Progress(line):
                        typer.echo(line)
                    case NeedsNode():
                        await setup.tell_node(await self._prepare_node(setup))
                    case NodeReady():
                        self._start_agent()
                    case Done(file):
                        return file
                    case NotDone(why=why, details=details, next_step=next_step):
                        raise Complaint(why, details=details, next_step=next_step)
                    case _:
                        raise Complaint("the setup process ended", next_step="start again")
        finally:
            await setup.end()

    def _start_server(self, dsn: str) -> None:
        data = ["--data", str(self._folder), "--port", str(self._port)]
        pool_size = os.environ.get("GPUAAS_POOL_SIZE", POOL_SIZE)
        self._launch("server", ["server", *data], {"GPUAAS_DSN": dsn, "GPUAAS_POOL_SIZE": pool_size})

    async def _prepare_node(self, setup: SetupSide) -> str:
        """Let the root process prepare the node; returns its id."""
        assert self._root is not None  # noqa: S101 - the setup process asks only where there is one
        self._children.append(self._root)
        begin = Begin(
            folder=self._agent_folder,
            url=self._url,
            gpus=SLOTS,
            shared_storage=self._shared_storage,
            log=self._folder / "logs" / "agent.log",
            environ=passed_on(os.environ),
        )
        return await self._root.prepare(begin, lambda: setup.token(self._check_children))

    def _start_agent(self) -> None:
        if self._root is not None:
            self._root.start()
            return
        words = agent_words(self._agent_folder, self._engine, gpus=SLOTS, shared_storage=self._shared_storage)
        self._launch("agent", words, {})

    def _launch(self, name: str, arguments: list[str], environ: dict[str, str]) -> None:
        command = [sys.executable, "-P", "-m", "gpuaas.main", *arguments, "--with-parent", str(os.getpid())]
        child = Child(name, command, self._folder / "logs" / f"{name}.log", environ)
        self._children.append(child)
        child.start()

    async def _until_port_is_free(self) -> None:
        deadline = time.monotonic() + PORT_SECONDS
        while why := refusal_of(self._port):
            if time.monotonic() > deadline:
                raise Complaint(
                    f"port {self._port} of 127.0.0.1 is not available: {why}",
                    next_step=f"gpuaas up --port {self._port + 1}, or end the program that listens there",
                )
            await asyncio.sleep(0.1)

    def _check_children(self) -> None:
        for child in self._children:
            if child.is_crash_looping:
                ended = f"the {child.name} ends right after its start"
                raise Complaint(ended, details=child.last_words(), next_step=f"less {child.log}")

    async def _stop(self) -> None:
        loading = asyncio.create_task(asyncio.to_thread(import_module, "gpuaas.core.embedded"))  # only needed here
        for child in reversed(self._children):
            await child.stop()
        await (await loading).Embedded(self._folder / "postgres").stop()


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
    """Why no program can listen on this port now; empty if it is available."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return os.strerror(error.errno or 0).lower()
    return ""


def prepare(folder: Path) -> None:
    """A new folder gets the right mode; an existing one is checked and left unchanged."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        check(folder)
    except OSError as error:
        raise Complaint(f"{folder} cannot be created: {error.strerror}", next_step="gpuaas up --data FOLDER") from error
    else:
        folder.chmod(TRAVERSABLE)  # independent of the umask
    try:
        (folder / "logs").mkdir(exist_ok=True)
        (folder / "logs").chmod(0o700)
    except OSError as error:
        raise Complaint(f"{folder} is not writable: {error.strerror}", next_step="gpuaas up --data FOLDER") from error


def check(folder: Path) -> None:
    mode = folder.stat().st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IWOTH:
        raise Complaint(f"everybody can write in {folder}", next_step=f"gpuaas up --data {folder / 'gpuaas'}")
    if stat.S_ISDIR(mode) and os.geteuid() == 0 and not mode & stat.S_IXOTH:
        raise Complaint(
            f"people reach environments through {folder}, and it is closed to them",
            next_step=f"chmod o+x {folder}",
        )


def lock(folder: Path) -> TextIO | None:
    """Held as long as this process lives; the kernel releases it."""
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
    """Run a whole GPUaaS on this computer: PostgreSQL, control plane, one node."""
    began = time.monotonic()
    root, folder = step_down(data)
    prepare(folder)
    held = lock(folder)
    if held is None:
        running = read(folder / "up.json")
        typer.echo(f"GPUaaS runs from {folder} already{f', at {running.url}' if running else ''}. Nothing was changed.")
        return
    with held:
        chosen = choose(folder, engine, root)
        if chosen.agent is AgentUser.ROOT and root is None:
            root, chosen = start_root(chosen, engine_before(folder))
        for line in chosen.words:
            typer.echo(line)
        if chosen.agent is AgentUser.OURSELVES and root is not None:
            root.leave()
            root = None
        asyncio.run(Up(folder, port, with_demo=demo, engine=chosen.engine, root=root).run(began))


def step_down(data: Path | None) -> tuple[RootSide | None, Path]:
    """Find the data folder. After `sudo make up`, and with the data of another user, root becomes that person, and
    one process stays root.
    """
    user = (data and privileges.owner(data)) or privileges.caller(os.environ) if os.geteuid() == 0 else None
    folder = privileges.data_folder_of(user, data.absolute() if data else None) if user else None
    if user is None or folder is None or not privileges.can_run_us(user):
        return None, (data or default_data_folder()).absolute()
    if data is not None and not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(TRAVERSABLE)
        os.chown(folder, user.pw_uid, user.pw_gid)
    root = spawn(())
    privileges.become(user)
    typer.echo(f"The agent runs as root, everything else as {user.pw_name}, with its data in {folder}.")
    return root, folder


def choose(folder: Path, asked: EngineKind | None, root: RootSide | None) -> Plan:
    is_root, before = os.geteuid() == 0, engine_before(folder)
    situation = Situation(
        is_root=is_root,
        has_root_process=root is not None,
        sudo=Sudo.NO if is_root or root or EngineKind.FAKE in (asked, before) else privileges.look_at_sudo(),
        lacks=requirements.missing() if is_root else requirements.missing_on_node(),
        asked=asked,
        before=before,
    )
    return privileges.plan(situation)


def start_root(chosen: Plan, before: EngineKind | None) -> tuple[RootSide | None, Plan]:
    """Start it with sudo, which may ask for a password. Without the password use the fake engine, unless there are
    environments.
    """
    if not chosen.asks:
        return spawn(SUDO_SILENT), chosen
    without = "" if before is EngineKind.OCI else " To start without root: gpuaas up --engine fake"
    typer.echo(f"Only the agent needs root, and sudo starts it.{without}")
    root = spawn(SUDO)
    if root.wait_until_ready():
        return root, chosen
    if before is EngineKind.OCI:
        raise Complaint("sudo did not start the agent", next_step="try again, or start it as root")
    return None, privileges.without_root(["root"])


def engine_before(folder: Path) -> EngineKind | None:
    """The engine with which the node in this folder last ran."""
    try:
        file = read(folder / "up.json")
        if file and file.engine:
            return EngineKind(file.engine)
        return EngineKind.OCI if (folder / "agent" / "oci").exists() else None
    except PermissionError:  # a folder of root
        return EngineKind.OCI
