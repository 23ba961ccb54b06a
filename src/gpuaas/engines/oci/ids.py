"""Ranges of 65,536 node ids, one per environment and not used by anything else.

An engine has a block of ranges. The node records which engine owns a block, because two engines on one node (tests,
a lab) must not share an id.
"""

from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.engines.node.addresses import LIMIT

COUNT = 65_536
START, BLOCKS = 1_000_000_000, 26
"""Above ids of distributions and container tools, below ids of volumes and the limit of a signed integer."""

HOLDER = 1000
NAME = "id-block"  # in the engine's folder
CLAIMS = Path("/run/gpuaas/id-blocks")


class IdRanges:
    """The block of one engine; `open` before use."""

    def __init__(self, root: Path, claims: Path = CLAIMS) -> None:
        self._root, self._claims = root, claims
        self._block = -1

    def open(self, seed: int) -> None:
        """Claim the block of the first start, because files on root disks have its ids; otherwise the first free block,
        starting at a position derived from the engine."""
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
        """Claim a block by creating a link, which is atomic. The claim of a deleted engine is free."""
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
        """Release the block; only if no environment exists."""
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
        """The index of the range with this start; None if it is not in this engine's block."""
        index = (first - START) // COUNT - self._block * LIMIT
        return index if index in range(LIMIT) and self.first(index) == first else None

    def holder(self, index: int) -> int:
        return self.first(index) + HOLDER

    def of(self, index: int) -> range:
        return range(self.first(index), self.first(index) + COUNT)


def ids_of(block: int) -> range:
    """All ids of one engine's block."""
    return range(START + block * LIMIT * COUNT, START + (block + 1) * LIMIT * COUNT)
