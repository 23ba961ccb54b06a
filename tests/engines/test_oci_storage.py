"""Volumes in real environments: whose the files are, what is full, what is in use, and what people try."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.wire.environments import Environment
from gpuaas.wire.storage import AccessMode, Backend, VolumeRef, WantedMount
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys, spec
from tests.engines.swaps import swapping
from tests.patience import PATIENCE_SECONDS

NAMES = (
    r"$(printf '\377')",
    r"$(printf 'x\f1\v2\v3:4\v/vol_forged/data\v/data\vrw')",  # a line of its own to who parts it by any blank
    r"'a b\040c'",
)
TRAPS = ("ln -s / ~/trap", "ln -s /etc ~/trap", "ln -s /proc/self/root ~/trap", "touch ~/trap", "ln -s ../../.. ~/trap")
_numbers = count(1)  # with the process: other workers see the same loop devices


class Machine:
    """An environment and a person in it."""

    def __init__(self, bench: OciBench, id: str, made: Environment, way: SshWay) -> None:
        self.bench, self.id, self.made, self.way = bench, id, made, way

    async def says(self, command: str) -> str:
        done = await self.way.connection.run(command)
        return (str(done.stdout) + str(done.stderr)).strip()

    async def attach(self, volume: VolumeRef, path: str = "/data", mode: AccessMode = AccessMode.READ_WRITE) -> None:
        wanted = WantedMount(volume=volume, mount_path=path, access_mode=mode)
        await self.bench.engine.mounts.attach(self.id, wanted, ignore)

    async def detach(self, volume: VolumeRef, path: str = "/data", *, force: bool = False) -> str:
        return await self.bench.engine.mounts.detach(self.id, volume, path, force=force, on_phase=ignore)


async def machine(bench: OciBench, id: str) -> Machine:
    ada = Key()
    made = await bench.engine.ensure(spec(id, keys(1, ada)), ignore)
    way = await bench.log_in(made, ada)
    assert isinstance(way, SshWay)
    return Machine(bench, id, made, way)


async def new(bench: OciBench, backend: Backend = Backend.SHARED) -> VolumeRef:
    volume = VolumeRef(volume_id=f"vol_{os.getpid()}x{next(_numbers)}s", backend=backend, size_gib=1)
    await bench.engine.volumes.ensure(volume, None, ignore)
    return volume


@pytest.mark.parametrize("backend", list(Backend))
async def test_what_one_machine_wrote_the_next_one_owns(real: OciBench, allocation_id: str, backend: Backend) -> None:
    volume = await new(real, backend)
    first = await machine(real, allocation_id)
    await first.attach(volume)
    assert await first.says("echo kept > /data/file && stat -c %u /data/file") == "1000"
    assert all(item.ok for item in await real.engine.remove(first.id, ignore))
    second = await machine(real, f"{allocation_id}b")
    await second.attach(volume, "/home/ada/sets")
    assert await second.says(
        "cat ~/sets/file; stat -c %u ~/sets/file; echo more >> ~/sets/file; wc -l < ~/sets/file"
    ) == ("kept\n1000\n2")


async def test_read_only_is_read_only(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    await here.attach(volume, mode=AccessMode.READ_ONLY)
    assert "Read-only file system" in await here.says("touch /data/x")


async def test_a_full_volume_is_full_and_the_node_is_not(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real, Backend.LOCAL), await machine(real, allocation_id)
    await here.attach(volume)
    assert "No space left on device" in await here.says(
        "fallocate -l 1100M /data/big; dd if=/dev/zero of=/tmp/ok count=1"
    )
    assert await here.says("test -s /tmp/ok && echo there") == "there"


async def test_nothing_on_a_volume_gives_rights(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    await here.attach(volume)
    options = await here.says("grep ' /data ' /proc/self/mountinfo")
    assert "nosuid" in options
    assert "nodev" in options


async def test_what_uses_a_volume_is_named_and_ended_by_force(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    await here.attach(volume)
    holder = await here.way.connection.create_process("cd /data && echo in && exec sleep 1000000")
    assert (await holder.stdout.readline()).strip() == "in"
    with pytest.raises(EngineError, match=r"in use: (?:sleep|bash) \(pid \d+\) with /data"):
        await here.detach(volume)
    assert "1 processes" in await here.detach(volume, force=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await holder.wait()
    assert await here.says("ls -A /data; grep -c ' /data ' /proc/self/mountinfo") == "0"


async def test_a_name_that_is_no_text_is_told_as_text(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    await here.attach(volume)
    holder = await here.way.connection.create_process(
        r"exec 3> /data/$(printf 'f\377\033]0;x') && echo in && exec sleep 1000000"
    )
    assert (await holder.stdout.readline()).strip() == "in"
    with pytest.raises(EngineError, match=r"in use: (?:sleep|bash) \(pid \d+\) with /data/f\?\?\]0;x: "):
        await here.detach(volume)
    assert "1 processes" in await here.detach(volume, force=True)


async def test_what_a_folder_is_named_blinds_and_fools_nobody(real: OciBench, allocation_id: str) -> None:
    here, volumes = await machine(real, allocation_id), list[str]()
    for name in NAMES:
        volume = await new(real)
        volumes.append(volume.volume_id)
        await here.attach(volume, "/home/ada/a/b")
        assert await here.says(f'mkdir -p ~/"$(dirname {name})"; mv -T ~/a ~/{name}; ls ~/a') == (
            "ls: cannot access '/home/ada/a': No such file or directory"
        )
        seen = next(one for one in await real.engine.observe() if one.allocation_id == here.id)
        assert sorted(one.volume_id for one in seen.mounts) == sorted(volumes)
    await here.attach(await new(real), "/data")
    assert all(item.ok for item in await real.engine.remove(here.id, ignore))


async def test_a_link_laid_for_the_mount_leads_nowhere(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    for trap in TRAPS:
        await here.says(f"rm -f ~/trap; {trap}")
        for path in ("/home/ada/trap", "/home/ada/trap/below"):
            with pytest.raises(EngineError, match=r"link or a file|could not"):
                await here.attach(volume, path)
        seen = next(one for one in await real.engine.observe() if one.allocation_id == here.id)
        assert seen.mounts == (), trap
    assert volume.volume_id not in Path("/proc/self/mountinfo").read_text()


@pytest.mark.parametrize("tries", [5, pytest.param(40, marks=pytest.mark.soak)], ids=["sample", "whole"])
async def test_a_link_swapped_in_while_a_volume_is_unmounted_leads_nowhere(
    real: OciBench, allocation_id: str, tries: int
) -> None:
    """Else people could have parts of their root unmounted, and see what they cover."""
    volume, here = await new(real), await machine(real, allocation_id)
    await here.attach(volume, "/home/ada/a/run")
    await here.says("ln -s / ~/link")
    home = real.inside(here.id, "/home/ada")
    with swapping([(home / "a", home / "link")]):
        for _ in range(tries):
            with contextlib.suppress(EngineError):
                await here.detach(volume, "/home/ada/a/run")
                await here.attach(volume, "/home/ada/a/run")
    assert await here.says("grep -c ' /run ' /proc/self/mountinfo") == "1"


async def test_volumes_do_not_nest_even_if_somebody_asks(real: OciBench, allocation_id: str) -> None:
    outer, inner, here = await new(real), await new(real), await machine(real, allocation_id)
    await here.attach(outer, "/data")
    with pytest.raises(EngineError, match="would be nested"):
        await here.attach(inner, "/data/inner")
    await here.attach(inner, "/mnt/deep/inner")
    with pytest.raises(EngineError, match="would be nested"):
        await here.attach(await new(real), "/mnt/deep")


async def test_a_snapshot_brings_the_moment_back(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real, Backend.LOCAL), await machine(real, allocation_id)
    await here.attach(volume)
    await here.says("echo one > /data/a; sync")
    await here.detach(volume)
    snapshot_id = f"snap_{volume.volume_id[4:]}"
    size, note = await real.engine.volumes.snapshot(volume, snapshot_id, ignore)
    assert size > 0
    assert note
    copy = VolumeRef(volume_id=f"{volume.volume_id}c", backend=Backend.LOCAL, size_gib=1)
    await real.engine.volumes.ensure(copy, snapshot_id, ignore)
    await here.attach(volume)
    await here.says("echo two > /data/a")
    await here.attach(copy, "/mnt/copy")
    assert await here.says("cat /data/a /mnt/copy/a") == "two\none"


async def test_the_banner_names_what_lasts_and_what_does_not(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    assert "No volume is attached" in await here.says("cat /etc/gpuaas/storage")
    await here.attach(volume)
    async with here.way.connection.create_process(term_type="xterm") as shell:
        shell.stdin.write("exit\n")
        said = await shell.stdout.read()
    assert "/data is a volume: it outlives this allocation." in said
    assert "a release erases them" in said


@contextlib.contextmanager
def seen_by_the_node(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The folder of an environment with a volume mounted in it on the node's own side, where it never should be."""
    disk, volume = folder / "environment" / "disk", folder / "volume"
    inside = disk / "home" / "data"
    inside.mkdir(parents=True)
    volume.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "volume", str(volume)], check=True)
    subprocess.run(["mount", "--bind", str(volume), str(inside)], check=True)
    (volume / "precious").write_text("data")
    try:
        yield disk, volume / "precious"
    finally:
        for mounted in (inside, volume):
            subprocess.run(["umount", str(mounted)], check=True)


