"""Environments as they are found: what runs, what the records say, and what an observer is told of both."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from msgspec.structs import replace

from gpuaas.engines.devices import Devices
from gpuaas.engines.sandbox import gpus, isolation, liveness
from gpuaas.engines.sandbox.boots import Boots
from gpuaas.engines.sandbox.door import Door
from gpuaas.engines.sandbox.inside import Inside
from gpuaas.engines.sandbox.liveness import Init, Liveness, Sighting
from gpuaas.engines.sandbox.mounts import mounts_in
from gpuaas.engines.sandbox.records import Record, Records, Remains, UnreadableError
from gpuaas.wire.environments import Environment, EnvironmentState, fingerprints


@dataclass(kw_only=True)
class Living:
    """A running environment and the door to it."""

    folder: Path
    init: Init
    boot: int
    inside: Inside
    door: Door

    @property
    def pid(self) -> int:
        return self.init.pid

    def look(self) -> Sighting:
        """Asked of the kernel, never remembered."""
        return liveness.look(self.folder, self.init)


class Sights:
    """What there is, as others may know it."""

    def __init__(self, records: Records, living: Mapping[str, Living], boots: Boots, devices: Devices) -> None:
        self._records, self._living, self._boots, self._devices = records, living, boots, devices

    async def devices_of(self, id: str) -> tuple[str, ...] | None:
        """Of an environment that lives and is not adopted: by its record, else as its pid 1 has them."""
        with suppress(UnreadableError):
            here = self._records.read(id)
            return () if here is None else here.devices
        return await gpus.used_inside(Inside(self._records.folder(id)))

    def all(self) -> list[Environment]:
        return [self._look(id) for id in self._records.ids()]

    def _look(self, id: str) -> Environment:
        held = self._devices.of(id)
        broken = Environment(allocation_id=id, state=EnvironmentState.BROKEN, boot=0, devices=held)
        try:
            record = self._records.read(id)
        except UnreadableError as error:
            state = EnvironmentState.BROKEN if error.is_damaged else EnvironmentState.UNKNOWN
            return replace(broken, state=state, detail=error.reason)
        match record:
            case None:
                return replace(broken, detail="half made")
            case Remains():
                return replace(broken, boot=record.boot, port=record.port, detail="half removed")
            case Record():
                return self.describe(id, record)

    def describe(self, allocation_id: str, record: Record) -> Environment:
        seen = Environment(
            allocation_id=allocation_id,
            state=EnvironmentState.STOPPED,
            boot=record.boot,
            port=record.port,
            host_key=_public_half(record.host_key),
            key_generation=record.keys.generation,
            started_at=record.started_at,
            devices=record.devices,
            ownership=record.spec.ownership,
            admitted=fingerprints(record.keys),
        )
        living = self._living.get(allocation_id)
        sighting = living.look() if living else liveness.look(self._records.folder(allocation_id))
        if sighting.is_dead:
            return seen
        unknown = replace(seen, state=EnvironmentState.UNKNOWN)
        if sighting.liveness is Liveness.UNKNOWN or living is None:
            return replace(unknown, detail=sighting.reason or "it runs and was not adopted yet")
        try:
            return self._describe_running(seen, record, living)
        except OSError as error:
            return replace(unknown, detail=f"it could not be looked at: {error.strerror or error}")

    def _describe_running(self, seen: Environment, record: Record, living: Living) -> Environment:
        allocation_id = seen.allocation_id
        return replace(
            seen,
            state=EnvironmentState.RUNNING if living.door.is_open else EnvironmentState.BROKEN,
            detail="" if living.door.is_open else f"another program has port {record.port}",
            mounts=tuple(mounts_in(living.pid)),
            own_keys=living.door.own_keys(),
            isolation=isolation.find(
                living.pid, self._boots.limits.found(allocation_id, living.pid), self._boots.uid_inside(record.index)
            ),
        )


def _public_half(host_key: str) -> str:
    return asyncssh.import_private_key(host_key).export_public_key().decode().strip()
