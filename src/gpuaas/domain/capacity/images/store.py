"""The current base image of each node, as the node last reported it."""

from collections.abc import Mapping

from gpuaas.core.db import Tx
from gpuaas.wire.images import CurrentImage


async def observed(tx: Tx, found: Mapping[str, CurrentImage | None]) -> None:
    if found:
        await tx.run(OBSERVED, list(found), list(found.values()))


OBSERVED = """
    update nodes n set image = told.image from unnest($1::text[], $2::jsonb[]) as told (id, image) where n.id = told.id
"""
