"""Numbers owned by one environment: its index, which determines uid range and network, and its port."""

from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.node.addresses import LIMIT
from gpuaas.engines.node.ports import Recency, is_free
from gpuaas.engines.node.records import Remains


class Numbers:
    """Allocated least recently used first; freed only after it is proven that nothing uses them."""

    def __init__(self, root: Path, *, address: str, ports: range) -> None:
        self._root, self._address, self._port_range = root, address, ports
        self._indexes: dict[str, int] = {}
        self._ports: dict[str, int] = {}

    def open(self) -> None:
        self._port_use = Recency(self._root / "ports.json", self._port_range)
        self._index_use = Recency(self._root / "indexes.json", range(LIMIT))

    def keep(self, id: str, *, index: int | None, port: int | None) -> None:
        """Record numbers that this environment already owns."""
        if index is not None:
            self._indexes[id] = index
        if port is not None:
            self._ports[id] = port

    def of(self, id: str) -> tuple[int | None, int | None]:
        return self._indexes.get(id), self._ports.get(id)

    def take_index(self, id: str) -> int:
        taken = set(self._indexes.values())
        for index in self._index_use.order():
            if index not in taken:
                self._indexes[id] = index
                return index
        raise EngineError("this node is full", f"{len(self._indexes)} environments")

    def take_port(self, id: str) -> int:
        """A port that no other program uses."""
        taken = set(self._ports.values())
        for port in self._port_use.order():
            if port not in taken and is_free(self._address, port):
                self._ports[id] = port
                return port
        raise EngineError("this node has no port left", f"{self._port_range}")

    def retire(self, remains: Remains) -> None:
        """Free them after a proven removal; they are reused last."""
        if remains.index is not None:
            self._index_use.touch(remains.index)
        if remains.port is not None:
            self._port_use.touch(remains.port)

    def give_back(self, id: str) -> None:
        self._indexes.pop(id, None)
        self._ports.pop(id, None)
