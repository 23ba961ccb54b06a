"""Writes files of the engine atomically, and deletes them without following links."""

# ruff: noqa: ASYNC240 (one read of one name)

import os
from pathlib import Path

from gpuaas.engines.node import commands


def write_whole(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """Replace a file atomically; with `durable`, it also survives a power failure."""
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        left = memoryview(data)
        while left:  # an almost full disk accepts a part and refuses the next
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
    """Delete with `rm`, which follows no links and has no depth limit that a tenant could exceed."""
    there = [str(path) for path in paths if os.path.lexists(path)]
    if not there:
        return
    code, _ = await commands.attempt("rm", "-rf", "--one-file-system", "--", *there)
    if code != 0:  # an ordinary user may meet folders without permissions
        await commands.attempt("chmod", "-R", "u+rwX", "--", *there)
        await commands.run("rm", "-rf", "--one-file-system", "--", *there)
