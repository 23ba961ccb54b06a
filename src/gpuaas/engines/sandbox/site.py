"""The place of one engine on a machine: its folders, and names and numbers that no other engine uses."""

import fcntl
import hashlib
import os
from ipaddress import IPv4Network
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox import files
from gpuaas.engines.sandbox.network import LIMIT, choose_block

UID_START, UID_BLOCKS, UIDS_PER_BLOCK = 1_900_000_000, 100_000, 2 * LIMIT
"""Above what distributions and container tools hand out, below what a signed number can hold."""


class Identity(Struct, frozen=True):
    """Chosen once: an address block that was free on this machine then."""

    block: str


class Site:
    """Root of an engine on disk; one engine at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        digest = hashlib.sha256(str(self.root).encode()).digest()
        self.tag = digest[:3].hex()
        self.mark = f"--engine={digest.hex()}"  # an argument of every process of ours, so that a later agent finds them
        self.seed: int = int.from_bytes(digest[3:8], "big")
        self._lock = -1
        self.is_root = os.geteuid() == 0
        self.environments = self.root / "environments"
        self.view = self.root / "view"  # an empty folder to build every root view on; each in its own mount namespace
        self.runtimes = self.root / "runtimes"  # staged bundles, seen by every environment
        self.staging = self.root / "staging"  # bundles in the making, seen by nobody
        self.programs = self.root / "bin"  # commands that every environment finds on its PATH

    def open(self) -> None:
        for folder in (self.root, self.environments, self.view):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise EngineError("another agent uses this folder", str(self.root)) from error

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def init_uid(self, index: int) -> int:
        """Pid 1 is nobody's process: neither the machine's root nor the person inside."""
        return UID_START + (self.seed % UID_BLOCKS) * UIDS_PER_BLOCK + 2 * index

    def person_uid(self, index: int) -> int:
        return self.init_uid(index) + 1

    def uids(self, index: int) -> set[int]:
        return {self.init_uid(index), self.person_uid(index)} if self.is_root else set()

    def index_of(self, uid: int) -> int | None:
        """Whose uid it is, when it is one of ours."""
        offset = uid - self.init_uid(0)
        return offset // 2 if 0 <= offset < UIDS_PER_BLOCK else None

    async def block(self) -> IPv4Network:
        path = self.root / "engine.json"
        if path.exists():
            return IPv4Network(msgspec.json.decode(path.read_bytes(), type=Identity).block)
        block = await choose_block(self.seed)
        files.write_whole(path, msgspec.json.encode(Identity(block=str(block))))
        return block
