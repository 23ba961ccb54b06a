"""Files of the engine: written whole or not at all, and erased without following a link."""

# ruff: noqa: ASYNC240 (one look at one name)

import os
from pathlib import Path

from gpuaas.engines.node import commands


def write_whole(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """After a crash the file is the old one or the new one; `durable` also survives a power cut."""
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        left = memoryview(data)
        while left:  # a disk that is nearly full takes a part, and refuses the next
            left = left[os.write(descriptor, left) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(path)
    if durable:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def erase(*paths: Path) -> None:
    """`rm` never follows a link and has no limit of depth, which a person inside could otherwise run us into."""
    there = [str(path) for path in paths if os.path.lexists(path)]
    if not there:
        return
    code, _ = await commands.attempt("rm", "-rf", "--one-file-system", "--", *there)
    if code != 0:  # an ordinary user meets folders that the person closed to themselves
        await commands.attempt("chmod", "-R", "u+rwX", "--", *there)
        await commands.run("rm", "-rf", "--one-file-system", "--", *there)
