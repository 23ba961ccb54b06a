"""What a stream of ada's reads of the subject `test`."""

from gpuaas.core.db import Database
from gpuaas.core.secrets import token_hash
from gpuaas.domain.identity import store as identity
from gpuaas.domain.streams.store import Look, follow_entries
from gpuaas.domain.timeline.store import Cursor
from gpuaas.wire.timeline import Entry
from tests.world import World


async def look(world: World, after: Cursor, *, subject_id: str = "test", db: Database | None = None) -> Look[Entry]:
    """`db`: of another cluster."""
    query = follow_entries(world.ada.project_id, subject_id, after, 50)
    async with (db or world.services.api_db).read() as tx:
        entered = await identity.enter(tx, token_hash(world.ada.token), query=query)
    assert entered is not None
    assert entered.found is not None
    return entered.found
