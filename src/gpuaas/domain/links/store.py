"""Which replica holds which node's link, and which replicas live."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx

DEAD_REPLICA_SECONDS = 6.0


class LostLink(Struct, frozen=True):
    node_id: str
    last_seen: datetime


async def open_link(tx: Tx, node_id: str, replica_id: str, now: datetime) -> int:
    """The newest link of a node counts; its epoch says which that is."""
    return int(await tx.value(OPEN_LINK, node_id, replica_id, now))


async def close_link(tx: Tx, node_id: str, epoch: int) -> bool:
    """False if the node has a newer link meanwhile, here or elsewhere."""
    return bool(await tx.run("delete from links where node_id = $1 and epoch = $2", node_id, epoch))


async def replica_lives(tx: Tx, replica_id: str, url: str) -> None:
    await tx.run(REPLICA_LIVES, replica_id, url)


async def take_links_of_dead_replicas(tx: Tx) -> list[LostLink]:
    return await tx.all(LostLink, TAKE_DEAD, DEAD_REPLICA_SECONDS)


OPEN_LINK = """
    insert into links as l (node_id, replica_id, epoch, since) values ($1, $2, nextval('link_epochs'), $3)
    on conflict (node_id) do update set replica_id = excluded.replica_id, epoch = excluded.epoch, since = excluded.since
    returning epoch
"""
REPLICA_LIVES = """
    insert into replicas (id, url, started_at, seen_at) values ($1, $2, clock_timestamp(), clock_timestamp())
    on conflict (id) do update set seen_at = clock_timestamp()
"""
TAKE_DEAD = """
    with dead as (
        delete from links l using replicas r
        where r.id = l.replica_id and r.seen_at < clock_timestamp() - $1 * interval '1 second'
        returning l.node_id, r.seen_at
    )
    select node_id, seen_at as last_seen from dead
"""
