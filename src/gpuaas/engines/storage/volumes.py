"""Creates, measures, copies and deletes volumes on this node's disk and in the folder shared by all nodes.

Each volume has a folder. A `local` volume is a file system in a file of the volume's size, which enforces the limit;
others are plain folders whose use is measured. A deleted volume leaves a tombstone, so that a late task does not
recreate it.
"""

# ruff: noqa: ASYNC240 (single reads of names)

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.node import commands, files, processes
from gpuaas.engines.node.site import Site
from gpuaas.engines.storage import conformance, linkless, serving, volume_records
from gpuaas.engines.storage.mount_process import ask
from gpuaas.engines.storage.mount_tables import MountTables
from gpuaas.engines.storage.mounting import VOLUME_UID
from gpuaas.wire.environments import Fact, ProofItem
from gpuaas.wire.storage import (
    Backend,
    Check,
    PresentVolume,
    VolumeObservation,
    VolumeOwnership,
    VolumeRef,
)

ID = re.compile(r"(vol|snap|conf)_[0-9a-z]{1,40}")
IMAGE, DATA = "disk.img", "data"
HOLDER = 1000
OWNERS = ".owners"  # in the shared folder: id of the holder on disk, the same for all nodes
TOMBSTONES = ".deleted"
GIB = 1 << 30
REPAIRED = 1  # of e2fsck: errors were corrected
NOT_CONFIGURED = "not configured"
ENFORCED, MEASURED = "enforced", "measured"
MEASURE_SECONDS = 20  # limit for counting a folder with very many files


@dataclass(frozen=True)
class Place:
    """The location of a volume: an image or a folder."""

    folder: Path
    is_image: bool

    @property
    def path(self) -> Path:
        return self.folder / (IMAGE if self.is_image else DATA)


@dataclass(frozen=True)
class Owners:
    """How environments share file owners of shared volumes; the reason if no method works."""

    method: str
    problem: str

    @property
    def holder(self) -> int:
        """The owner on disk."""
        return serving.FIRST_ID + HOLDER if self.method == serving.KIND else VOLUME_UID

    @property
    def words(self) -> str:
        return self.method or f"not usable: {self.problem}"


