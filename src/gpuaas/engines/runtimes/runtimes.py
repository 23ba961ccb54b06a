"""Runtime bundles of a node: staged side by side, with at most one current bundle in each environment.

`<site>/runtimes` is mounted in all environments as `/opt/gpuaas/runtimes`, read-only. `<bundle>/current` is a link to
/etc of the environment, which has a separate link for each environment, so one folder serves all.
"""

# ruff: noqa: ASYNC240 (single reads of names and small files)

import asyncio
import contextlib
import ctypes
import hashlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from gpuaas.engines.base import EngineError, Telling
from gpuaas.engines.node import files, processes
from gpuaas.engines.node.records import Record, Records
from gpuaas.engines.node.site import Site
from gpuaas.engines.runtimes import manifests
from gpuaas.engines.runtimes.manifests import UnreadableBundleError
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import IN_USE, INSTALL_ROOT, NOT_STAGED, BundleSpec, RuntimeDescriptor, StagedBundle

HERE = Path(__file__).parent
PROGRAMS = {
    "gpuaas-runtime": HERE / "gpuaas-runtime.sh",
    **dict.fromkeys(("reboot", "poweroff", "halt", "shutdown"), HERE / "power.sh"),
}
CURRENT, INSIDE = "current", "/etc/gpuaas/runtime"
DESCRIPTOR = "descriptor.json"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_libc = ctypes.CDLL(None, use_errno=True)


class BundleStaging(Protocol):
    """One attempt to build a bundle. `tree` is inside `folder`, which the caller erases afterwards."""

    folder: Path
    tree: Path

    async def build(self, now: datetime) -> StagedBundle: ...


