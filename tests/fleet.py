"""Nodes without agents: fake engines do the queued tasks by driving the real rows, step by step and when told."""

import base64
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Raw, msgpack, to_builtins
from msgspec.structs import replace

from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.tasks.kinds import KINDS
from gpuaas.agent.tasks.work import TaskRefusedError
from gpuaas.agent.volume_reports import VolumeReports
from gpuaas.core.errors import Raced
from gpuaas.core.settings import Settings
from gpuaas.domain import registry
from gpuaas.domain.allocations.observations import drift
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.images import store as images
from gpuaas.domain.storage.unknown import reconcile as unknown_volumes
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.registration import WorkerParts
from gpuaas.domain.tasks.store import SentTask
from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.environments import Environment, EnvironmentSpec, EnvironmentState, NodeFacts, ProofItem
from gpuaas.wire.link import LEASE_SECONDS, Progress, Report, Result, TaskBody, TaskStatus
from gpuaas.wire.storage import VolumeReport
from gpuaas.wire.tasks import CONTRACTS, TaskKind
from tests.quiet import Quiet

if TYPE_CHECKING:
    from tests.world import World

ROUNDS = 50
SETTLED = [each for each in registry.RESOURCES if each.tables]  # others end allocations by time
ROWS_OF = "select '{table}', md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from {table} t"
STATE = " union all ".join(ROWS_OF.format(table=table) for each in SETTLED for table in each.tables)
LINK_ALL = "insert into links select unnest($1::text[]), 'fleet', 0, clock_timestamp() on conflict do nothing"


def body_of(row: SentTask, now: datetime) -> TaskBody:
    """As the link would send it, but for the signature."""
    return TaskBody(
        id=row.id,
        node_id=row.node_id,
        allocation_id=row.allocation_id,
        lane=row.lane,
        seq=row.seq,
        boot=row.boot,
        kind=row.kind,
        wants=Raw(msgpack.encode(row.wants)),
        issued_at=now,
        expires_at=now + timedelta(minutes=10),
    )


class Node(FakeEngine):
    """A machine that can be told to misbehave."""

    def __init__(self, id: str, world: "World", gpus: int) -> None:
        super().__init__(clock=world.services.clock.now, gpus=gpus, fault=self._break, disk=world.disk)
        self.id = id
        self.broken: dict[str, str] = {}  # point → the reason a person reads
        self.residue: set[str] = set()  # what a look after removal still finds
        self.is_silent = False
        self.missing: tuple[str, ...] = ()  # what the node reports to lack
        self.boots: list[tuple[str, int]] = []  # every (allocation, boot) that was really booted

    async def _break(self, point: str, allocation_id: str) -> None:
        if reason := self.broken.get(point):
            raise EngineError(reason, f"planted at {point}")

    async def probe(self) -> NodeFacts:
        return replace(await super().probe(), missing=self.missing)

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        before = self.environments.get(spec.allocation_id)
        stood = before is not None and before.state is EnvironmentState.RUNNING and before.boot >= spec.boot
        made = await super().ensure(spec, on_phase)
        if not stood:
            self.boots.append((spec.allocation_id, spec.boot))
        return made

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        proofs = await super().remove(allocation_id, on_phase)
        return [replace(each, ok=False, evidence="planted") if each.item in self.residue else each for each in proofs]


