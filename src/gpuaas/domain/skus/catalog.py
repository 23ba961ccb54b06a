"""The catalogue of SKUs in memory. A submit checks the price in the database, so an outdated entry costs one retry."""

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.skus import store

OLD_SECONDS = 30.0


class Catalog:
    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock
        self._skus: dict[str, store.SkuRow] = {}
        self._read_at = float("-inf")

    async def sku(self, name: str) -> store.SkuRow | None:
        """Reads again when the entry is old, and before reporting that a SKU does not exist."""
        if name not in self._skus or self._clock.monotonic() - self._read_at > OLD_SECONDS:
            await self._read()
        return self._skus.get(name)

    def forget(self) -> None:
        self._skus = {}

    async def refresh(self) -> None:
        await self._read()

    async def _read(self) -> None:
        read_at = self._clock.monotonic()
        async with self._db.read() as tx:
            self._skus = {row.sku: row for row in await store.list_sold(tx)}
        self._read_at = read_at
