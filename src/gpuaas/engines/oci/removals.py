"""Removals: the facts to check are recorded first and deleted last, so that every attempt checks all of them."""

import asyncio
import errno
import os
from collections.abc import Collection

import msgspec

from gpuaas.engines.node import processes
from gpuaas.engines.node.processes import Process
from gpuaas.engines.node.records import NAME, Record, Records, Remains, UnreadableError
from gpuaas.engines.oci import proofs
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.environments import ProofItem


class Removals:
    """Removes environments of one engine, including incomplete ones."""

    def __init__(self, containers: Containers, records: Records, volumes: NodeVolumes) -> None:
        self._containers, self._records, self._volumes = containers, records, volumes

    async def begin(self, id: str, first: Process | None, *, index: int | None, port: int | None) -> Remains:
        """Mark it for removal only; `index` and `port` are used if its record is unreadable."""
        try:
            here = self._records.read(id)
        except UnreadableError:
            here = None
        found = processes.in_pid_namespace_of(first.pid) if first else []
        remains = _remains(here, index, port, Folder(self._records.folder(id)).container)
        volumes = (*remains.volumes, *await asyncio.to_thread(self._volumes.tables.volumes_in, first and first.pid))
        remains = msgspec.structs.replace(
            remains, seen=tuple(dict.fromkeys((*remains.seen, *found))), volumes=tuple(dict.fromkeys(volumes))
        )
        if remains != here:
            try:
                self._write(id, remains)
            except OSError as error:  # the disk is full: written after the root disk is erased
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
        return remains

    def _write(self, id: str, remains: Remains) -> None:
        if os.path.lexists(self._records.folder(id)):
            self._records.write(id, remains)

    async def end_processes(self, id: str, first: Process | None, remains: Remains) -> None:
        if first:
            await self._containers.stop(self._records.folder(id), first, grace=0)
        uids = self._uids(remains)
        for left in processes.of_uids(uids) if uids else ():
            await processes.end(left, lambda pid: processes.has_uid(pid, uids))

    async def clean(self, id: str, remains: Remains) -> list[ProofItem]:
        """Remove and check everything except the record; `finish` or `keep` follows."""
        await self._containers.forget(id, remains.container or id, remains.index)
        await self._records.erase_all_but_the_record(id)
        if _is_unwritten(self._records, id, remains):
            self._write(id, remains)
        return await asyncio.to_thread(self._prove, id, remains)

    async def finish(self, id: str) -> ProofItem:
        """Delete the record after everything else is proven."""
        await self._records.erase(id)
        return proofs.file_residue(self._records.folder(id))

    def keep(self, id: str) -> ProofItem:
        """Keep its record for the next attempt, which must check the same facts."""
        return proofs.file_residue(self._records.folder(id), kept=NAME)

    def _uids(self, remains: Remains) -> Collection[int]:
        return () if remains.index is None else self._containers.ids.of(remains.index)

    def _prove(self, id: str, remains: Remains) -> list[ProofItem]:
        uids, networks = self._uids(remains), self._containers.networks
        items = [
            proofs.process_residue(uids, list(remains.seen)),
            proofs.mount_residue(self._records.folder(id)),
            proofs.port_residue(remains.port, self._containers.listeners()),
            proofs.shared_memory_residue(uids),
            proofs.group_residue(self._containers.groups(id, remains.container or id)),
            proofs.device_residue(self._records.folder(id)),
            proofs.volumes_whole(remains.volumes, [one for one in remains.volumes if not self._volumes.has(one)]),
        ]
        if networks is not None and remains.index is not None:
            address = str(networks.address(remains.index))
            items.append(proofs.network_residue(networks.residue(remains.index), address))
            items.append(proofs.uid_residue(uids))
        return items


def _remains(here: Record | Remains | None, index: int | None, port: int | None, container: str) -> Remains:
    match here:
        case Remains():
            return here
        case Record():
            return Remains(
                removing=True,
                boot=here.boot,
                index=here.index,
                port=here.port,
                devices=here.devices,
                slots=here.spec.slots,
                simulated=here.spec.simulated,
                container=container,
            )
        case None:
            return Remains(removing=True, index=index, port=port, container=container)


def _is_unwritten(records: Records, id: str, remains: Remains) -> bool:
    try:
        return records.read(id) != remains
    except UnreadableError:
        return True