class Nodes:
    """The fleet of one world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.all: dict[str, Node] = {}

    async def add(
        self, name: str = "", *, gpus: int = 8, approve: Iterable[int] | None = None, region: str = "local"
    ) -> Node:
        """A machine enrols by token, an operator approves its slots, and its link opens."""
        operator, name = self._world.operator.http, name or f"node-{len(self.all) + 1}"
        issued = (
            await operator.post("/api/v1/admin/enrolment-tokens", json={"node_name": name, "region": region})
        ).json()
        node = self.all[issued["node_id"]] = Node(issued["node_id"], self._world, gpus)
        facts = await node.probe()
        key = base64.b64encode(hashlib.sha256(name.encode()).digest()).decode()
        enrol = {"token": issued["token"], "public_key": key, "agent_version": "1", "facts": to_builtins(facts)}
        (await self._world.stranger.post("/internal/v1/nodes/enrol", json=enrol)).raise_for_status()
        for index in range(gpus) if approve is None else approve:
            (await operator.post(f"/api/v1/admin/nodes/{node.id}/slots/{index}/approve", json={})).raise_for_status()
        await self.connect(node)
        return node

    async def connect(self, node: Node) -> None:
        """Its link opens, as links/server.py would write it down."""
        world, node.is_silent = self._world, False
        await node.lease(world.services.clock.now(), LEASE_SECONDS)
        async with world.db.write() as tx:
            facts = await node.probe()
            opened = capacity.OpenedLink(node_id=node.id, facts=facts, agent_version="1", boot_id="b")
            await capacity.links_opened(tx, [opened], world.services.clock.now())
        await world.services.index.refresh()

    async def disconnect(self, node: Node) -> None:
        world, node.is_silent = self._world, True
        async with world.db.write() as tx:
            await capacity.links_lost(tx, {node.id: world.services.clock.now()})
        await world.services.index.refresh()

    async def report(self, node: Node) -> list[drift.Finding]:
        """The node says all that exists on it, a while after it was settled."""
        world = self._world
        world.clock.advance(seconds=5)
        report = Report(environments=await node.observe(), at=world.clock.now())
        async with world.db.write() as tx:
            found = await drift.apply(tx, {node.id: report}, ids=world.services.ids, now=world.services.clock.now())
            await images.observed(tx, {node.id: await node.images.report()})
            await registry.observe(tx, {node.id: report}, ids=world.services.ids, now=world.services.clock.now())
        return [finding for _, finding in found]

    async def report_volumes(self, node: Node) -> None:
        """The node says which volumes are on it, as its agent would."""
        world = self._world
        world.clock.advance(seconds=5)
        outgoing = Outgoing()
        outgoing.open()
        await VolumeReports(node, outgoing, world.clock.now).look()
        while outgoing.is_waiting:
            told = await outgoing.get()
            assert isinstance(told, VolumeReport)
            async with world.db.write() as tx:
                now = world.services.clock.now()
                await unknown_volumes.observe(tx, node.id, told, ids=world.services.ids, now=now)

    async def settle(self) -> None:
        """Until nothing is due: the worker looks at every due row, the engines do every task."""
        for _ in range(ROUNDS):
            before = await self._state()
            await self.reconcile()
            did = await self.work()
            if not did and await self._state() == before:
                await self._world.services.index.refresh()
                return
        raise AssertionError(f"nothing settles: {await self._state()}")

    async def reconcile(self) -> None:
        """One pass over every due row: the allocation worker, then those of what lies over a machine."""
        made = self._world.services
        settings = Settings(data=made.data)
        parts = WorkerParts(db=made.worker_db, ids=made.ids, clock=made.clock, settings=settings)
        for worker in [make(parts) for each in SETTLED for make in each.workers]:
            async with self._world.db.read() as tx:
                due = await tx.column(worker.due)
            for row_id in sorted(due):
                with suppress(Raced):
                    await worker(row_id)

    async def work(self) -> int:
        """Every node that answers does what is queued for it; how many tasks that were."""
        answering = [node.id for node in self.all.values() if not node.is_silent]
        async with self._world.db.write() as tx:
            await tx.run(LINK_ALL, answering)
            rows = await tasks.take_queued(tx, answering, "fleet", of_each=100, in_all=1000)
            await tx.run("delete from links where replica_id = 'fleet'")
        for row in rows:
            result = await self._do(self.all[row.node_id], row)
            async with self._world.db.write() as tx:
                await tasks.end_all(tx, [(row.node_id, result)])
        return len(rows)

    async def _do(self, node: Node, row: SentTask) -> Result:
        phases: list[Progress] = []
        now = self._world.services.clock.now

        async def on_phase(phase: str, note: str) -> None:
            phases.append(Progress(task_id=row.id, phase=phase, note=note, at=now()))

        try:
            work = KINDS[row.kind](body_of(row, now()))
            effects = await work.perform(node, Quiet(on_phase))
            is_short = effects.shortfall and row.kind is not TaskKind.REMOVE
            status = TaskStatus.FAILED if is_short else TaskStatus.DONE
            done = Result(task_id=row.id, status=status, at=now(), reason=effects.shortfall, phases=phases)
            return replace(done, **CONTRACTS[row.kind].pack(effects.result))
        except TaskRefusedError as refusal:
            refused = Result(task_id=row.id, status=TaskStatus.REFUSED, at=now(), phases=phases)
            return replace(refused, reason=refusal.reason, detail=refusal.detail)
        except EngineError as error:
            failed = Result(task_id=row.id, status=TaskStatus.FAILED, at=now(), phases=phases)
            return replace(failed, reason=error.reason, detail=error.detail)

    async def _state(self) -> list[tuple[object, ...]]:
        async with self._world.db.read() as tx:
            return [tuple(row) for row in await tx.connection.fetch(STATE)]
