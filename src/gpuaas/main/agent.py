"""`gpuaas agent`: runs on a node."""

import asyncio
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from importlib.metadata import version
from ipaddress import IPv4Network
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from gpuaas.agent import identity
from gpuaas.agent.loop import end, run_agent
from gpuaas.core import logs
from gpuaas.core.clock import SystemClock
from gpuaas.core.points import points_from
from gpuaas.core.settings import default_data_folder
from gpuaas.engines.base import Engine
from gpuaas.engines.descriptors import raise_limit
from gpuaas.engines.fake import FakeEngine
from gpuaas.engines.images import image_schedule, images
from gpuaas.engines.oci.engine import PORTS, OciEngine
from gpuaas.engines.oci.incapable import for_this_node
from gpuaas.main.children import die_with_parent
from gpuaas.main.engine_kinds import EngineKind

command = typer.Typer(
    help="Enrol and run a node's agent.", no_args_is_help=False, add_completion=False, rich_markup_mode=None
)
Folder = Annotated[Path | None, typer.Option(help="Folder of this node: its key, its journal, its environments.")]


SPARES = 8  # one for each GPU of a common node
EngineName = Annotated[EngineKind, typer.Option(help="How environments are made.")]
ImageDays = Annotated[
    int,
    typer.Option(min=0, envvar="GPUAAS_IMAGE_DAYS", help="Rebuild a base image older than this; 0: never by itself."),
]
Gpus = Annotated[int, typer.Option(help="Simulated GPUs to offer on a machine without real ones.")]


def folder_or_default(folder: Path | None) -> Path:
    return folder or default_data_folder() / "agent"


def images_folder(folder: Path) -> Path:
    return images.folder_of(folder, os.environ.get(images.VARIABLE))


def oci(
    folder: Path,
    *,
    gpus: int,
    ssh_host: str | None = None,
    bind: str = "127.0.0.1",
    ports: range = PORTS,
    shared_storage: Path | None = None,
    allowed_networks: tuple[IPv4Network, ...] = (),
    spares: int = 0,
    image_days: int = 0,
    gpu_reset: bool = True,
) -> OciEngine:
    return OciEngine(
        folder / "oci",
        clock=SystemClock().now,
        monotonic=SystemClock().monotonic,
        bind=bind,
        ssh_host=ssh_host,
        ports=ports,
        simulated_gpus=gpus,
        images_folder=images_folder(folder),
        image_days=image_days,
        allowed_networks=allowed_networks,
        shared_storage=shared_storage,
        most_spares=spares,
        gpu_reset=gpu_reset,
    )


def fake(folder: Path, *, gpus: int, spares: int = 0, **_: object) -> FakeEngine:  # noqa: ARG001 (it keeps everything in memory)
    """Keeps everything in memory, to try the console and the API where no environment can be created."""
    return FakeEngine(clock=SystemClock().now, monotonic=SystemClock().monotonic, gpus=gpus, most_spares=spares)


ENGINES: dict[EngineKind, Callable[..., Engine]] = {
    EngineKind.OCI: lambda folder, **options: for_this_node(oci(folder, **options), folder / "oci"),
    EngineKind.FAKE: fake,
}


def networks(texts: list[str]) -> tuple[IPv4Network, ...]:
    try:
        return tuple(IPv4Network(text) for text in texts)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def port_range(text: str) -> range:
    """Parse `20000-29999`, both ends included."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and last.isdigit() and 1024 <= int(first) <= int(last) < 1 << 16):  # noqa: PLR2004
        raise typer.BadParameter(f"{text} is not a range of ports such as 20000-29999")
    return range(int(first), int(last) + 1)


@command.command()
def enrol(
    server: Annotated[str, typer.Option(help="URL of the control plane.")],
    token: Annotated[str, typer.Option(envvar="GPUAAS_ENROLMENT_TOKEN", help="Single-use token of an operator.")],
    folder: Folder = None,
    gpus: Gpus = 8,
    engine: EngineName = EngineKind.OCI,
    allow_plain_http: Annotated[bool, typer.Option(help="Allow http to another machine. Not for production.")] = False,
) -> None:
    """Make this machine a node, once."""
    where = folder_or_default(folder)
    uvloop.run(enrol_node(where, ENGINES[engine](where, gpus=gpus), server, token, allow_plain_http=allow_plain_http))
    typer.echo("Enrolled. Run `gpuaas agent` now; an operator approves its slots.")


async def enrol_node(folder: Path, engine: Engine, server: str, token: str, *, allow_plain_http: bool = False) -> None:
    await identity.enrol(
        server,
        token,
        folder,
        facts=await engine.probe(),
        agent_version=version("gpuaas"),
        allow_plain_http=allow_plain_http,
        points=points_from(""),
    )


@command.command("rotate-key")
def rotate_key(
    token: Annotated[
        str, typer.Option(envvar="GPUAAS_ROTATION_TOKEN", help="Token from `gpuaas admin nodes rotate-key`.")
    ],
    folder: Folder = None,
) -> None:
    """Rotate this node's key. A running agent continues with the new key."""
    uvloop.run(identity.rotate_key(folder_or_default(folder), token))
    typer.echo("The key was rotated. The server refuses the old key.")


