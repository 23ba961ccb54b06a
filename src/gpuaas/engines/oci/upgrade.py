"""One-time step on a node that used the `sandbox` engine: its environments end with proof, its volumes are kept.

An environment of that engine has no image and no root disk, so this engine cannot continue it. Its allocation is
reported as lost, and its volumes can be attached to another one. Volumes move by a rename, without copying data.
"""

# ruff: noqa: ASYNC240 (single reads of names)

import hashlib
import os
from pathlib import Path

import msgspec

from gpuaas.engines.node import commands, files, processes
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.oci import proofs
from gpuaas.engines.oci.network import INTERFACES
from gpuaas.wire.environments import ProofItem

NAMESPACES = Path("/run/netns")
IDS_FROM, BLOCKS, IDS_PER_BLOCK = 1_900_000_000, 100_000, 1_024
PROOF = "sandbox-removed.json"


async def remove_sandbox(old: Path, new: Path) -> list[ProofItem]:
    """`old` is the folder of the sandbox engine, `new` the folder of this one. Idempotent; a failed step is retried at
    the next start, because `old` is deleted last."""
    if not (old / "environments").is_dir():
        return []
    digest = hashlib.sha256(str(old.resolve()).encode()).digest()
    tag, mark = digest[:3].hex(), f"--engine={digest.hex()}"
    block = IDS_FROM + (int.from_bytes(digest[3:8], "big") % BLOCKS) * IDS_PER_BLOCK
    ids = range(block, block + IDS_PER_BLOCK)
    for pid in {*processes.with_argument(mark), *processes.of_uids(ids)}:
        await processes.end(pid, lambda pid: processes.has_argument(pid, mark) or processes.has_uid(pid, ids))
    await _remove_networks(tag)
    limits = Limits(tag)
    environments = sorted(path.name for path in (old / "environments").iterdir())
    for id in environments:
        await limits.remove(id)
    limits.close()
    moved = _move_volumes(old / "volumes", new / "volumes")
    await files.erase(old)
    items = [
        proofs.process_residue(ids, []),
        proofs.network_residue(_networks(tag), ""),
        proofs.group_residue([group for id in environments for group in limits.residue(id)]),
        proofs.file_residue(old),
        ProofItem(item="volumes", ok=True, evidence=f"{moved} kept with their data"),
    ]
    files.write_whole(new / PROOF, msgspec.json.format(msgspec.json.encode(items)))
    return items


def _networks(tag: str) -> list[str]:
    return [
        *(f"namespace {path.name}" for path in NAMESPACES.glob(f"gpuaas-{tag}-*")),
        *(f"interface {path.name}" for path in INTERFACES.glob(f"g{tag}-*")),
    ]


async def _remove_networks(tag: str) -> None:
    for path in INTERFACES.glob(f"g{tag}-*"):
        await commands.attempt("ip", "link", "del", path.name)
    for path in NAMESPACES.glob(f"gpuaas-{tag}-*"):
        await commands.attempt("ip", "netns", "del", path.name)
    await commands.attempt("nft", "delete", "table", "inet", f"gpuaas_{tag}")


def _move_volumes(old: Path, new: Path) -> int:
    """Volumes, snapshots and the tombstones of deleted ones."""
    if not old.is_dir():
        return 0
    moved = 0
    for folder in (old, old / ".deleted"):
        target = new / folder.relative_to(old)
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name != ".deleted" and not os.path.lexists(target / path.name):
                path.rename(target / path.name)
                moved += path.name.startswith("vol_")
    files.sync_folder(new)
    return moved
