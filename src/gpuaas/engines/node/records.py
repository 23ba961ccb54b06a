"""The engine's record of an environment: one file, written atomically; without it, there is no environment."""

from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.wire.environments import EnvironmentSpec, KeySet, Ownership, SlotDevice

NAME = "record.json"


class UnreadableError(EngineError):
    """The record exists and is unreadable: its environment is left unchanged until an operator acts."""

    def __init__(self, allocation_id: str, error: Exception) -> None:
        super().__init__("its record cannot be read", f"{allocation_id}: {error}")
        self.is_damaged = not isinstance(error, OSError)  # otherwise the read failed and may succeed later


class Record(Struct, frozen=True, kw_only=True):
    """The facts to adopt, reboot or remove an environment after a crash at any line.

    Older versions may have written the files on disk, so new fields need a default.
    """

    spec: EnvironmentSpec
    boot: int
    index: int  # determines its uid range and its network
    port: int
    host_key: str  # private, OpenSSH form: the file is 0600 in a 0700 folder
    keys: KeySet
    started_at: datetime
    image: str = ""  # version of the base image under its root disk

    @property
    def devices(self) -> tuple[str, ...]:
        return self.spec.devices

    @property
    def slots(self) -> tuple[SlotDevice, ...]:
        return self.spec.slots

    def renewed(self, spec: EnvironmentSpec, now: datetime) -> "Record":
        """The next boot with the same disk, port and host key; ignores an older key set."""
        keys = spec.keys if spec.keys.generation >= self.keys.generation else self.keys
        return msgspec.structs.replace(self, spec=spec, boot=max(spec.boot, self.boot), keys=keys, started_at=now)

    def admitting(self, keys: KeySet, ownership: Ownership | None) -> "Record":
        """The same boot with other keys or another owner; ignores an older key set."""
        renewed = self
        if keys.generation >= self.keys.generation and keys != self.keys:
            renewed = msgspec.structs.replace(renewed, keys=keys)
        if ownership not in (None, self.spec.ownership):
            renewed = msgspec.structs.replace(renewed, spec=msgspec.structs.replace(self.spec, ownership=ownership))
        return renewed


class Remains(Struct, frozen=True, kw_only=True):
    """The facts that a removal must check; replaces the record until everything is proven removed."""

    removing: bool = False
    boot: int = 0
    index: int | None = None  # unknown if its record is unreadable and its disk has no separate owner
    port: int | None = None
    volumes: tuple[str, ...] = ()  # volumes mounted inside: they must be unchanged afterwards
    devices: tuple[str, ...] = ()  # UUIDs of GPUs reserved until the removal is proven
    container: str = ""  # name of its control groups; empty: that of the environment
    slots: tuple[SlotDevice, ...] = ()  # results of resetting these GPUs
    simulated: bool = False
    seen: tuple[tuple[int, str], ...] = ()  # processes inside, with their start times


class Records:
    """The environments of one engine, with one folder each."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, allocation_id: str) -> Path:
        return self.root / allocation_id

    def ids(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())

    def read(self, allocation_id: str) -> Record | Remains | None:
        """The record; None only if it was never written."""
        try:
            data = (self.folder(allocation_id) / NAME).read_bytes()
            remains = msgspec.json.decode(data, type=Remains)
            return remains if remains.removing else msgspec.json.decode(data, type=Record)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise UnreadableError(allocation_id, error) from error

    def write(self, allocation_id: str, record: Record | Remains) -> None:
        files.write_whole(self.folder(allocation_id) / NAME, msgspec.json.encode(record))

    async def erase_all_but_the_record(self, allocation_id: str) -> None:
        folder = self.folder(allocation_id)
        if folder.is_dir():
            await files.erase(*(path for path in folder.iterdir() if path.name != NAME))

    async def erase(self, allocation_id: str) -> None:
        await files.erase(self.folder(allocation_id))
