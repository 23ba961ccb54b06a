"""Root disks: sparse files with ext4, of the purchased size."""

# ruff: noqa: ASYNC240 (single reads of a file)

import os
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands
from gpuaas.engines.storage.volumes import GIB, REPAIRED


async def make(path: Path, disk_gib: int) -> None:
    """Create the file; the launcher sets up its contents."""
    with path.open("wb") as image:
        image.truncate(disk_gib * GIB)
    options = ("-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard")
    await commands.run("mkfs.ext4", *options, str(path))


async def fit(path: Path, disk_gib: int) -> None:
    """Resize it between two boots, while it is not mounted. It shrinks only to revert a failed resize, and only if its
    files fit. An interrupted resize is repaired and repeated."""
    wanted, found = disk_gib * GIB, _file_system_bytes(path)
    if found != wanted:
        code, said = await commands.attempt(*commands.mortal("e2fsck", "-fy", str(path)))
        if code > REPAIRED:
            raise EngineError("the file system of the root disk is damaged", said[-500:])
        if wanted > found:
            os.truncate(path, wanted)
        code, said = await commands.attempt(*commands.mortal("resize2fs", str(path), f"{disk_gib}G"))
        if code != 0:
            raise EngineError(f"the root disk cannot have {disk_gib} GiB", said[-500:])
    if path.stat().st_size != wanted:
        os.truncate(path, wanted)


def _file_system_bytes(path: Path) -> int:
    """Size in bytes from the superblock: number of blocks in two halves, and block size."""
    with path.open("rb") as image:
        image.seek(1024)
        block = image.read(1024)
    low, high = (int.from_bytes(block[at : at + 4], "little") for at in (0x4, 0x150))
    return (high << 32 | low) * (1024 << int.from_bytes(block[0x18:0x1C], "little"))
