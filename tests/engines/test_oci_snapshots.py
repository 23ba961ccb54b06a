"""A snapshot of a folder that somebody goes on changing: what it holds is theirs, whatever they swap for what."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands
from gpuaas.engines.node.site import Site
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.storage import Backend, VolumeRef
from tests.engines.benches import eventually, ignore
from tests.engines.swaps import swapping

PAIRS, TRIES = 200, 3  # each try gave something away before
VOLUME = VolumeRef(volume_id="vol_1s", backend=Backend.SHARED, size_gib=1)


@pytest.fixture
async def volumes(tmp_path: Path) -> NodeVolumes:
    made = NodeVolumes(Site(tmp_path / "site"), tmp_path / "shared", lambda: datetime.now(UTC))
    await made.open()
    await made.ensure(VOLUME, None, ignore)
    return made


async def test_links_are_copied_as_links_and_names_of_one_file_stay_so(volumes: NodeVolumes) -> None:
    data = volumes.find(VOLUME).path
    (data / "file").write_text("kept")
    (data / "link").symlink_to("/etc/hostname")
    (data / "again").hardlink_to(data / "file")
    await volumes.snapshot(VOLUME, "snap_1s", ignore)
    copy = volumes.place(VOLUME, "snap_1s").path
    assert (copy / "link").readlink() == Path("/etc/hostname")
    assert (copy / "again").read_text() == "kept"
    assert (copy / "again").samefile(copy / "file")


async def test_a_folder_swapped_for_a_link_gives_nothing_away(volumes: NodeVolumes, tmp_path: Path) -> None:
    data, others = volumes.find(VOLUME).path, tmp_path / "others"
    others.mkdir()
    (others / "secret").touch()
    pairs = [(data / f"folder{n}", data / f"link{n}") for n in range(PAIRS)]
    for folder, link in pairs:
        folder.mkdir()
        link.symlink_to(others)
    with swapping(pairs):
        for n in range(TRIES):
            with suppress(EngineError):  # that names came and went is no reason to read elsewhere
                await volumes.snapshot(VOLUME, f"snap_{n}s", ignore)
    found = [folder for folder, _, files in os.walk(tmp_path / "shared") if "secret" in files]
    assert found == []


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted")
async def test_a_copy_that_the_disk_has_no_room_for_leaves_it_none_the_fuller(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "small", shared], check=True)
    try:
        volumes = NodeVolumes(Site(tmp_path / "site"), shared, lambda: datetime.now(UTC))
        await volumes.open()
        await volumes.ensure(VOLUME, None, ignore)
        (volumes.find(VOLUME).path / "large").write_bytes(bytes(range(256)) * 2800)
        before = os.statvfs(shared).f_bfree
        with pytest.raises(EngineError, match="could not be copied") as refused:
            await volumes.snapshot(VOLUME, "snap_1s", ignore)
        assert "No space left on device" in refused.value.detail
        assert (os.statvfs(shared).f_bfree, [*shared.glob("*snap_1s*"), *shared.glob(".*new")]) == (before, [])
    finally:
        subprocess.run(["umount", shared], check=True)


@pytest.mark.parametrize("is_mortal", [True, False])
async def test_a_copy_ends_with_the_agent_that_asked_for_it(is_mortal: bool) -> None:
    """What a dead agent left copying would write into what the next one makes."""
    seconds = f"{1000 + is_mortal}.25"
    asked = f"commands.mortal('sleep', '{seconds}')" if is_mortal else f"('sleep', '{seconds}')"
    agent = f"import asyncio; from gpuaas.engines.node import commands; asyncio.run(commands.attempt(*{asked}))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", agent)
    pids: list[str] = []

    async def is_running() -> bool:
        pids[:] = (await commands.attempt("pgrep", "-f", f"^sleep {seconds}"))[1].split()
        return bool(pids)

    async def is_over() -> bool:
        return not await is_running()

    await eventually(is_running)
    process.kill()
    await process.wait()
    if is_mortal:
        await eventually(is_over)
    else:
        assert await is_running()  # the twin
        os.kill(int(pids[0]), signal.SIGKILL)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize(("uid", "is_proven"), [(1_000_001_000, True), (0, False)], ids=["guest", "daemon"])
async def test_only_a_process_of_the_node_can_have_a_deleted_volume(
    volumes: NodeVolumes, uid: int, *, is_proven: bool
) -> None:
    """People inside name their processes as they like."""
    name = f"/mnt/{VOLUME.volume_id}@1.1"
    with subprocess.Popen([name, "1000000"], executable="/bin/sleep", user=uid) as process:
        proof = await volumes.delete(VOLUME, ignore)
        process.kill()
    assert [item.item for item in proof if not item.ok] == ([] if is_proven else ["devices"])
