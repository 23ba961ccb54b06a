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
from gpuaas.domain.metrics.samples import SampleBuffer
from gpuaas.domain.node_messages.catalog import ANNOUNCEMENTS, LoginCounter, handlers
from gpuaas.domain.quotas.open_streams import OpenStreams
from gpuaas.domain.terminals.commands import Policy
from gpuaas.links.server import LinkServer
from gpuaas.links.streams.server import StreamServer
from gpuaas.links.streams.terminal import TerminalStreams
from gpuaas.wire.link import origin_of


@dataclass(frozen=True, kw_only=True)
class NodeLinks:
    links: LinkServer
    samples: SampleBuffer
    logins: LoginCounter
    streams: StreamServer
    terminals: TerminalStreams
    open_streams: OpenStreams
    url: str  # at which other replicas and agents reach this one

    # The interface for routes: NodeLinks of api/services.py

    @property
    def holder_lease_seconds(self) -> float:
        return self.links.holder_lease_seconds

    @property
    def count(self) -> int:
        return self.links.count

    @property
    def beats(self) -> int:
        return self.links.beats

    @property
    def samples_dropped(self) -> int:
        return self.samples.dropped

    @property
    def logins_dropped(self) -> int:
        return self.logins.dropped

    async def cut(self, node_id: str, reason: str) -> None:
        await self.links.cut(node_id, reason)

    def loops(self) -> list[Callable[[], Coroutine[None, None, None]]]:
        return [*self.streams.loops(), *self.links.loops(self.url)]


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
    samples, logins = SampleBuffer(db, clock), LoginCounter()
    links = LinkServer(
        db=db,
        hints=hints,
        ids=ids,
        clock=clock,
        keyring=keyring,
        points=points,
        origins=origins(config),
        handlers=handlers(logins),
        buffers=[samples],
        announcements=ANNOUNCEMENTS,
    )
    await links.keys.refresh()
    links.holder_lease_seconds = config.holder_lease_hours * 3600
    open_streams, url = OpenStreams(), config.advertise_url or config.public_url
    streams = StreamServer(master, links, db=db, hints=hints, ids=ids, clock=clock, url=url)
    terminals = TerminalStreams(
        streams,
        links,
        master,
        db=db,
        hints=hints,
        ids=ids,
        clock=clock,
        policy=Policy.of(config),
        open_streams=open_streams,
    )
    streams.kinds.register(terminals)
    return NodeLinks(
        links=links,
        streams=streams,
        terminals=terminals,
        samples=samples,
        logins=logins,
        open_streams=open_streams,
        url=url,
    )


def origins(config: Settings) -> frozenset[str]:
    """The origins at which agents may connect to this server; their proofs of identity are bound to one of them."""
    local = {f"http://{name}:{config.port}" for name in ("127.0.0.1", "localhost", "[::1]", config.host)}
    return frozenset(origin_of(url) for url in {config.public_url, config.advertise_url, *local} if url)
