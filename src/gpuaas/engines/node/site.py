"""Folders, names and numbers of one engine on a node, not shared with other engines."""

import fcntl
import hashlib
import os
from ipaddress import IPv4Network
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.engines.node.addresses import choose_block


class Identity(Struct, frozen=True):
    """An address block that was free on this node when it was chosen, once."""

    block: str


class Site:
    """Root of an engine on disk; one engine at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        digest = hashlib.sha256(str(self.root).encode()).digest()
        self.tag = digest[:3].hex()
        self.seed: int = int.from_bytes(digest[3:8], "big")
        self._lock = -1
        self.environments = self.root / "environments"
        self.runtimes = self.root / "runtimes"  # staged bundles, seen by every environment
        self.staging = self.root / "staging"  # bundles during staging, invisible to environments
        self.programs = self.root / "bin"  # commands on the PATH of every environment

    def open(self) -> None:
        for folder in (self.root, self.environments):
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

    async def block(self) -> IPv4Network:
        path = self.root / "engine.json"
        if path.exists():
            return IPv4Network(msgspec.json.decode(path.read_bytes(), type=Identity).block)
        block = await choose_block(self.seed)
        files.write_whole(path, msgspec.json.encode(Identity(block=str(block))))
        return block
