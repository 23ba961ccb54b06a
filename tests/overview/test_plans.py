"""What runs every few seconds on the whole platform reads what is live or recent, never a whole history; plans only."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gpuaas.domain.overview.store import COUNTS
from tests import peek
from tests.world import World

HISTORY = {
    *("allocations", "operations", "node_tasks", "claims", "timeline_entries", "cleanup_proofs", "task_logs", "audit"),
    *("storage_attachments", "allocation_runtimes", "allocation_keysets", "terminals", "access_grants"),
}
# Tables are empty here: what the planner may not choose is what it would never choose on a long history.
ONLY_INDEXES = """
    set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off;
    set local enable_material = off; set local enable_memoize = off
"""
# Partial indexes of what is live; those of what ended are as long as the history.
LIVE = """
    select indexrelid::regclass::text from pg_index
    where indpred is not null and indexrelid::regclass::text !~ '_ended$'
"""
OLD_COUNT = "select count(*) from node_tasks where status in ('queued', 'sent')"
SCANS = {"Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan"}


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if plan["Node Type"] in SCANS and plan["Relation Name"] in HISTORY:
        yield plan
    for child in plan.get("Plans", []):
        yield from scans(child)


def leaves(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The scan itself, or the index scans below a bitmap."""
    below = [leaf for child in plan.get("Plans", []) for leaf in leaves(child)]
    return below or [plan]


async def read_whole(world: World, sql: str) -> list[str]:
    """Tables of history that this statement reads from end to end."""
    live = {row[0] for row in await peek.rows(world.db, LIVE)}
    async with world.db.write() as tx:
        await tx.run(ONLY_INDEXES)
        (found,) = await tx.column(f"explain (format json) {sql}")
    plan = json.loads(found)[0]["Plan"]
    whole = []
    for scan in scans(plan):
        is_bounded = all("Index Cond" in each or each.get("Index Name") in live for each in leaves(scan))
        if not is_bounded and not is_limited(plan, scan):
            whole.append(f"{scan['Relation Name']}: {scan.get('Filter', '')}")
    return whole


def is_limited(plan: dict[str, Any], scan: dict[str, Any]) -> bool:
    """Directly under a limit, with nothing left out on the way: it stops after so many rows."""
    for child in plan.get("Plans", []):
        if child is scan:
            return plan["Node Type"] == "Limit" and "Filter" not in scan
        if is_limited(child, scan):
            return True
    return False


async def test_counts_of_the_overview_and_the_scrape_read_no_whole_history(world: World) -> None:
    assert await read_whole(world, COUNTS) == []


@pytest.mark.parametrize("name", ["allocations", "limits", "runtimes"])
async def test_a_worker_finds_what_is_due_without_reading_a_whole_history(world: World, name: str) -> None:
    (due,) = [worker.due for worker in world.services.workers if worker.name == name]
    assert await read_whole(world, due) == []


async def test_a_condition_on_the_volatile_clock_is_seen(world: World) -> None:
    """The red twin: an index is read from end to end when its condition may change from row to row."""
    assert await read_whole(world, COUNTS.replace("statement_timestamp", "clock_timestamp")) != []


async def test_a_count_by_a_column_without_an_index_is_seen(world: World) -> None:
    """The red twin: how open tasks were counted before."""
    assert await read_whole(world, OLD_COUNT) != []
