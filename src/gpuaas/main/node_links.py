"""Wires the link server: who may open links, and the streams that this replica serves."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.points import Points
from gpuaas.core.secrets import MasterKey, TaskKeyring
from gpuaas.core.settings import Settings
from gpuaas.domain.quotas.open_streams import OpenStreams
from gpuaas.domain.terminals.commands import Policy
from gpuaas.links.server import LinkServer
from gpuaas.links.streams.terminals import Relays
from gpuaas.wire.link import origin_of


@dataclass(frozen=True, kw_only=True)
class NodeLinks:
    links: LinkServer
    terminals: Relays
    open_streams: OpenStreams
    url: str  # at which other replicas and agents reach this one

    def loops(self) -> list[Callable[[], Coroutine[None, None, None]]]:
        return [self.terminals.run, *self.links.loops(self.url)]


async def node_links(
    config: Settings,
    db: Database,
    *,
    hints: Hints,
    ids: Ids,
    clock: Clock,
    points: Points,
    master: MasterKey,
    keyring: TaskKeyring,
) -> NodeLinks:
    links = LinkServer(
        db=db, hints=hints, ids=ids, clock=clock, keyring=keyring, points=points, origins=origins(config)
    )
    await links.keys.refresh()
    links.holder_lease_seconds = config.holder_lease_hours * 3600
    open_streams, url = OpenStreams(), config.advertise_url or config.public_url
    terminals = Relays(
        master,
        links,
        db=db,
        hints=hints,
        ids=ids,
        clock=clock,
        policy=Policy.of(config),
        url=url,
        open_streams=open_streams,
    )
    return NodeLinks(links=links, terminals=terminals, open_streams=open_streams, url=url)


def origins(config: Settings) -> frozenset[str]:
    """What an agent may have dialled to reach this server; its proof of identity is bound to it."""
    local = {f"http://{name}:{config.port}" for name in ("127.0.0.1", "localhost", "[::1]", config.host)}
    return frozenset(origin_of(url) for url in {config.public_url, config.advertise_url, *local} if url)