class NodeVolumes:
    def __init__(self, site: Site, shared: Path | None, clock: Callable[[], datetime]) -> None:
        self._site, self._shared, self._clock = site, shared, clock
        self._owners = Owners("", "the shared folder was not checked yet")
        self.tables = MountTables(site.root / "volumes", shared)

    async def open(self) -> None:
        (self.root(Backend.LOCAL) / TOMBSTONES).mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._shared:
            self._owners = await self._look(self._shared)

    async def _look(self, shared: Path) -> "Owners":
        """Check the file system of the shared folder. The node continues without an unusable folder."""
        trial = shared / f".probe_{self._site.tag}_{os.uname().nodename}"
        try:
            (shared / TOMBSTONES).mkdir(mode=0o700, parents=True, exist_ok=True)
            trial.mkdir(mode=0o700, exist_ok=True)
            order: dict[str, object] = {"verb": "probe", "source": str(trial), "ids": [VOLUME_UID, VOLUME_UID, 1]}
            answer = await ask(order)
            with contextlib.suppress(OSError):
                trial.rmdir()
            found = owners_of(str(answer["owners"]), str(answer["idmap"]), commands.find(serving.KIND))
            return _agreed(found, shared / OWNERS, trial.with_name(f"{trial.name}.new")) if found.method else found
        except (EngineError, OSError) as error:
            return Owners("", f"the shared folder cannot be used: {error}")

    def is_served(self, backend: Backend) -> bool:
        """Whether a daemon serves its volumes, because the kernel cannot idmap them."""
        return backend is Backend.SHARED and self._owners.method == serving.KIND

    def root(self, backend: Backend) -> Path:
        if backend is Backend.LOCAL:
            return self._site.root / "volumes"
        if self._shared is None:
            raise EngineError("this node has no shared storage", "start the agent with --shared-storage FOLDER")
        if not self._owners.method:
            raise EngineError("the shared storage of this node cannot hold volumes", self._owners.problem)
        return self._shared

    def has(self, volume_id: str) -> bool:
        """Whether its data exists on this node, on either backend."""
        roots = [self._site.root / "volumes", *([self._shared] if self._shared else [])]
        return any((root / volume_id / name).exists() for root in roots for name in (IMAGE, DATA))

    def place(self, volume: VolumeRef, id: str = "") -> Place:
        id = id or volume.volume_id
        if not ID.fullmatch(id):
            raise EngineError("this is not a volume", id)
        return Place(self.root(volume.backend) / id, volume.backend is Backend.LOCAL)

    def find(self, volume: VolumeRef) -> Place:
        """An existing volume: an unmounted shared folder must not be taken for an empty volume."""
        place = self.place(volume)
        if not place.path.exists():
            raise EngineError("the volume's data is not on this node", str(place.path))
        return place

    async def ensure(
        self,
        volume: VolumeRef,
        snapshot_id: str | None,
        on_phase: OnPhase,
        *,
        ownership: VolumeOwnership | None = None,
    ) -> VolumeObservation:
        place = self.place(volume)
        if self._tombstone(place).exists():
            raise EngineError("this volume was deleted and cannot be created again", volume.volume_id)
        if not place.path.exists():
            await on_phase("volume_preparing", "restoring a snapshot" if snapshot_id else "making it")
            async with self._drafted(place) as draft:
                if snapshot_id:
                    await self._copy(self._found(volume, snapshot_id), draft, volume)
                else:
                    await self._make(draft, volume)
                if ownership:
                    volume_records.write(draft.folder, ownership)
        elif ownership:
            volume_records.write(place.folder, ownership)
        return await self.measure(volume)

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        volume_records.write(self.find(volume).folder, ownership)

    async def present(self) -> list[PresentVolume]:
        """Uses a thread, because a shared folder may be slow, and there may be thousands of volumes."""
        roots = [(Backend.LOCAL, self.root(Backend.LOCAL))]
        if self._shared and self._owners.method:
            roots.append((Backend.SHARED, self._shared))
        return await asyncio.to_thread(_present, roots)

    @contextlib.asynccontextmanager
    async def _drafted(self, place: Place) -> AsyncIterator[Place]:
        """Create atomically: under a draft name, which is removed after a failure such as a full disk."""
        draft = Place(_draft(place.folder), place.is_image)
        await files.erase(draft.folder)
        draft.folder.mkdir(mode=0o700)
        try:
            yield draft
        except (EngineError, OSError):
            await files.erase(draft.folder)
            raise
        draft.folder.rename(place.folder)
        files.sync_folder(place.folder.parent)

    async def _make(self, place: Place, volume: VolumeRef) -> None:
        if not place.is_image:
            place.path.mkdir(mode=0o755)
            os.chown(place.path, self._owners.holder, self._owners.holder)
            return
        with place.path.open("wb") as image:
            image.truncate(volume.size_gib * GIB)
        owner = f"root_owner={VOLUME_UID}:{VOLUME_UID},lazy_itable_init=1,nodiscard"
        options = ("-q", "-F", "-m", "0", "-E", owner)
        await commands.run(*commands.mortal("mkfs.ext4", *options, str(place.path)))

    def _found(self, volume: VolumeRef, snapshot_id: str) -> Place:
        place = self.place(volume, snapshot_id)
        if not place.path.exists():
            raise EngineError("the snapshot's data is not on this node", str(place.path))
        return place

    async def _copy(self, source: Place, target: Place, volume: VolumeRef) -> str:
        """Copy with shared blocks if the file system supports it, otherwise byte by byte; sparse files stay sparse."""
        copying = ("cp", "--archive", "--sparse=always", "--reflink=auto", "--", str(source.path), str(target.path))
        command = commands.mortal(*copying) if source.is_image else self._linkless(source.path, *copying)
        code, said = await commands.attempt(*command, environment=commands.FOR_OURS)
        if code != 0:
            raise EngineError("the volume could not be copied", said)
        if target.is_image:
            await self._check_image(target.path, volume)
        await asyncio.to_thread(os.sync)
        return said

    def _linkless(self, folder: Path, *argv: str) -> tuple[str, ...]:
        """A command that safely reads a folder while people change names in it."""
        # unshare comes first: gaining capabilities in a new namespace clears PDEATHSIG.
        return ("unshare", "--mount", "--", *commands.mortal(*commands.ours(linkless.__file__, str(folder), *argv)))

    async def _check_image(self, image: Path, volume: VolumeRef) -> None:
        """A copy of a mounted file system is like one after a power failure: replay its log; grow it if requested."""
        code, said = await commands.attempt(*commands.mortal("e2fsck", "-fy", str(image)))
        if code > REPAIRED:
            raise EngineError("the copy is not a valid file system", said[-500:])
        if image.stat().st_size < volume.size_gib * GIB:
            os.truncate(image, volume.size_gib * GIB)
            await commands.run(*commands.mortal("resize2fs", str(image)))

    async def measure(self, volume: VolumeRef) -> VolumeObservation:
        place = self.find(volume)
        if place.is_image:
            used = await asyncio.to_thread(lambda: place.path.stat().st_blocks * 512)
        else:
            counting = ("du", "--summarize", "--block-size=1", "--one-file-system", str(place.path))
            code, said = await commands.attempt("timeout", str(MEASURE_SECONDS), *counting)
            if code != 0:
                raise EngineError("the volume could not be measured in time", said[-200:])
            used = int(said.split()[0])
        quota = ENFORCED if place.is_image else MEASURED
        return VolumeObservation(volume_id=volume.volume_id, used_bytes=used, quota=quota, at=self._clock())

    async def snapshot(self, volume: VolumeRef, snapshot_id: str, on_phase: OnPhase) -> tuple[int, str]:
        """Take a snapshot; return its size and consistency."""
        source, target = self.find(volume), self.place(volume, snapshot_id)
        if self._tombstone(target).exists():
            raise EngineError("this snapshot was deleted and cannot be created again", snapshot_id)
        note = await self._consistency(source, snapshot_id)
        if not target.path.exists():
            await on_phase("snapshot_copying", note)
            await asyncio.to_thread(os.sync)
            async with self._drafted(target) as draft:
                await self._copy(source, draft, volume)
        size = await commands.run("du", "--summarize", "--block-size=1", str(target.path))
        return int(size.split()[0]), note

    async def _consistency(self, source: Place, snapshot_id: str) -> str:
        """Describe the consistency: only a copy by shared blocks or without writers is of one point in time. The trial
        file of a crashed attempt is in the volume's folder; the next attempt or the deletion removes it."""
        probe = source.folder / f".reflink-{snapshot_id}"
        probe.write_bytes(b"0" * 4096)
        other = probe.with_suffix(".copy")
        code, _ = await commands.attempt("cp", "--reflink=always", "--", str(probe), str(other))
        for path in (probe, other):
            path.unlink(missing_ok=True)
        if code == 0:
            return "crash-consistent: all blocks of one moment"
        if source.is_image:
            return "a copy of the file system, repaired from its log; writers during the copy may be half in it"
        return "a copy file by file; each file as it was when it was copied"

    async def delete(self, volume: VolumeRef, on_phase: OnPhase) -> list[ProofItem]:
        """Delete, verify, and write the tombstone."""
        place = self.place(volume)
        self._tombstone(place).touch(mode=0o600)
        files.sync_folder(self._tombstone(place).parent)
        await on_phase("volume_deleting", "erasing its data")
        gone = place.folder.with_name(f".{place.folder.name}.gone")
        with contextlib.suppress(FileNotFoundError):
            place.folder.rename(gone)
        await files.erase(gone, _draft(place.folder))
        files.sync_folder(place.folder.parent)
        left = [path.name for path in place.folder.parent.iterdir() if volume.volume_id in path.name]
        held = mentions(volume.volume_id)
        return [
            ProofItem(
                item="data",
                ok=not left,
                evidence=f"left: {', '.join(left)}" if left else f"no folder of it in {place.folder.parent.name}",
            ),
            ProofItem(
                item="devices",
                ok=not held,
                evidence=f"left: {', '.join(held)}"
                if held
                else "no mount, no loop device and no daemon of this node has it",
            ),
        ]

    def _tombstone(self, place: Place) -> Path:
        return place.folder.parent / TOMBSTONES / place.folder.name

    async def conform(self, backend: Backend, on_phase: OnPhase) -> list[Check]:
        await on_phase("conformance_running", f"{backend} storage is being tried")
        bench = self.root(backend) / f".conf_{self._site.tag}"  # named after this node, to find it after a crash
        await files.erase(bench)
        bench.mkdir(mode=0o700)
        try:
            return await conformance.run(bench, is_image=backend is Backend.LOCAL, is_served=self.is_served(backend))
        finally:
            await files.erase(bench)

    def describe(self) -> dict[str, Fact]:
        """For the facts of this node; a node with an unusable shared folder gets no shared volumes."""
        settings, trial = "the agent's settings", "a trial in the folder"
        found = {"local": Fact(value=str(self.root(Backend.LOCAL)), source=settings)}
        if self._shared is None or not self._owners.method:
            found["shared"] = Fact(value=NOT_CONFIGURED, source=settings)
        else:
            found["shared"] = Fact(value=str(self._shared), source=settings)
        if self._shared is not None:
            found["shared_owners"] = Fact(value=self._owners.words, source=trial)
        return found


