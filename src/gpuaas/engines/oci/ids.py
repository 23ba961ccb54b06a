"""Ranges of 65,536 ids, one for each environment: ids on the node that nothing else has.

An engine has a block of ranges. Which block belongs to which engine is written down on the node, because two engines
on one node (tests, a lab) must not share an id.
"""

from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.engines.node.addresses import LIMIT

COUNT = 65_536
START, BLOCKS = 1_000_000_000, 26
"""Above what distributions and container tools hand out, below the ids of volumes and what a signed number holds."""

HOLDER = 1000
NAME = "id-block"  # in the engine's folder
CLAIMS = Path("/run/gpuaas/id-blocks")


class IdRanges:
    """The block of one engine; `open` before use."""

    def __init__(self, root: Path, claims: Path = CLAIMS) -> None:
        self._root, self._claims = root, claims
        self._block = -1

    def open(self, seed: int) -> None:
        """The block this engine has had since its first start, because files on root disks carry its ids; else the
        first free one from a place of its own on."""
        self._claims.mkdir(mode=0o755, parents=True, exist_ok=True)
        kept = self._root / NAME
        order = [(seed + offset) % BLOCKS for offset in range(BLOCKS)]
        if kept.exists():
            order = [int(kept.read_text())]
        self._block = next((block for block in order if self._claim(block)), -1)
        if self._block < 0:
            detail = f"{self._owner(order[0])} has block {order[0]}" if kept.exists() else f"{BLOCKS} engines use it"
            raise EngineError("the node has no id range left", f"{detail}, see {self._claims}")
        if not kept.exists():
            files.write_whole(kept, str(self._block).encode())

    def _owner(self, block: int) -> str:
        try:
            return (self._claims / str(block)).readlink().as_posix()
        except FileNotFoundError:
            return ""

    def _claim(self, block: int) -> bool:
        """A link is made whole or not at all. A claim whose engine is gone from disk is free."""
        claim, owner = self._claims / str(block), self._owner(block)
        if owner == str(self._root):
            return True
        if owner and not Path(owner).exists():
            claim.unlink(missing_ok=True)
        try:
            claim.symlink_to(self._root)
        except FileExistsError:
            return False
        return True

    def close(self) -> None:
        """Given back; only when no environment is left."""
        if self._block >= 0 and self._owner(self._block) == str(self._root):
            (self._claims / str(self._block)).unlink(missing_ok=True)
            for folder in (self._claims, self._claims.parent):
                try:
                    folder.rmdir()
                except OSError:
                    return

    def first(self, index: int) -> int:
        return ids_of(self._block)[index * COUNT]

    def index(self, first: int) -> int | None:
        """Of the range that starts there; None when it is not of this engine's block."""
        index = (first - START) // COUNT - self._block * LIMIT
        return index if index in range(LIMIT) and self.first(index) == first else None

    def holder(self, index: int) -> int:
        return self.first(index) + HOLDER

    def of(self, index: int) -> range:
        return range(self.first(index), self.first(index) + COUNT)


def ids_of(block: int) -> range:
    """All ids of a block, which are those of one engine."""
    return range(START + block * LIMIT * COUNT, START + (block + 1) * LIMIT * COUNT)
