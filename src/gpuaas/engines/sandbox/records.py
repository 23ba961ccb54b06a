"""What the engine remembers of an environment: one file, written whole; no file, no environment."""

from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.sandbox import files
from gpuaas.wire.environments import EnvironmentSpec, KeySet


class Record(Struct, frozen=True, kw_only=True):
    """Enough to adopt, boot again or remove, whatever line the agent died at."""

    spec: EnvironmentSpec
    boot: int
    index: int  # its uid and its network follow from it
    port: int
    host_key: str  # private, OpenSSH form: the file is 0600 in a 0700 folder
    keys: KeySet
    started_at: datetime
    removing: bool = False


class Records:
    """The environments of one engine, a folder each."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, allocation_id: str) -> Path:
        return self.root / allocation_id

    def ids(self) -> list[str]:
        return sorted(path.name for path in self.root.iterdir())

    def read(self, allocation_id: str) -> Record | None:
        """None also when it never got as far as a record."""
        try:
            return msgspec.json.decode((self.folder(allocation_id) / "record.json").read_bytes(), type=Record)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def write(self, record: Record) -> None:
        files.write_whole(self.folder(record.spec.allocation_id) / "record.json", msgspec.json.encode(record))
