"""A node that used the sandbox engine: what it leaves is removed with proof, and no volume is lost."""

import asyncio
import hashlib
import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.node import processes
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.oci.upgrade import PROOF, remove_sandbox

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to end what another id runs")


def old_node(folder: Path) -> tuple[Path, str, str]:
    """As the sandbox engine leaves it: an environment's folder, two volumes and a tombstone."""
    old = folder / "sandbox"
    (old / "environments" / "alloc_1" / "disk" / "home").mkdir(parents=True)
    for volume in ("vol_1", "vol_2"):
        (old / "volumes" / volume).mkdir(parents=True)
        (old / "volumes" / volume / "disk.img").write_text(f"data of {volume}")
    (old / "volumes" / ".deleted").mkdir()
    (old / "volumes" / ".deleted" / "vol_0").touch()
    digest = hashlib.sha256(str(old.resolve()).encode()).digest()
    return old, digest[:3].hex(), f"--engine={digest.hex()}"


async def test_a_sandbox_environment_is_removed_with_proof_and_its_volumes_are_kept(tmp_path: Path) -> None:
    old, tag, mark = old_node(tmp_path)
    new = tmp_path / "oci"
    new.mkdir()
    init = await asyncio.create_subprocess_exec("sh", "-c", "read line", mark, stdin=asyncio.subprocess.PIPE)
    subprocess.run(["ip", "netns", "add", f"gpuaas-{tag}-0"], check=True)
    subprocess.run(["ip", "link", "add", f"g{tag}-0", "type", "veth", "peer", "name", f"p{tag}"], check=True)
    limits = Limits(tag)
    limits.make("alloc_1", vcpus=1, memory_mib=64)
    assert limits.residue("alloc_1")

    items = await remove_sandbox(old, new)

    assert all(item.ok for item in items), items
    assert await init.wait() != 0  # which signal it was, the engine may have heard before this test
    assert not processes.with_argument(mark)
    assert not limits.residue("alloc_1")
    assert not old.exists()
    kept = {path.parent.name: path.read_text() for path in (new / "volumes").glob("vol_*/disk.img")}
    assert kept == {"vol_1": "data of vol_1", "vol_2": "data of vol_2"}
    assert (new / "volumes" / ".deleted" / "vol_0").exists()
    assert [item["item"] for item in msgspec.json.decode((new / PROOF).read_bytes())] == [item.item for item in items]
    assert await remove_sandbox(old, new) == []


async def test_a_removal_that_was_cut_short_goes_on_and_never_replaces_a_volume(tmp_path: Path) -> None:
    old, _, _ = old_node(tmp_path)
    new = tmp_path / "oci"
    (new / "volumes" / "vol_1").mkdir(parents=True)
    (new / "volumes" / "vol_1" / "disk.img").write_text("moved before the agent died")
    items = await remove_sandbox(old, new)
    assert all(item.ok for item in items), items
    assert (new / "volumes" / "vol_1" / "disk.img").read_text() == "moved before the agent died"
    assert (new / "volumes" / "vol_2" / "disk.img").read_text() == "data of vol_2"
