"""SQL for links: which replica holds the link of each node, and which replicas are alive."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx

DEAD_REPLICA_SECONDS = 6.0


CONTEST_SECONDS = 60.0
DISPUTE_SECONDS = 10.0  # a live agent whose link was replaced reconnects within a second
HOLDERS_KEPT = 8  # per node; more while one of them could still return to a contest


class OpenedLink(Struct, frozen=True):
    node_id: str
    epoch: int
    replaces_live: bool  # until now, another agent process had the link


class Contest(Struct, frozen=True):
    """The node's key was used by one process, by another, and by the first again."""

    node_id: str
    instance: str
    other: str
    other_epoch: int


class LostLink(Struct, frozen=True):
    node_id: str
    last_seen: datetime


async def open_links(
    tx: Tx, instances: Mapping[str, str], replica_id: str, now: datetime
) -> tuple[dict[str, OpenedLink], list[Contest]]:
    """Store new links, by node and agent process. The newest link counts; its epoch shows which that is.

    An agent that does not send the name of its process cannot open a link if earlier agents of the node did.
    """
    opened = await tx.all(OpenedLink, OPEN_LINKS, list(instances), replica_id, now, list(instances.values()))
    nodes = [each.node_id for each in opened]
    holders = (nodes, [instances[id] for id in nodes], [each.epoch for each in opened])
    contests = await tx.all(Contest, NOTE_HOLDERS, *holders, now, CONTEST_SECONDS)
    await tx.run(FORGET_HOLDERS, nodes, HOLDERS_KEPT, now, CONTEST_SECONDS)
    return {each.node_id: each for each in opened}, contests


async def end_links(tx: Tx, node_id: str) -> None:
    """Delete the link's row. The replica that has the link then closes it at its next check."""
    await tx.run("delete from links where node_id = $1", node_id)


async def forget_holders(tx: Tx, node_id: str) -> None:
    """An operator settled who owns the node's key; detection starts again."""
    await tx.run("delete from link_holders where node_id = $1", node_id)


async def close_links(tx: Tx, links: Sequence[tuple[str, int]]) -> list[str]:
    """Close links by node and epoch; returns the nodes whose link this closed. The other nodes already have a newer
    link.
    """
    return await tx.column(CLOSE_LINKS, [node_id for node_id, _ in links], [epoch for _, epoch in links])


async def replica_lives(tx: Tx, replica_id: str, url: str) -> None:
    await tx.run(REPLICA_LIVES, replica_id, url)


async def take_links_of_dead_replicas(tx: Tx) -> list[LostLink]:
    return await tx.all(LostLink, TAKE_DEAD, DEAD_REPLICA_SECONDS)


async def take_forgotten_links(tx: Tx, replica_id: str, here: Mapping[str, int], before: datetime) -> list[LostLink]:
    """Delete rows of this replica, opened before `before`, that have no link here: closing them failed earlier."""
    return await tx.all(LostLink, TAKE_FORGOTTEN, replica_id, list(here), list(here.values()), before)


async def strays(tx: Tx, replica_id: str, here: Mapping[str, int]) -> list[str]:
    """Nodes whose link here, by its epoch, is not the newest."""
    return await tx.column(STRAYS, replica_id, list(here), list(here.values()))


# The previous link is read from the snapshot, and so from before the insert. An agent without a process name that was
# recorded before named ones may be an older version of the node's agent, so it counts like any other.
OPEN_LINKS = """
    with opened as (
        insert into links as l (node_id, replica_id, epoch, since, instance)
        select node.id, $2, nextval('link_epochs'), $3, node.instance
        from unnest($1::text[], $4::text[]) as node (id, instance)
        where node.instance <> '' or not exists (select from link_holders h where h.node_id = node.id)
            or exists (select from link_holders h where h.node_id = node.id and h.instance = '')
        order by node.id
        on conflict (node_id) do update set replica_id = excluded.replica_id, epoch = excluded.epoch,
            since = excluded.since, instance = excluded.instance
        returning node_id, epoch, instance
    )
    select o.node_id, o.epoch, coalesce(before.instance <> o.instance, false) as replaces_live
    from opened o left join links before on before.node_id = o.node_id
"""
# A process that opens a link after another one, and had a link before it: both are alive.
NOTE_HOLDERS = """
    with told as (
        select * from unnest($1::text[], $2::text[], $3::bigint[]) as t (node_id, instance, epoch)
    ), noted as (
        insert into link_holders as h (node_id, instance, epoch, opened_at)
        select node_id, instance, epoch, $4 from told
        on conflict (node_id, instance) do update set epoch = excluded.epoch, opened_at = excluded.opened_at
    )
    select t.node_id, t.instance, other.instance as other, other.epoch as other_epoch
    from told t join link_holders mine on mine.node_id = t.node_id and mine.instance = t.instance, lateral (
        select h.instance, h.epoch from link_holders h
        where h.node_id = t.node_id and h.instance <> t.instance and h.epoch > mine.epoch
            and h.opened_at > $4::timestamptz - $5::float8 * interval '1 second'
        order by h.epoch limit 1
    ) as other
"""
# Keep the process that had the link when the contest window began, and all later ones: its return is noticed, however
# many names were used since.
FORGET_HOLDERS = """
    delete from link_holders h where node_id = any ($1) and epoch < (
        select min(kept.epoch) from (
            select k.epoch from link_holders k where k.node_id = h.node_id order by k.epoch desc limit $2
        ) as kept)
        and epoch < (
            select max(k.epoch) from link_holders k
            where k.node_id = h.node_id and k.opened_at <= $3::timestamptz - $4::float8 * interval '1 second')
"""
CLOSE_LINKS = """
    delete from links l using unnest($1::text[], $2::bigint[]) as over (node_id, epoch)
    where l.node_id = over.node_id and l.epoch = over.epoch returning l.node_id
"""
REPLICA_LIVES = """
    insert into replicas (id, url, started_at, seen_at) values ($1, $2, clock_timestamp(), clock_timestamp())
    on conflict (id) do update set seen_at = clock_timestamp()
"""
# A replica without a row in `replicas` was last seen when it opened the link.
TAKE_DEAD = """
    with dead as (
        delete from links l
        where coalesce((select r.seen_at from replicas r where r.id = l.replica_id), l.since)
            < clock_timestamp() - $1::float8 * interval '1 second'
        returning l.node_id, l.replica_id, l.since
    )
    select d.node_id, coalesce(r.seen_at, d.since) as last_seen from dead d left join replicas r on r.id = d.replica_id
"""
TAKE_FORGOTTEN = """
    delete from links l using nodes n
    where l.replica_id = $1 and n.id = l.node_id and l.since < $4 and not exists (
        select from unnest($2::text[], $3::bigint[]) as here (node_id, epoch)
        where here.node_id = l.node_id and here.epoch = l.epoch
    )
    returning l.node_id, greatest(l.since, n.last_seen_at) as last_seen
"""
STRAYS = """
    select here.node_id from unnest($2::text[], $3::bigint[]) as here (node_id, epoch)
    where not exists (
        select from links l where l.node_id = here.node_id and l.epoch = here.epoch and l.replica_id = $1
    )
"""
