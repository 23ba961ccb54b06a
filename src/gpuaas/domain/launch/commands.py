"""The launch submit: creates an allocation, or a group of allocations, with its keys, volumes and runtime."""

from dataclasses import replace
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, Problem, Raced, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations.commands import check_expiry
from gpuaas.domain.allocations.store import AllocationRow, set_limits
from gpuaas.domain.allocations.views import view
from gpuaas.domain.capacity.commands import SkuUnavailable, ask_for, choose_size, explain_placement
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.capacity.placement import Proposal
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.launch import storage, store
from gpuaas.domain.quotas import commands as quotas
from gpuaas.domain.runtimes.commands import choose_at_launch
from gpuaas.domain.skus.catalog import Catalog
from gpuaas.domain.skus.store import SkuRow
from gpuaas.wire.allocations import CreateAllocation, SubmittedAllocations
from gpuaas.wire.capacity import AskPlacement, Size
from gpuaas.wire.environments import USERNAME
from gpuaas.wire.quotas import Dimension
from gpuaas.wire.runtimes import ApplyRuntimeBundle

NAME_LENGTH = 63  # limit of a hostname, and so of a name


class ProjectRequired(Problem):
    status, code = 422, "project_required"

    def __init__(self) -> None:
        super().__init__("You are a member of several projects, or of none. Name one with project_id or X-Project-ID.")


class Order(Struct, frozen=True, kw_only=True):
    """A completely checked request."""

    found: store.Found
    sku: SkuRow
    size: Size
    data: CreateAllocation


class Launch:
    def __init__(self, index: Index, catalog: Catalog, ids: Ids) -> None:
        self._index, self._catalog, self._ids = index, catalog, ids

    async def submit(
        self, tx: Tx, caller: Caller, data: CreateAllocation, found: store.Found | None, now: datetime
    ) -> SubmittedAllocations:
        """Create all requested allocations, or none."""
        await self._index.clear_doubts()
        order = check(caller, data, found, await self._catalog.sku(data.sku))
        ask = AskPlacement(sku=data.sku, gpu_count=data.gpu_count, size=data.size, count=data.count, region=data.region)
        stored = await storage.check(tx, caller, order.found, data, username=USERNAME)
        if data.count > 1:
            await check_quota(tx, order)  # for one allocation, the commit checks this
        proposals = await self._place(tx, order, ask, stored)
        group_id = self._ids.new("group") if data.count > 1 else None
        if group_id:
            place = (order.found.tenant_id, order.found.project_id)
            await store.add_group(tx, group_id, *place, created_by=caller.user_id, now=now)
        try:
            rows = [
                await store.submit(tx, self._new(order, proposal, caller, group=group_id, number=number, now=now))
                for number, proposal in enumerate(proposals, 1)
            ]
        except Raced:
            self._index.lose()
            self._catalog.forget()
            raise
        if data.expires_at or data.idle_minutes:
            rows = [await self._limit(tx, row, data, now) for row in rows]
        if data.runtime_bundle_slug or data.runtime_bundle_id:
            named = ApplyRuntimeBundle(
                runtime_bundle_slug=data.runtime_bundle_slug, runtime_bundle_id=data.runtime_bundle_id
            )
            rows = [await choose_at_launch(tx, row, named, by=caller.user_id, ids=self._ids, now=now) for row in rows]
        for row in rows if data.storage_attachments else ():
            await storage.attach(tx, caller, row, stored, ids=self._ids, now=now)
        return SubmittedAllocations(
            allocations=[view(row, caller) for row in rows], group_id=group_id, operation_id=rows[0].operation_id
        )

    async def _limit(self, tx: Tx, row: AllocationRow, data: CreateAllocation, now: datetime) -> AllocationRow:
        expires_at = check_expiry(data.expires_at, now)
        return await set_limits(tx, row, expires_at=expires_at, idle_minutes=data.idle_minutes, now=now)

    async def _place(self, tx: Tx, order: Order, ask: AskPlacement, stored: storage.Stored) -> list[Proposal]:
        """Propose from the index; before a refusal, read the fleet from the database."""
        proposals: list[Proposal] = []
        wanted, node_id = ask_for(order.sku, ask), stored.node_id
        wanted = replace(wanted, node_id=node_id, disk_gib=wanted.disk_gib + stored.new_local_gib)

        def settle(committed: bool) -> None:  # noqa: FBT001 - the shape of a callback
            for proposal in proposals:
                self._index.settle(proposal, claimed=committed)

        tx.on_end.append(settle)
        for _ in range(ask.count):
            proposal = self._index.propose(wanted)
            if proposal is None:
                await check_quota(tx, order)  # quota errors precede capacity errors: waiting would not help
            if proposal is None and node_id:
                raise storage.NodeOfVolumeFull(node_id)
            if proposal is None:
                placement = await explain_placement(tx, ask, self._index, more_disk_gib=stored.new_local_gib)
                if placement.fits:
                    await self._index.refresh()
                    raise Raced("Capacity was just freed. Try again.")
                raise SkuUnavailable(placement)
            proposals.append(proposal)
        return sorted(proposals, key=lambda one: (one.node_id, one.slot_ids))  # locks in one order cannot deadlock

    def _new(
        self, order: Order, proposal: Proposal, caller: Caller, *, group: str | None, number: int, now: datetime
    ) -> store.NewAllocation:
        data, id = order.data, self._ids.new("alloc")
        name = data.name or f"{order.sku.gpu_family}-{id[-8:]}"
        return store.NewAllocation(
            id=id,
            tenant_id=order.found.tenant_id,
            project_id=order.found.project_id,
            group_id=group,
            name=f"{name}-{number}" if data.count > 1 else name,
            sku=order.sku.sku,
            shape=order.sku.shape,
            gpu_count=data.gpu_count,
            size=order.size.name,
            vcpus=order.size.vcpus,
            memory_mib=order.size.memory_mib,
            simulated=order.sku.simulated,
            node_id=proposal.node_id,
            region=proposal.region,
            price_id=order.sku.price_id,
            price_minor_per_hour=order.sku.amount_minor * data.gpu_count,
            currency=order.sku.currency,
            requested_by=caller.user_id,
            username=USERNAME,
            operation_id=self._ids.new("op"),
            created_at=now,
            slot_ids=list(proposal.slot_ids),
            whole=proposal.whole,
            keys=[key.authorized() for key in order.found.keys],
            ssh_key_ids=[key.id for key in order.found.keys],
            gpu_family=order.sku.gpu_family,
            disk_gib=order.size.disk_gib,
            init=order.size.init,
        )


