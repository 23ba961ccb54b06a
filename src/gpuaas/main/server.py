"""`gpuaas server`: the control plane. Any number of replicas can share one PostgreSQL."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import structlog
import typer
import uvicorn
import uvloop
from litestar import Litestar
from litestar.types import ASGIApp

from gpuaas.api.app import create_app, create_health_app
from gpuaas.api.services import Services
from gpuaas.cli.complaints import Complaint
from gpuaas.core import logs, settings
from gpuaas.core.clock import Clock, DatabaseClock, SystemClock
from gpuaas.core.db import Database, DbRole, connect
from gpuaas.core.embedded import Embedded, EmbeddedError
from gpuaas.core.health import Health
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.outbox import Event, Relay
from gpuaas.core.points import Points, points_from
from gpuaas.core.secrets import AuditSigner, MasterKey, MasterKeyError, TaskKeyring, pin
from gpuaas.core.settings import Settings, SettingsError
from gpuaas.core.traces import Traces
from gpuaas.core.watch import Watch
from gpuaas.core.work import Loop, Worker, system_jitter
from gpuaas.domain import registry
from gpuaas.domain.audit.reconcile import SealWorker
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import Accounts
from gpuaas.domain.identity.passwords import Passwords
from gpuaas.domain.invariants.reconcile import InvariantWorker
from gpuaas.domain.launch.commands import Launch
from gpuaas.domain.metrics.rollup import RollUp
from gpuaas.domain.skus.catalog import Catalog
from gpuaas.domain.tasks.registration import WorkerParts
from gpuaas.domain.workers.janitor import Janitor
from gpuaas.links.endpoint import AgentEndpoints
from gpuaas.main.children import die_with_parent
from gpuaas.main.front_end import FrontEndLimits, limited
from gpuaas.main.node_links import NodeLinks, node_links
from gpuaas.main.traces import traces_from
from gpuaas.main.waiting import WaitingApp, until_usable
from gpuaas.main.websockets import QuickProtocol

log = structlog.get_logger()
POOLS = (DbRole.API, DbRole.OPERATOR, DbRole.WORKER)
Background = Callable[[], Coroutine[None, None, None]]


class Only(StrEnum):
    API = "api"
    WORKERS = "workers"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts that a control plane receives from outside; a test or a simulator passes other parts."""

    clock: Clock | None = None  # None: the database's
    randomness: Callable[[int], bytes] = os.urandom
    jitter: Callable[[], float] = system_jitter
    passwords: Passwords = field(default_factory=Passwords)
    caller_type: type[Caller] = Caller
    traces: Traces | None = None  # None: from the settings


async def tell_log(events: list[Event]) -> None:
    """The structured log is the first follower of the outbox."""
    for event in events:
        log.info("outbox.event", topic=event.topic, **event.payload)


@dataclass(frozen=True)
class Wired:
    """A control plane, and the loops of its two halves."""

    services: Services
    nodes: NodeLinks
    serving: Sequence[Background]  # in addition to the routes: the index, the node links
    working: Sequence[Background]

    def app(self, litestar: Litestar | None = None) -> ASGIApp:
        """The endpoints of agents, and behind them the API."""
        return AgentEndpoints(create_app(self.services, litestar), self.nodes.links, self.nodes.streams)


@asynccontextmanager
async def wired(config: Settings, dsn: str, parts: Parts | None = None) -> AsyncIterator[Wired]:
    """All parts of a server, on open pools that are closed at the end."""
    parts = parts or Parts()
    watch = Watch(dsn, parts.clock or DatabaseClock(SystemClock()), Health())
    if isinstance(watch.clock, DatabaseClock):
        await watch.look()
    points, ids = points_from(config.points), Ids(watch.clock, parts.randomness)
    hints = Hints(ids.new("replica"))
    traces = parts.traces or traces_from(config.traces)
    pools = await open_pools(config, dsn, hints, points, traces=traces, health=watch.health)
    try:
        yield await assemble(config, parts, pools, watch=watch, hints=hints, ids=ids, points=points)
    finally:
        for db in pools:
            await db.close()


