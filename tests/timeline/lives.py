"""Random lives of an allocation, and a model of its usage in Python.

Each step is written by this code, or as the previous landing wrote it.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.store import AllocationRow, Change
from gpuaas.domain.resizes.store import Resize
from gpuaas.domain.timeline.transitions.store import Act
from gpuaas.wire.allocations import Status
from tests.world import World

Interval = tuple[int, datetime, datetime | None]  # quantity, from, to
NEXT = {
    Status.ACTIVE: ("restart", "restart", "resize", "resize", "pause", "pause", "lost", "release"),
    Status.RESTARTING: ("up", "up", "up", "up", "fail", "fail", "lost", "release"),
    Status.RESTART_FAILED: ("restart", "restart", "restart", "lost", "release"),
}
# As the landing before usage intervals wrote them.
OLD_MOVE = """
    with moved as (
        update allocations set status = $2, status_since = $3, version = version + 1,
            billing_stopped_at = case when $2 = 'active' then null else coalesce(billing_stopped_at, $4) end
        where id = $1 returning *
    )
    insert into timeline_entries (tenant_id, project_id, subject_kind, subject_id, phase, outcome, at, actor)
    select tenant_id, project_id, 'allocation', id, $2, 'done', $3, 'system' from moved
"""
OLD_PAUSE = "update allocations set billing_stopped_at = $2, version = version + 1 where id = $1"
ENTRY = """
    insert into timeline_entries (tenant_id, project_id, subject_kind, subject_id, phase, outcome, at, actor, evidence)
    select tenant_id, project_id, 'allocation', id, $2, 'done', $3, 'system', $4 from allocations where id = $1
"""
OLD_RESIZE = """
    update allocations set gpu_count = $2::int, price_minor_per_hour = price_minor_per_hour / gpu_count * $2::int
    where id = $1
"""
RESIZE_AUDIT = """
    insert into audit
        (at, tenant_id, project_id, actor, acted_as, action, target_kind, target_id, result, correlation_id, facts)
    select $2, tenant_id, project_id, requested_by, requested_by, 'allocation.resize', 'allocation', id, 'done', '',
        jsonb_build_object('gpu_count', $3::int, 'price_id', price_id)
    from allocations where id = $1
"""


@dataclass
class Model:
    """The expected usage."""

    quantity: int
    done: list[Interval] = field(default_factory=list)
    since: datetime | None = None

    def starts(self, at: datetime) -> None:
        self.since = self.since or at

    def ends(self, at: datetime) -> None:
        if self.since is not None:
            self.done.append((self.quantity, self.since, max(self.since, at)))
        self.since = None

    def resized(self, quantity: int, at: datetime) -> None:
        if self.since is not None and quantity != self.quantity:
            self.ends(at)
            self.since = at
        self.quantity = quantity

    @property
    def intervals(self) -> list[Interval]:
        """All intervals that have a length."""
        running: list[Interval] = [(self.quantity, self.since, None)] if self.since else []
        return [one for one in self.done if one[1] != one[2]] + running


class Life:
    def __init__(self, world: World, row: AllocationRow, model: Model, seed: int) -> None:
        self.world, self.row, self.model, self.random = world, row, model, random.Random(seed)
        self.now = model.since or row.created_at
        self.wanted: int | None = None

    @property
    def is_over(self) -> bool:
        return self.row.status not in NEXT

    async def step(self, *, old: bool) -> str:
        """One random legal step; its name."""
        name = self.random.choice(NEXT[self.row.status])
        self.now += timedelta(milliseconds=self.random.randint(1, 10_000_000))
        past = self.now - timedelta(milliseconds=self.random.randint(0, 5_000_000))
        if name == "pause" and self.row.billing_stopped_at:
            name = "resume"
        match name:
            case "restart" | "resize":
                if name == "resize":
                    await self._ask_resize()
                await self._move(Status.RESTARTING, None, old=old)
            case "up":
                await self._up(old=old)
            case "fail":
                await self._stop(Status.RESTART_FAILED, self.now, old=old)
            case "lost":
                await self._stop(Status.FAILED, past, old=old)
            case "release":
                await self._stop(Status.RELEASING, self.now, old=old)
            case "pause":
                await self._pause(past, old=old)
                self.model.ends(past)
            case "resume":
                await self._pause(None, old=old)
                self.model.starts(self.now)
        self.row = await self.world.get(self.row.id)
        return f"{name} by {'old' if old else 'new'} code"

    async def _ask_resize(self) -> None:
        self.wanted = self.random.choice([one for one in (1, 2, 4) if one != self.row.gpu_count])
        async with self.world.db.write() as tx:
            await tx.run(RESIZE_AUDIT, self.row.id, self.now, self.wanted)

    async def _up(self, *, old: bool) -> None:
        wanted, self.wanted = self.wanted, None
        if old:
            async with self.world.db.write() as tx:
                await tx.run(OLD_MOVE, self.row.id, Status.ACTIVE.value, self.now, None)
                if wanted:
                    await tx.run(OLD_RESIZE, self.row.id, wanted)
                    await tx.run(ENTRY, self.row.id, "resized", self.now, self._sizes(wanted))
        else:
            change = Change(active_at=self.now)
            async with self.world.db.write() as tx:
                if wanted:
                    change = change.with_size(self._resize(wanted))
                await store.move(tx, self.row, Status.ACTIVE, Act(actor="system", now=self.now), change)
                if wanted:
                    await tx.run(ENTRY, self.row.id, "resized", self.now, self._sizes(wanted))
        if wanted:
            self.model.resized(wanted, self.now)
        self.model.starts(self.now)

    def _sizes(self, wanted: int) -> dict[str, str]:
        return {"from": f"{self.row.gpu_count} GPUs, a", "to": f"{wanted} GPUs, b"}

    def _resize(self, wanted: int) -> Resize:
        here = {name: getattr(self.row, name) for name in Resize.__struct_fields__ if hasattr(self.row, name)}
        price = self.row.price_minor_per_hour // self.row.gpu_count * wanted
        return Resize(**{**here, "gpu_count": wanted, "price_minor_per_hour": price, "slot_ids": []})

    async def _stop(self, to: Status, at: datetime, *, old: bool) -> None:
        await self._move(to, at, old=old)
        self.model.ends(at)

    async def _move(self, to: Status, stopped: datetime | None, *, old: bool) -> None:
        async with self.world.db.write() as tx:
            if old:
                await tx.run(OLD_MOVE, self.row.id, to.value, self.now, stopped)
            else:
                change = Change(billing_stopped_at=stopped)
                await store.move(tx, self.row, to, Act(actor="system", now=self.now), change)

    async def _pause(self, at: datetime | None, *, old: bool) -> None:
        act = Act(actor="system", now=self.now, at=at)
        async with self.world.db.write() as tx:
            if old:
                await tx.run(OLD_PAUSE, self.row.id, at)
                await tx.run(ENTRY, self.row.id, "billing_paused" if at else "billing_resumed", at or self.now, {})
            elif at:
                await store.pause_billing(tx, self.row, act)
            else:
                await store.resume_billing(tx, self.row, act)


async def begin(world: World, seed: int) -> Life:
    a = await world.allocation()
    row = await world.get(a)
    model = Model(row.gpu_count)
    model.starts(row.active_at or row.created_at)
    return Life(world, row, model, seed)