def check(caller: Caller, data: CreateAllocation, found: store.Found | None, sku: SkuRow | None) -> Order:
    project_id = choose_project(caller, data.project_id)
    if found is None or found.project_id != project_id:
        raise NotFound("project")
    caller.require(Permission.ALLOCATIONS_CREATE, "project", found)
    if sku is None:
        raise ValidationError(f"The SKU {data.sku} does not exist. See GET /skus.", errors={"sku": "unknown"})
    size = choose_size(sku, data.gpu_count, data.size)
    check_name(data)
    missing = sorted(set(data.ssh_key_ids) - {key.id for key in found.keys})
    if missing:
        raise ValidationError(
            "Some of these are not your SSH keys. See GET /ssh-keys.",
            errors={"ssh_key_ids": f"unknown: {missing[0]}"},
        )
    return Order(found=found, sku=sku, size=size, data=data)


async def check_quota(tx: Tx, order: Order) -> None:
    count, size = order.data.count, order.size
    wanted = {
        Dimension.ALLOCATIONS: count,
        Dimension.GPUS: count * order.data.gpu_count,
        Dimension.VCPUS: count * size.vcpus,
        Dimension.MEMORY_MIB: count * size.memory_mib,
    }
    await quotas.check(tx, order.found, wanted)


def check_name(data: CreateAllocation) -> None:
    """Names of a group's allocations end with a number, and every name is a hostname."""
    longest = NAME_LENGTH - len(f"-{data.count}")
    if data.count > 1 and len(data.name or "") > longest:
        raise ValidationError(
            f"For {data.count} allocations the name can have {longest} characters, as a number is appended.",
            errors={"name": f"at most {longest} characters"},
        )


def choose_project(caller: Caller, given: str | None) -> str:
    if given:
        return given
    match list(caller.projects):
        case [project_id]:
            return project_id
        case _:
            raise ProjectRequired