async def assemble(
    config: Settings, parts: Parts, pools: Sequence[Database], *, watch: Watch, hints: Hints, ids: Ids, points: Points
) -> Wired:
    """The services for routes, and the loops that run beside them."""
    api_db, operator_db, worker_db = pools
    await asyncio.gather(api_db.check_fence(), operator_db.check_fence())
    clock, master = watch.clock, MasterKey.from_file(config.master_key_file)
    index = Index(worker_db, hints, clock)
    await index.refresh()
    task_keys = await pin(worker_db, TaskKeyring(master))
    nodes = await node_links(
        config, worker_db, hints=hints, ids=ids, clock=clock, points=points, master=master, keyring=task_keys
    )
    catalog, audit_signer = Catalog(worker_db, clock), AuditSigner(master)
    workers = (
        *all_workers(worker_db, ids, clock, config),
        SealWorker(worker_db, clock, audit_signer),
    )
    services = Services(
        api_db=api_db,
        operator_db=operator_db,
        worker_db=worker_db,
        hints=hints,
        ids=ids,
        clock=clock,
        master=master,
        task_keys=task_keys,
        audit_signer=audit_signer,
        accounts=Accounts(worker_db, ids, parts.passwords),
        index=index,
        launch=Launch(index, catalog, ids),
        links=nodes,
        terminals=nodes.terminals,
        streams=nodes.open_streams,
        workers=workers,
        health=watch.health,
        watch=watch,
        data=config.data,
        min_free_mib=config.min_free_mib,
        public_url=config.public_url,
        sign_up=config.sign_up,
        metrics_token=config.metrics_token,
        caller_type=parts.caller_type,
    )
    loops = [Loop(worker_db, worker, hints, token=hints.replica_id, jitter=parts.jitter).run for worker in workers]
    for forget in (*(db.pool.renew_now for db in pools), catalog.refresh, index.refresh, nodes.links.reopen_all):
        watch.on_change(forget)
    return Wired(services, nodes, [watch.run, index.run, *nodes.loops()], loops)


async def open_pools(
    config: Settings, dsn: str, hints: Hints, points: Points, *, traces: Traces, health: Health
) -> list[Database]:
    size = config.pool_size
    return [
        await connect(dsn, role, hints=hints, points=points, size=size, traces=traces, health=health) for role in POOLS
    ]


def all_workers(db: Database, ids: Ids, clock: Clock, config: Settings) -> tuple[Worker, ...]:
    return (
        *registry.workers(WorkerParts(db=db, ids=ids, clock=clock, settings=config)),
        Relay(db, tell_log),
        Janitor(db, clock, config.retention, registry.SWEEPS),
        InvariantWorker(db, clock),
        RollUp(db, clock),
    )


async def serve(config: Settings, only: Only | None) -> None:
    dsn = config.dsn or await Embedded(config.data / "postgres").start()
    health = Health()
    await until_usable(dsn, health, listener(WaitingApp(health), config))
    async with wired(config, dsn) as made, asyncio.TaskGroup() as group:
        halves = {
            None: [*made.serving, *made.working],
            Only.API: made.serving,
            Only.WORKERS: [made.services.watch.run, *made.working],
        }
        running = [group.create_task(made.services.hints.relay(dsn, made.services.health))]
        running += [group.create_task(run()) for run in halves[only]]
        app = create_health_app(made.services) if only is Only.WORKERS else made.app()
        try:
            await listener(app, config).serve()
        finally:
            for task in running:
                task.cancel()


def listener(app: ASGIApp, config: Settings, limits: FrontEndLimits = FrontEndLimits()) -> uvicorn.Server:
    proxies = config.proxies
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=config.host,
            port=config.port,
            http=limited(limits, proxies),
            proxy_headers=bool(proxies),
            forwarded_allow_ips=[str(network) for network in proxies],
            ws=QuickProtocol,
            ws_ping_interval=None,  # beats are more reliable
            ws_per_message_deflate=False,  # links would pay in memory, terminals in time
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=3,
            backlog=4096,
        )
    )


def command(
    data: Annotated[Path | None, typer.Option(help="Folder for keys and the embedded PostgreSQL.")] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    only: Annotated[
        Only | None, typer.Option(help="Run one half: routes and node links, or workers (and /healthz, /readyz).")
    ] = None,
    with_parent: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run the control plane. Settings come from GPUAAS_… variables; see docs/reference/settings.md."""
    die_with_parent(with_parent)
    try:
        config = settings.load(os.environ, data=data, host=host, port=port)
        config.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        logs.configure(level=config.log_level)
        log.info("proxies.trusted", networks=[str(network) for network in config.proxies])
        uvloop.run(serve(config, only))
    except (EmbeddedError, MasterKeyError, SettingsError) as error:
        raise Complaint(str(error)) from error
