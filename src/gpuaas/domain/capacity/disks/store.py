"""SQL for the disks of nodes: the size that agents report, and how much of it operators sell.

The database counts what is sold (migration 0091) and refuses a commit that would sell more.
"""

from collections.abc import Mapping

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound
from gpuaas.wire.environments import DiskSpace

SQLSTATE = "GD001"  # raised by count_disk()
LARGEST_GIB = 1 << 40  # limits one report, because reports of other nodes are in the same statement


class NodeDiskFull(Conflict):
    """The node that the request needs has too little disk."""

    code = "node_disk_full"

    def __init__(self, node_id: str, wanted_gib: int, left_gib: int) -> None:
        super().__init__(
            f"The node has {left_gib} GiB of disk left, and this needs {wanted_gib} GiB there. "
            "Delete a volume or release an allocation on it, or ask for less.",
            node_id=node_id,
            wanted_gib=wanted_gib,
            left_gib=left_gib,
        )


async def reported(tx: Tx, found: Mapping[str, DiskSpace | None]) -> list[str]:
    """Returns the nodes whose disk changed. A node that reports no disk keeps its last report."""
    rows = sorted((id, disk) for id, disk in found.items() if disk is not None)
    if not rows:
        return []
    sizes, frees = [_within(disk.size_gib) for _, disk in rows], [_within(disk.free_gib) for _, disk in rows]
    return await tx.column(REPORTED, [id for id, _ in rows], sizes, frees)


def _within(gib: int) -> int:
    return max(0, min(gib, LARGEST_GIB))


async def check_left(tx: Tx, node_id: str, wanted_gib: int) -> None:
    """Report early what the commit would refuse. It takes no lock, so the commit decides."""
    left = await tx.value("select disk_left($1)", node_id)
    if left is not None and wanted_gib > left:
        raise NodeDiskFull(node_id, wanted_gib, left)


async def set_overcommit(tx: Tx, node_id: str, overcommit: float) -> float:
    """Returns the previous value."""
    before = await tx.value("select overcommit::float8 from node_disks where node_id = $1", node_id)
    if before is None:
        raise NotFound("node")
    await tx.run("update node_disks set overcommit = $2::float8 where node_id = $1", node_id, overcommit)
    return float(before)


DISK = """
    select jsonb_build_object('size_gib', d.size_gib, 'free_gib', d.free_gib, 'reported_at', d.reported_at,
        'overcommit', d.overcommit, 'for_sale_gib', disk_for_sale(d.size_gib, d.overcommit), 'sold_gib', d.sold_gib,
        'is_low', disk_is_low(d.size_gib, d.free_gib, d.overcommit)) from node_disks d
"""
REPORTED = """
    update node_disks d set size_gib = told.size_gib, free_gib = told.free_gib, reported_at = clock_timestamp()
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as told (node_id, size_gib, free_gib)
    where d.node_id = told.node_id and (d.size_gib, d.free_gib) is distinct from (told.size_gib, told.free_gib)
    returning d.node_id
"""
