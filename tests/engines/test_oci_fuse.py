"""Shared volumes on a real FUSE file system, which the kernel cannot idmap: one owner everywhere, and no way out."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.site import Site
from gpuaas.engines.storage.serving import FIRST_ID, OOM_SCORE, OPEN_FILES
from gpuaas.engines.storage.volumes import NodeVolumes, owners_of
from gpuaas.wire.metrics import Metric
from gpuaas.wire.storage import Backend, VolumeRef
from tests.engines.benches import REPOSITORY, OciBench, ignore, oci
from tests.engines.test_oci_root_inside_and_volumes import HOLDERS, systemd_machine
from tests.engines.test_oci_storage import machine, new
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
# A process that stands in a folder of a volume while another one puts a link to the node's files in its place.
INTRUDER = r"""
import os, sys
from gpuaas.engines.storage import serving
source, secret, view = sys.argv[1:]
if view == "served":
    os.chdir(f"/proc/self/fd/{serving.serve(source, 'vol_trap', 0)}")
else:
    os.chdir(view)
os.chdir("folder")
os.rename(f"{source}/folder", f"{source}/gone")
os.symlink(secret, f"{source}/folder")
try:
    print(open("secret").read())
except OSError as error:
    print(f"refused: {error.strerror}")
"""


@contextlib.contextmanager
def fuse(folder: Path, *options: str) -> Iterator[Path]:
    """A folder behind a FUSE daemon that passes everything on."""
    below, above = folder / "below", folder / "above"
    below.mkdir()
    above.mkdir()
    subprocess.run(["bindfs", *options, below, above], check=True)
    try:
        yield above
    finally:
        subprocess.run(["umount", "--lazy", above], check=True)  # a process that has just ended may still be in it


@pytest.fixture(scope="module")
async def fuse_bench(port_ranges: Iterator[range], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OciBench]:
    with fuse(tmp_path_factory.mktemp("fuse")) as storage:
        async with oci(ports=next(port_ranges), storage=storage) as bench:
            yield bench


async def test_two_environments_share_a_volume_with_one_owner(fuse_bench: OciBench, allocation_id: str) -> None:
    volume = await new(fuse_bench)
    first, second = await machine(fuse_bench, allocation_id), await machine(fuse_bench, f"{allocation_id}b")
    for each in (first, second):
        await each.attach(volume)
    assert (
        await first.says("echo mine > /data/mine; sudo touch /data/roots; sudo chown 7:8 /data/roots; umask 77") == ""
    )
    assert await second.says("stat -c %u:%g /data /data/mine /data/roots; echo more >> /data/mine") == (
        "1000:1000\n1000:1000\n7:8"
    )
    assert await first.says("cat /data/mine; touch /data/roots 2>&1 | grep -o denied") == "mine\nmore\ndenied"
    data = fuse_bench.shared / volume.volume_id / "data"
    assert {path.name: path.stat().st_uid for path in data.iterdir()} == {
        "mine": FIRST_ID + 1000,
        "roots": FIRST_ID + 7,
    }
    for each in (first, second):
        await each.detach(volume)
    assert all(proof.ok for proof in await fuse_bench.engine.volumes.delete(volume, ignore))


def daemon_of(volume: VolumeRef) -> int:
    found = subprocess.run(["pgrep", "-f", f"/{volume.volume_id}@"], check=True, capture_output=True, text=True)
    return int(found.stdout)


async def test_a_share_that_hangs_does_not_stop_samples(fuse_bench: OciBench, allocation_id: str) -> None:
    shared, local = await new(fuse_bench), await new(fuse_bench, Backend.LOCAL)
    here = await machine(fuse_bench, allocation_id)
    await here.attach(shared)
    await here.attach(local, "/local")
    os.kill(daemon_of(shared), signal.SIGSTOP)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            samples = await fuse_bench.engine.samples.take(datetime.now(UTC))
    finally:
        os.kill(daemon_of(shared), signal.SIGCONT)
    (taken,) = [one for one in samples if one.allocation_id == here.id]
    assert [one.device for one in taken.readings if one.metric is Metric.DISK_FREE] == ["", "/local"]


async def test_a_daemon_that_died_is_seen_and_replaced(fuse_bench: OciBench, allocation_id: str) -> None:
    volume, here = await new(fuse_bench), await machine(fuse_bench, allocation_id)
    await here.attach(volume)
    await here.says("echo kept > /data/file")
    os.kill(daemon_of(volume), signal.SIGKILL)
    assert "not connected" in await here.says("cat /data/file")
    seen = next(one for one in await fuse_bench.engine.observe() if one.allocation_id == here.id)
    assert seen.mounts == ()
    await here.attach(volume)
    assert await here.says("cat /data/file; grep -c ' /data ' /proc/self/mountinfo") == "kept\n1"
    assert all(item.ok for item in await fuse_bench.engine.remove(here.id, ignore))


async def test_a_daemon_works_within_limits_of_the_environment(fuse_bench: OciBench, allocation_id: str) -> None:
    volume, here = await new(fuse_bench), await machine(fuse_bench, allocation_id)
    await here.attach(volume)
    found = subprocess.run(["pgrep", "-f", f"/{volume.volume_id}@"], check=True, capture_output=True, text=True)
    daemon = int(found.stdout)
    limits = Limits(Site(fuse_bench.root).tag)
    assert set(limits.found(f"{here.id}.storage", daemon)) == {"cpu", "memory", "pids"}
    assert Path(f"/proc/{daemon}/oom_score_adj").read_text().strip() == OOM_SCORE
    few = min(OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    assert resource.prlimit(daemon, resource.RLIMIT_NOFILE) == (few, few)
    items = await fuse_bench.engine.remove(here.id, ignore)
    assert all(item.ok for item in items), items
    assert limits.residue(f"{here.id}.storage") == []


@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=() if how == "locked" else pytest.mark.soak) for how in HOLDERS]
)
async def test_a_volume_that_a_process_keeps_is_not_detached(
    fuse_bench: OciBench, allocation_id: str, how: str
) -> None:
    volume, here = await new(fuse_bench), await systemd_machine(fuse_bench, allocation_id)
    await here.attach(volume)
    keeper = await here.way.connection.create_process(f"sudo {HOLDERS[how]}")
    assert (await keeper.stdout.readline()).strip() == "in"
    with pytest.raises(EngineError, match=r"in use: "):
        await here.detach(volume)
    assert "ended" in await here.detach(volume, force=True)
    assert (await fuse_bench.engine.volumes.delete(volume, ignore))[-1].ok


async def test_the_node_says_how_owners_are_kept_and_the_backend_conforms(fuse_bench: OciBench) -> None:
    facts = (await fuse_bench.engine.probe()).facts
    assert facts["storage_shared"].value == str(fuse_bench.shared)
    assert facts["storage_shared_owners"].value == "bindfs"
    checks = await fuse_bench.engine.volumes.conform(Backend.SHARED, ignore)
    assert all(check.ok for check in checks), checks


@pytest.mark.parametrize("view", ["served", "plain"])
def test_a_link_in_place_of_a_folder_leads_nowhere(tmp_path: Path, view: str) -> None:
    """The twin shows what bindfs alone would do: it follows the link, as root of the node."""
    with fuse(tmp_path) as source:
        (source / "folder").mkdir()
        (tmp_path / "node").mkdir()
        (tmp_path / "node/secret").write_text("secret of the node")
        (tmp_path / "plain").mkdir()
        subprocess.run(["bindfs", source, tmp_path / "plain"], check=True)
        try:
            seen = subprocess.run(
                [sys.executable, "-c", INTRUDER, source, tmp_path / "node", view.replace("plain", f"{tmp_path}/plain")],
                env={**os.environ, "PYTHONPATH": f"{REPOSITORY}/src"},
                check=True,
                capture_output=True,
                text=True,
            )
        finally:
            subprocess.run(["umount", "--lazy", tmp_path / "plain"], check=True)
    expected = "refused: Too many levels of symbolic links" if view == "served" else "secret of the node"
    assert seen.stdout.strip() == expected


async def test_a_folder_that_cannot_hold_volumes_is_refused_with_the_reason(tmp_path: Path) -> None:
    with fuse(tmp_path, "--chown-deny") as shared:
        volumes = NodeVolumes(Site(tmp_path / "site"), shared, lambda: datetime.now(UTC))
        await volumes.open()
        with pytest.raises(EngineError, match="cannot hold volumes") as refused:
            await volumes.ensure(VolumeRef(volume_id="vol_1", backend=Backend.SHARED, size_gib=1), None, ignore)
        assert "no_root_squash" in refused.value.detail
        facts = volumes.describe()
        assert facts["shared"].value == "not configured"
        assert facts["shared_owners"].value.startswith("not usable: ")
        assert await volumes.present() == []


async def test_a_node_that_would_keep_other_owners_than_the_rest_is_refused(tmp_path: Path) -> None:
    with fuse(tmp_path) as shared:
        await NodeVolumes(Site(tmp_path / "one"), shared, lambda: datetime.now(UTC)).open()
        volumes = NodeVolumes(Site(tmp_path / "two"), tmp_path / "below", lambda: datetime.now(UTC))
        await volumes.open()
        assert "in the same way on all nodes" in volumes.describe()["shared_owners"].value


async def test_a_shared_folder_that_is_full_is_refused_and_used_once_it_has_space(tmp_path: Path) -> None:
    """No half written file of owners is left, which every node would refuse from then on."""
    shared, filler = tmp_path / "shared", tmp_path / "shared/filler"
    shared.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", shared], check=True)
    try:
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        volumes = NodeVolumes(Site(tmp_path / "site"), shared, lambda: datetime.now(UTC))
        await volumes.open()
        assert "No space left on device" in volumes.describe()["shared_owners"].value
        filler.unlink()
        await volumes.open()
        assert volumes.describe()["shared"].value == str(shared)
        assert sorted(path.name for path in shared.iterdir()) == [".deleted", ".owners"]
    finally:
        subprocess.run(["umount", "--lazy", shared], check=True)


def test_the_method_follows_from_what_the_folder_can_do() -> None:
    assert owners_of("", "", None).method == "idmap"
    assert owners_of("", "Invalid argument", "/usr/bin/bindfs").method == "bindfs"
    assert "apt-get install bindfs" in owners_of("", "Invalid argument", None).problem
