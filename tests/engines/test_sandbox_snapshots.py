"""A snapshot of a folder that somebody goes on changing: what it holds is theirs, whatever they swap for what."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox.site import Site
from gpuaas.engines.sandbox.volumes import SandboxVolumes
from gpuaas.wire.storage import Backend, VolumeRef
from tests.engines.benches import ignore
from tests.engines.swaps import swapping

PAIRS, TRIES = 200, 3  # each try gave something away before
VOLUME = VolumeRef(volume_id="vol_1s", backend=Backend.SHARED, size_gib=1)


@pytest.fixture
async def volumes(tmp_path: Path) -> SandboxVolumes:
    made = SandboxVolumes(Site(tmp_path / "site"), tmp_path / "shared", lambda: datetime.now(UTC))
    made.open()
    await made.ensure(VOLUME, None, ignore)
    return made


async def test_links_are_copied_as_links_and_names_of_one_file_stay_so(volumes: SandboxVolumes) -> None:
    data = volumes.find(VOLUME).path
    (data / "file").write_text("kept")
    (data / "link").symlink_to("/etc/hostname")
    (data / "again").hardlink_to(data / "file")
    await volumes.snapshot(VOLUME, "snap_1s", ignore)
    copy = volumes.place(VOLUME, "snap_1s").path
    assert (copy / "link").readlink() == Path("/etc/hostname")
    assert (copy / "again").read_text() == "kept"
    assert (copy / "again").samefile(copy / "file")


async def test_a_folder_swapped_for_a_link_gives_nothing_away(volumes: SandboxVolumes, tmp_path: Path) -> None:
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