@command.command()
def move(
    server: Annotated[str, typer.Option(help="URL of the control plane: what its GPUAAS_URL says.")],
    folder: Folder = None,
) -> None:
    """Dial the same control plane at another URL from the next start on; the node stays the same."""
    identity.change_server(folder_or_default(folder), server)
    typer.echo(f"This node dials {server} from the next start of its agent on.")


@command.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    folder: Folder = None,
    gpus: Gpus = 8,
    engine: EngineName = EngineKind.OCI,
    bind: Annotated[str, typer.Option(help="Address on which people's SSH connections are taken.")] = "127.0.0.1",
    ssh_host: Annotated[str | None, typer.Option(help="Name or address people use to reach it; default: bind.")] = None,
    ports: Annotated[
        str, typer.Option(envvar="GPUAAS_PORTS", help="Ports for SSH, one per environment.")
    ] = f"{PORTS[0]}-{PORTS[-1]}",
    shared_storage: Annotated[
        Path | None,
        typer.Option(envvar="GPUAAS_SHARED_STORAGE", help="Folder for shared volumes that every node mounts."),
    ] = None,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(help="Private network that environments may reach, such as 10.0.8.0/24 (engine oci). Repeatable."),
    ] = None,
    spares: Annotated[
        int, typer.Option(envvar="GPUAAS_SPARES", min=0, help="Environments to prepare in advance, at most.")
    ] = SPARES,
    gpu_reset: Annotated[bool, typer.Option(envvar="GPUAAS_GPU_RESET", help="Reset GPUs after use.")] = True,
    image_days: ImageDays = 7,
    stop_environments: Annotated[bool, typer.Option(help="On SIGTERM stop environments too.")] = False,
    with_parent: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run the agent of an enrolled node until SIGTERM; environments outlive it."""
    if context.invoked_subcommand:
        return
    die_with_parent(with_parent)
    logs.configure(level=os.environ.get("GPUAAS_LOG_LEVEL", "info"))
    raise_limit()
    where = folder_or_default(folder)
    made = ENGINES[engine](
        where,
        gpus=gpus,
        ssh_host=ssh_host,
        bind=bind,
        ports=port_range(ports),
        shared_storage=shared_storage,
        allowed_networks=networks(allow_network or []),
        spares=spares,
        image_days=image_days,
        gpu_reset=gpu_reset,
    )
    # uvloop starts programs without the interpreter noticing, so no crash point would be there.
    run_loop = asyncio.run if os.environ.get("GPUAAS_POINTS") else uvloop.run
    image_age = timedelta(days=image_days) if engine is EngineKind.OCI else timedelta()
    run_loop(_run(where, made, stop_environments=stop_environments, image_age=image_age))


async def _run(folder: Path, engine: Engine, *, stop_environments: bool, image_age: timedelta) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    updates: set[asyncio.Task[None]] = set()
    if image_age and not engine.lacks:
        rebuild = image_schedule.rebuild_beside(folder)
        keeping = image_schedule.keep_fresh(images_folder(folder), image_age, now=SystemClock().now, rebuild=rebuild)
        updates.add(asyncio.create_task(keeping))
    try:
        await run_agent(
            folder=folder,
            engine=engine,
            clock=SystemClock(),
            points=points_from(os.environ.get("GPUAAS_POINTS", "")),
            stop=stop,
            stop_environments=lambda: stop_environments,
            agent_version=version("gpuaas"),
        )
    finally:
        await end(updates)
