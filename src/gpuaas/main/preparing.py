"""Prepares the node of `gpuaas up` before its agent starts, as the user who runs the agent."""

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from gpuaas.agent import identity
from gpuaas.cli.complaints import Complaint
from gpuaas.core.clock import SystemClock
from gpuaas.engines.images import image_build
from gpuaas.engines.images.images import ImageError
from gpuaas.engines.oci import requirements
from gpuaas.main.agent import ENGINES, enrol_node, images_folder
from gpuaas.main.engine_kinds import EngineKind


async def ensure_image(folder: Path, engine: EngineKind, tell: Callable[[str], None]) -> None:
    """Build the base image of environments, at the first start."""
    if engine is not EngineKind.OCI or requirements.missing():
        return
    began, clock = time.monotonic(), SystemClock()

    async def on_phase(phase: str, note: str) -> None:
        tell(f"[{time.monotonic() - began:4.0f} s] base image, {phase}: {note}")

    images = images_folder(folder)
    if image_build.of_recipe(images) is None:
        tell("Building the base image of environments, once on this computer (about two minutes).")
    try:
        await image_build.ensure(images, added=(), environ=os.environ, now=clock.now, on_phase=on_phase)
    except ImageError as error:
        raise Complaint(error.detail, details=error.excerpt, next_step=error.next_step) from error


async def ensure_enrolled(
    folder: Path, engine: EngineKind, url: str, *, gpus: int, token: Callable[[], Awaitable[str]]
) -> str:
    """Returns the id of the node in this folder, which connects to that server from now on."""
    if not identity.is_enrolled(folder):
        made = ENGINES[engine](folder, gpus=gpus, ssh_host=None, bind="127.0.0.1")
        await enrol_node(folder, made, url, await token())
    identity.change_server(folder, url)
    return identity.load(folder).node_id
