"""SQL for streams that a replica requests from a node; the replica with the node's link delivers the request."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import astuple

from gpuaas.core.db import Tx

STREAMS = "streams"  # the topic of requested streams; its row ids are node ids


class StreamRequest(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    allocation_id: str
    kind: str
    target: Mapping[str, object]
    url: str  # of the requesting replica
    expires_at: datetime


async def add(tx: Tx, request: StreamRequest) -> None:
    await tx.run(ADD, *astuple(request))
    tx.hint(STREAMS, request.node_id)


async def take(tx: Tx, node_ids: list[str], now: datetime) -> list[StreamRequest]:
    """Return each request once; skip nodes whose link is disputed."""
    return await tx.all(StreamRequest, TAKE, node_ids, now)


ADD = """
    insert into stream_requests (id, node_id, allocation_id, kind, target, url, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7)
"""
TAKE = """
    update stream_requests set sent_at = $2 where node_id = any ($1) and sent_at is null and expires_at > $2
        and not is_link_in_doubt(node_id, $2)
    returning *
"""
