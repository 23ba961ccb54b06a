"""A machine seen from every side at once: where two portraits are alike, nothing came of what was done between them."""

from pathlib import Path
from typing import Any

from tests.crash import guests
from tests.crash.mortals import UNREACHED
from tests.crash.stages import Stage

ROWS = {
    "allocation": """
        select status, boot, gpu_count, port, host_key, holder_id, expires_at from allocations where id = $1
    """,
    "slots": "select slot_id from claims where allocation_id = $1 and released_at is null order by slot_id",
    "keys": "select generation, observed_generation from allocation_keysets where allocation_id = $1",
    "grants": "select id, status from access_grants where allocation_id = $1 order by id",
    "mounts": "select id, status, observed_boot from storage_attachments where allocation_id = $1 order by id",
    "runtime": """
        select state, bundle_id, observed_bundle_id, observed_boot from allocation_runtimes where allocation_id = $1
    """,
    "operations": "select id, status from operations where subject_id = $1 order by id",
}
AROUND = {
    "volumes": "select id, status, snapshot_id from volumes order by id",
    "snapshots": "select id, status, size_bytes from volume_snapshots order by id",
    "bundles": "select id, status, operation_id from node_bundles order by id",
}
INSIDE = {
    "disk": "cat ~/kept",
    "slots inside": "echo $GPUAAS_SLOTS",
    "mounts inside": "cut -d ' ' -f 5,6 /proc/self/mountinfo | sort",
    "runtime inside": "gpuaas-runtime current || true; cat /etc/gpuaas/runtime/allocations/*.env || true",
}


async def portrait(stage: Stage, allocation_id: str, keys: dict[str, str]) -> dict[str, Any]:
    """`keys` are those of guests, by name: who of them is let in is part of it."""
    seen: dict[str, Any] = {
        name: [tuple(row) for row in await stage.query(sql, allocation_id)] for name, sql in ROWS.items()
    }
    seen |= {name: [tuple(row) for row in await stage.query(sql)] for name, sql in AROUND.items()}
    try:
        seen |= {name: await stage.says(allocation_id, command) for name, command in INSIDE.items()}
    except UNREACHED as error:
        seen["inside"] = repr(error)
    for name, key in keys.items():
        seen[f"{name} is let in"] = await guests.is_let_in(stage, allocation_id, key)
    seen["processes"] = stage.machine.lasting_processes_of(allocation_id)
    seen["data on disk"] = contents(stage.storage)
    seen["bundles on disk"] = sorted(str(path) for path in stage.machine.site.runtimes.glob("*/*"))
    return seen


def contents(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Of every file below: whose it is, how it may be used, and what it says."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status, said = path.lstat(), path.read_text() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (status.st_uid, status.st_mode, said)
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