def owners_of(chown: str, idmap: str, bindfs: str | None) -> Owners:
    """The method, from the errors of the trial; empty errors mean success."""
    if chown:
        fix = "as root of this node; an NFS server needs no_root_squash"
        return Owners("", f"files in it cannot be given to another owner ({chown}): it must be writable {fix}")
    if not idmap:
        return Owners("idmap", "")
    if bindfs is None:
        fix = "apt-get install bindfs, then start the agent again"
        return Owners("", f"its file system cannot be idmapped ({idmap}) and bindfs is not installed: {fix}")
    return Owners(serving.KIND, "")


def _agreed(found: Owners, file: Path, draft: Path) -> Owners:
    """All nodes must use the same owners on disk, or a file would have another owner on each node. A link creates the
    file atomically and once: other nodes never read a part of it. `draft` is unique to this node."""
    if not file.exists():
        files.write_whole(draft, f"{found.holder}\n".encode())
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
        draft.unlink()
    kept = file.read_text().strip()
    if kept == str(found.holder):
        return found
    fix = "mount the storage in the same way on all nodes"
    return Owners("", f"this node would keep owners by {found.method}, other nodes do not ({file}: {kept}): {fix}")


def _draft(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.new")


def mentions(volume_id: str) -> list[str]:
    """Mounts, loop devices and daemons of the node that belong to a volume."""
    found = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines() if volume_id in line]
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(FileNotFoundError):
            if volume_id in path.read_text():
                found.append(f"/dev/{path.parts[3]}")
    for pid in processes.of_uids((0,)):  # no process inside an environment has this id, while names can be chosen there
        with contextlib.suppress(OSError):
            if f"/{volume_id}@".encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(f"process {pid}")
    return found


def _present(roots: list[tuple[Backend, Path]]) -> list[PresentVolume]:
    return [
        PresentVolume(
            volume_id=id,
            backend=backend,
            quota=ENFORCED if data == IMAGE else MEASURED,
            ownership=ownership,
            detail=detail,
        )
        for backend, root in roots
        for id, data, ownership, detail in volume_records.listed(root, (IMAGE, DATA))
    ]