class NodeRuntimes:
    """`image` finds a base image by version. `alone` is the engine's lock per allocation."""

    def __init__(
        self,
        site: Site,
        records: Records,
        image: Callable[[str], BaseImage | None],
        *,
        staging: Callable[[BundleSpec, Telling], BundleStaging],
        alone: Callable[[str], AbstractAsyncContextManager[None]],
        clock: Callable[[], datetime],
    ) -> None:
        self._site, self._records, self._image, self._staging = site, records, image, staging
        self._alone, self._clock = alone, clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def open(self) -> None:
        """Delete incomplete files of a previous agent."""
        with contextlib.suppress(EngineError):
            await files.erase(self._site.staging)
        for folder in (self._site.runtimes, self._site.staging, self._site.programs):
            folder.mkdir(mode=0o755, exist_ok=True)
            folder.chmod(0o755)
        for name, source in PROGRAMS.items():
            program = self._site.programs / name
            if not program.exists() or program.read_bytes() != source.read_bytes():
                files.write_whole(program, source.read_bytes(), mode=0o755)
                program.chmod(0o755)

    async def stage(self, bundle: BundleSpec, tell: Telling, *, manifest: str = "") -> StagedBundle:
        staging = self._staging(bundle, tell)
        target = self._site.runtimes / bundle.slug / bundle.version
        async with self._held(target):
            here, drift = await self._look(target, bundle, manifest)
            if here is not None and not drift:
                await tell("staged", f"{here.files} files are as they were")
                return replace(here, drift=[])
            try:
                made = await staging.build(self._clock())
                async with self._held(target.parent):  # also contains its other versions
                    await asyncio.to_thread(self._put_in_place, staging.tree, target)
            except OSError as error:
                raise EngineError("the node could not do it", f"{target.name}: {error}") from error
            finally:
                await files.erase(staging.folder)
            await tell("staged", made.health)
            return replace(made, drift=drift)

    async def _look(self, target: Path, bundle: BundleSpec, manifest: str) -> tuple[StagedBundle | None, list[str]]:
        """The staged bundle and its changed files."""
        try:
            here = manifests.read(target)
        except UnreadableBundleError:
            return None, [manifests.RECORD] if os.path.lexists(target) else []
        if here.digest != bundle.digest:
            raise EngineError("another bundle has this name and version here", f"{here.digest}, not {bundle.digest}")
        return here, await asyncio.to_thread(manifests.drift, target, manifest or here.manifest)

    def _put_in_place(self, tree: Path, target: Path) -> None:
        """Publish it atomically, also replacing a drifted one; running processes keep their open files."""
        target.parent.mkdir(mode=0o755, exist_ok=True)
        target.parent.chmod(0o755)
        link = target.parent / CURRENT
        if not os.path.lexists(link):
            link.symlink_to(f"{INSIDE}/{CURRENT}/{target.parent.name}")
        if os.path.lexists(target):
            exchange(tree, target)
        else:
            tree.rename(target)
        files.sync_folder(target.parent)

    async def unstage(self, slug: str, version: str, tell: Telling) -> list[ProofItem]:
        """Hide it atomically, then erase it. No environment may use it as current, and no process may run from it, even
        after its environment switched to another bundle."""
        target = self._site.runtimes / slug / version
        async with self._held(target):
            users = await self._users(slug, version)
            if users:
                raise EngineError(IN_USE, ", ".join(users))
            await tell("removing", f"{slug} {version}")
            gone = self._site.staging / f"{slug}-{version}.removed"
            await files.erase(gone)
            if os.path.lexists(target):
                target.rename(gone)
                files.sync_folder(target.parent)
            await files.erase(gone)
            async with self._held(target.parent):
                if target.parent.is_dir() and [path.name for path in target.parent.iterdir()] == [CURRENT]:
                    await files.erase(target.parent)
            await tell("removed", "")
            left = [str(path) for path in (target, gone) if os.path.lexists(path)]
            evidence = ", ".join(left) or f"nothing at {INSTALL_ROOT}/{slug}/{version}"
            return [
                ProofItem(item="bundle_files", ok=not left, evidence=evidence),
                ProofItem(item="bundle_unused", ok=True, evidence="no environment's current, and no process of it"),
            ]

    async def _users(self, slug: str, version: str) -> list[str]:
        """Environments with this current bundle, and processes that refer to its files."""
        found = []
        for id in self._records.ids():
            here = await self.descriptor(id)
            if here is not None and (here.slug, here.version) == (slug, version):
                found.append(id)
        running = await asyncio.to_thread(processes.naming, f"{INSTALL_ROOT}/{slug}/{version}/")
        return [*found, *(f"process {pid}" for pid in running)]

    @contextlib.asynccontextmanager
    async def _held(self, folder: Path) -> AsyncIterator[None]:
        """Allow one staging at a time."""
        lock = self._locks.setdefault(str(folder), asyncio.Lock())
        async with lock:
            yield

    async def staged(self) -> list[StagedBundle]:
        found = []
        for path in sorted(self._site.runtimes.glob("*/[0-9]*")):
            with contextlib.suppress(UnreadableBundleError):
                found.append(manifests.read(path))
        return found

    async def write_descriptor(self, allocation_id: str, descriptor: RuntimeDescriptor | None) -> None:
        async with self._alone(allocation_id):
            record = self._records.read(allocation_id)
            if not isinstance(record, Record):
                raise EngineError("there is no such environment here", allocation_id)
            own = self._records.folder(allocation_id) / "etc" / "gpuaas"
            if descriptor is None:
                await self._switch(own, allocation_id, None)
                return
            async with self._held(self._site.runtimes / descriptor.slug / descriptor.version):
                manifests.require_built_for(self._require(descriptor), self._image(record.image))
                await self._switch(own, allocation_id, descriptor)

    def _require(self, descriptor: RuntimeDescriptor) -> StagedBundle:
        name = f"{descriptor.slug} {descriptor.version}"
        try:
            here = manifests.read(self._site.runtimes / descriptor.slug / descriptor.version)
        except UnreadableBundleError as error:
            raise EngineError(NOT_STAGED, f"{name}: {error}") from error
        if here.digest != descriptor.digest:
            raise EngineError("another bundle has this name and version here", name)
        return here

    async def _switch(self, own: Path, allocation_id: str, descriptor: RuntimeDescriptor | None) -> None:
        """Descriptor and `current` change together, because both are behind one link that is replaced atomically."""
        content = msgspec.json.encode(descriptor)
        made = own / f".runtime-{hashlib.sha256(content).hexdigest()[:16]}"
        link, former = own / "runtime", None
        if link.is_symlink():
            former = own / link.readlink()
            if former == made and (made / DESCRIPTOR).exists():
                return
        new, beside = own / ".runtime.new", own / ".runtime.link"
        await files.erase(new, made, beside)
        for folder in (new, new / "allocations", new / CURRENT):
            folder.mkdir(mode=0o755)
            folder.chmod(0o755)
        if descriptor is not None:
            env = new / "allocations" / f"{allocation_id}.env"
            files.write_whole(env, render(descriptor, allocation_id).encode(), mode=0o644)
            (new / CURRENT / descriptor.slug).symlink_to(descriptor.root)
        files.write_whole(new / DESCRIPTOR, content, mode=0o644)
        new.rename(made)
        beside.symlink_to(made.name)
        beside.rename(link)
        files.sync_folder(own)
        await files.erase(*(path for path in own.glob(".runtime-*") if path not in (made, former)))

    async def descriptor(self, allocation_id: str) -> RuntimeDescriptor | None:
        path = self._records.folder(allocation_id) / "etc" / "gpuaas" / "runtime" / DESCRIPTOR
        try:
            return msgspec.json.decode(path.read_bytes(), type=RuntimeDescriptor | None)
        except FileNotFoundError:
            return None


def render(descriptor: RuntimeDescriptor, allocation_id: str) -> str:
    """Lines `NAME=value`; values were checked to contain no special characters of shells."""
    values = {
        "GPUAAS_ALLOCATION_ID": allocation_id,
        "GPUAAS_RUNTIME_BUNDLE": descriptor.slug,
        "GPUAAS_RUNTIME_VERSION": descriptor.version,
        "GPUAAS_RUNTIME_BUNDLE_ID": descriptor.bundle_id,
        "GPUAAS_RUNTIME_DIGEST": descriptor.digest,
        "GPUAAS_RUNTIME_FAMILY": descriptor.runtime_family.value,
        "GPUAAS_RUNTIME_ROOT": descriptor.root,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders atomically, so that one always exists."""
    names = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
    if _libc.renameat2(*names, _RENAME_EXCHANGE) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(other))
