"""`gpuaas node`: prepares a node."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.core.clock import SystemClock
from gpuaas.core.settings import default_data_folder
from gpuaas.engines.images import image_build, image_recipe, images
from gpuaas.engines.images.images import Image, ImageError

Result = TypeVar("Result")
ADDED = "image-packages"
"""In the agent's folder: packages that the operator adds to every image, one on each line."""
command = typer.Typer(
    help="Prepare this machine to be a node.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
image = typer.Typer(
    help="Base images, from which environments start.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
command.add_typer(image, name="image")
Folder = Annotated[Path | None, typer.Option(help="Folder of the agent on this node.")]
Shared = Annotated[
    str | None, typer.Option("--images", envvar=images.VARIABLE, help="Folder of images that several engines share.")
]


@command.callback()
def group() -> None:
    """Typer needs a callback to make this a group."""


@image.command()
def build(
    folder: Folder = None,
    shared: Shared = None,
    package: Annotated[list[str] | None, typer.Option(help="Debian package to add; can be repeated.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Build also when all packages are up to date.")] = False,
    if_missing: Annotated[
        bool, typer.Option("--if-missing", help="Do nothing when there is an image; packages are not compared.")
    ] = False,
) -> None:
    """Build a base image with the packages of today, unless the current one has them."""
    agent = folder or default_data_folder() / "agent"
    where = images_folder(agent, shared)
    added = [*image_recipe.read_added(agent / ADDED), *(package or [])]
    clock = SystemClock()
    began = clock.monotonic()

    async def on_phase(phase: str, note: str) -> None:
        typer.echo(f"[{clock.monotonic() - began:4.0f} s] {phase}: {note}", err=True)

    async def work() -> tuple[Image, bool]:
        if if_missing:
            before = image_build.of_recipe(where)
            made = await image_build.ensure(where, added=added, environ=os.environ, now=clock.now, on_phase=on_phase)
            return made, made != before
        return await image_build.update(
            where, added=added, environ=os.environ, now=clock.now, on_phase=on_phase, force=force
        )

    made, is_new = run(work())
    if is_new:
        size = f"{made.bytes / 1e6:.0f} MB, {len(made.packages)} packages"
        typer.echo(f"Built image {made.version} in {clock.monotonic() - began:.0f} s ({size}): {made.root}")
    elif not if_missing:
        typer.echo(f"Image {made.version} is up to date. Build it anyway with --force.")


@image.command("list")
def show(folder: Folder = None, shared: Shared = None) -> None:
    """List the images of this node; new environments start from the current one."""
    where = images_folder(folder or default_data_folder() / "agent", shared)
    chosen = images.current(where)
    found = images.list(where)
    if not found:
        typer.echo("This node has no images yet. Build one: gpuaas node image build")
    for each in found:
        used = len(images.claimants(where, each.version))
        mark = "current" if each == chosen else ""
        typer.echo(
            f"{each.version:<40} {each.built_at:%Y-%m-%d %H:%M}  {each.bytes / 1e6:5.0f} MB  "
            f"Python {each.python:<8} {used:>3} environments  {mark}".rstrip()
        )


@image.command()
def remove(version: str, folder: Folder = None, shared: Shared = None) -> None:
    """Remove an image that is not current and not in use."""
    where = images_folder(folder or default_data_folder() / "agent", shared)
    run(images.remove(where, version))
    typer.echo(f"Removed image {version}.")


@image.command()
def prune(folder: Folder = None, shared: Shared = None) -> None:
    """Remove images that no environment uses; the current one and the one before it stay. A build does it as well."""
    where = images_folder(folder or default_data_folder() / "agent", shared)
    removed = run(images.prune(where))
    typer.echo(f"Removed {len(removed)} images{': ' if removed else '.'}{', '.join(removed)}")


@image.command()
def verify(
    version: Annotated[str | None, typer.Argument(help="Default: the current image.")] = None,
    folder: Folder = None,
    shared: Shared = None,
) -> None:
    """Hash every file of an image again and name the differences."""
    where = images_folder(folder or default_data_folder() / "agent", shared)
    chosen = images.read(where, version) if version else images.current(where)
    if chosen is None:
        raise Complaint("there is no such image", next_step="gpuaas node image list", code=ExitCode.NOT_FOUND)
    if found := images.verify(chosen):
        raise Complaint(
            f"image {chosen.version} was changed: {len(found)} differences",
            details=found[:20],
            next_step="gpuaas node image build --force, then find out who can write there",
        )
    typer.echo(f"Image {chosen.version} is as it was built ({chosen.digest}).")


def images_folder(agent: Path, shared: str | None) -> Path:
    """The folder in which the agent looks for images."""
    return images.folder_of(agent, shared)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        return asyncio.run(work)
    except ImageError as error:
        raise Complaint(error.detail, details=error.excerpt, next_step=error.next_step) from error
    except PermissionError as error:
        raise Complaint(f"{error.filename}: {error.strerror}", next_step="run it as root") from error
