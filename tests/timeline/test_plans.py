"""Pages and followers read an index in its order, however long the history is; no timing, only plans."""

from gpuaas.core.secrets import token_hash
from gpuaas.domain.identity.store import entering
from gpuaas.domain.streams import store as streams
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.store import Cursor, LogsOf
from tests import peek
from tests.world import World

PLACE = (1, 1000, 1, 50)
STATEMENTS = {
    "project timeline": (store.RECENT, ("proj_a", *PLACE)),
    "subject timeline": (store.RECENT_OF_SUBJECT, ("alloc_a", *PLACE)),
    "log lines of an operation": (store.LOG_LINES.format("operation_id"), ("op_a", *PLACE)),
    "log lines of an allocation": (store.LOG_LINES.format("allocation_id"), ("alloc_a", *PLACE)),
}
AFTER = Cursor(1, 1000, 1)
LOOKS = {
    "project events": streams.follow_entries("proj_a", None, AFTER, 50),
    "subject events": streams.follow_entries("proj_a", "alloc_a", AFTER, 50),
    "log tail of an operation": streams.follow_lines("proj_a", LogsOf(operation_id="op_a"), AFTER, 50),
    "log tail of an allocation": streams.follow_lines("proj_a", LogsOf(allocation_id="alloc_a"), AFTER, 50),
}
# Tables are empty here: what the planner may not choose is what it would never choose on a long history.
ONLY_INDEXES = "set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off"
OLD_RECENT = """
    select xid::text::bigint as xid, id from timeline_entries where project_id = $1
        and (epoch, xid, id) < ($2::int, $3::bigint::text::xid8, $4::bigint)
    order by epoch desc, xid desc, id desc limit $5
"""


async def plan(world: World, sql: str, *args: object) -> str:
    """As a request would run it, behind the row-level policies."""
    async with world.services.api_db.write() as tx:
        await tx.run(ONLY_INDEXES)
        return "\n".join(await tx.column(f"explain {sql}", *args))


async def test_a_page_is_read_from_an_index_in_its_order(world: World) -> None:
    for name, (sql, args) in STATEMENTS.items():
        found = await plan(world, sql, *args)
        assert "Sort" not in found, f"{name}: {found}"
        assert "ROW(epoch, xid" in found.split("Filter:")[0], f"{name}: {found}"


async def test_a_stream_looks_for_what_came_in_an_index(world: World) -> None:
    for name, query in LOOKS.items():
        sql = entering(query.sql, len(query.args), with_key=False)
        found = await plan(world, sql, token_hash(world.ada.token), *query.args)
        conditions = [line for line in found.splitlines() if "Index Cond" in line and "ROW(epoch, xid" in line]
        assert len(conditions) == 2, f"{name}: {found}"
        assert "Sort" not in found, f"{name}: {found}"


async def test_an_output_column_named_xid_would_sort_the_whole_history(world: World) -> None:
    """The red twin: `order by xid` means the output column."""
    assert "Sort" in await plan(world, OLD_RECENT, "proj_a", *PLACE)


async def test_the_statements_run_as_written(world: World) -> None:
    for sql, args in STATEMENTS.values():
        assert await peek.rows(world.db, sql, *args) == []
