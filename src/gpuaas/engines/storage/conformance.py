"""Runs the conformance trial of one backend as a separate process."""

from pathlib import Path

import msgspec

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands
from gpuaas.wire.storage import Check

TRIAL = str(Path(__file__).with_name("storage_trial.py"))  # executed, not imported: a separate program
IMAGE_BYTES = 64 << 20


async def run(bench: Path, *, is_image: bool, is_served: bool) -> list[Check]:
    """`bench` is an empty folder on the backend; the caller removes it."""
    where, image = bench / "at", bench / "disk.img"
    where.mkdir(mode=0o711)
    if is_image:
        with image.open("wb") as file:
            file.truncate(IMAGE_BYTES)
        await commands.run("mkfs.ext4", "-q", "-F", "-m", "0", str(image))
    kind = "image" if is_image else "served" if is_served else "folder"
    trial = commands.ours(TRIAL, kind, str(where), str(image))
    code, said = await commands.attempt(*trial, environment=commands.FOR_OURS)
    lines = [line for line in said.splitlines() if line.startswith("{")]
    if code != 0 or not lines:
        raise EngineError("the conformance run did not end", said[-1000:])
    return [msgspec.json.decode(line, type=Check) for line in lines]