async def test_erasing_an_environment_stops_at_a_volume(tmp_path: Path) -> None:
    """The second guard by itself; the first is that the node never sees the mount."""
    with seen_by_the_node(tmp_path) as (disk, precious):
        with contextlib.suppress(EngineError):  # it may say that it could not go through
            await files.erase(disk)
        assert precious.exists()


def test_without_that_guard_the_data_would_be_gone(tmp_path: Path) -> None:
    """The twin: the same removal as somebody in a hurry would write it."""
    with seen_by_the_node(tmp_path) as (disk, precious):
        subprocess.run(["rm", "-rf", str(disk)], check=False, capture_output=True)
        assert not precious.exists()


async def test_a_removal_that_took_a_volume_with_it_is_no_proof(real: OciBench, allocation_id: str) -> None:
    volume, here = await new(real), await machine(real, allocation_id)
    await here.attach(volume)
    kept = real.shared / volume.volume_id / "data"
    kept.rmdir()
    items = await real.engine.remove(here.id, ignore)
    assert [item.item for item in items if not item.ok] == ["volumes"]
    kept.mkdir()
    items = await real.engine.remove(here.id, ignore)
    assert all(item.ok for item in items), items


@pytest.mark.parametrize("backend", list(Backend))
async def test_a_snapshot_leaves_nothing_of_one_that_was_cut_before_it(real: OciBench, backend: Backend) -> None:
    volume = await new(real, backend)
    snapshot_id = f"snap_{volume.volume_id[4:]}"
    roots = {Backend.SHARED: real.shared, Backend.LOCAL: real.root / "volumes"}
    folder = roots[backend] / volume.volume_id
    for name in (f".reflink-{snapshot_id}", f".reflink-{snapshot_id}.copy"):
        (folder / name).touch()
    await real.engine.volumes.snapshot(volume, snapshot_id, ignore)
    assert len(list(folder.iterdir())) == 1
    assert not [path for path in folder.parent.iterdir() if "reflink" in path.name]
