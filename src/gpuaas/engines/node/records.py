"""What the engine remembers of an environment: one file, written whole; no file, no environment."""

from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.wire.environments import EnvironmentSpec, KeySet, Ownership, SlotDevice

NAME = "record.json"


class UnreadableError(EngineError):
    """There is a record and nobody knows what it says: what it stands for is left alone until somebody asks."""

    def __init__(self, allocation_id: str, error: Exception) -> None:
        super().__init__("its record cannot be read", f"{allocation_id}: {error}")
        self.is_damaged = not isinstance(error, OSError)  # otherwise the look failed, and the next one may not


class Record(Struct, frozen=True, kw_only=True):
    """Enough to adopt, boot again or remove, whatever line the agent died at.

    Older versions wrote the ones that are on disk: a field that is added has a default.
    """

    spec: EnvironmentSpec
    boot: int
    index: int  # its uid and its network follow from it
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
        """The next boot of the same disk, port and host key; an older key set never comes back."""
        keys = spec.keys if spec.keys.generation >= self.keys.generation else self.keys
        return msgspec.structs.replace(self, spec=spec, boot=max(spec.boot, self.boot), keys=keys, started_at=now)

    def admitting(self, keys: KeySet, ownership: Ownership | None) -> "Record":
        """The same boot with other keys or another owner; an older key set changes nothing."""
        renewed = self
        if keys.generation >= self.keys.generation and keys != self.keys:
            renewed = msgspec.structs.replace(renewed, keys=keys)
        if ownership not in (None, self.spec.ownership):
            renewed = msgspec.structs.replace(renewed, spec=msgspec.structs.replace(self.spec, ownership=ownership))
        return renewed


class Remains(Struct, frozen=True, kw_only=True):
    """What a removal has to look for; takes the record's place until every kind is proven to be gone."""

    removing: bool = False
    boot: int = 0
    index: int | None = None  # unknown when its record could not be read and its disk has no owner of its own
    port: int | None = None
    volumes: tuple[str, ...] = ()  # that were mounted inside: they have to be whole afterwards
    devices: tuple[str, ...] = ()  # UUIDs of GPUs that nobody else may use until the removal is proven
    container: str = ""  # name of its control groups; empty: that of the environment
    slots: tuple[SlotDevice, ...] = ()  # of these GPUs, which are reset
    simulated: bool = False
    seen: tuple[tuple[int, str], ...] = ()  # processes that lived inside, with the time each was born


class Records:
    """The environments of one engine, a folder each."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, allocation_id: str) -> Path:
        return self.root / allocation_id

    def ids(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())

    def read(self, allocation_id: str) -> Record | Remains | None:
        """None when it never got as far as a record, and for no other reason."""
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
