"""What a key set costs does not grow with the history of its allocation."""

import json
from collections.abc import Iterator
from typing import Any

from gpuaas.domain.access.store import LOOK
from gpuaas.domain.allocations.store import KEYS
from tests import peek
from tests.world import World

HISTORY = """
    insert into node_tasks select (jsonb_populate_record(t, jsonb_build_object(
        'id', 'task_old' || n, 'seq', t.seq + n, 'lane', 'keys', 'kind', 'allocation.install_authorized_keys',
        'wants', jsonb_build_object('keys', jsonb_build_object('generation', n))))).*
    from node_tasks t, generate_series(1, 500) as n where t.allocation_id = $1
"""
MOST_ROWS = 10


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


async def test_a_look_at_a_key_set_does_not_read_every_task_of_its_allocation(world: World) -> None:
    id = await world.allocation()
    await peek.plant(world.db, HISTORY, id)
    found = await peek.value(world.db, f"explain (analyze, format json) {LOOK}", id, KEYS)
    scans = [node for node in nodes(json.loads(found)[0]["Plan"]) if node.get("Relation Name") == "node_tasks"]
    assert scans
    read = sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in scans)
    assert read <= MOST_ROWS, json.dumps(scans)
