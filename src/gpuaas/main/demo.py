"""The content that `gpuaas up` adds to an empty platform: people, a catalogue, an approved node. It can be repeated."""

from datetime import datetime

import msgspec
from msgspec import Struct

from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.capacity import commands as capacity_commands
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import add_personal_tenant, add_tenant
from gpuaas.domain.identity.passwords import Passwords
from gpuaas.domain.identity.principals import PrincipalKind
from gpuaas.domain.quotas import store as quotas
from gpuaas.domain.runtimes import store as runtimes
from gpuaas.domain.runtimes.catalog import publish_as
from gpuaas.domain.runtimes.stagings import store as stagings
from gpuaas.domain.runtimes.stagings.reconcile import begin as begin_staging
from gpuaas.domain.skus import store as skus
from gpuaas.domain.timeline.store import SYSTEM
from gpuaas.main.up_file import SLOTS, USER, UpFile, UpUser
from gpuaas.sdk import recipes
from gpuaas.wire.capacity import CreateEnrolmentToken, Shape, Size
from gpuaas.wire.environments import DEFAULT_DISK_GIB, Init
from gpuaas.wire.identity import PlatformRole, User
from gpuaas.wire.quotas import DIMENSIONS, QuotaScope
from gpuaas.wire.runtimes import StagingStatus

TENANT, REGION, NODE, FAMILY = "acme", "local", "local", "h200"
STAGED_FIRST = "python-data"  # small: it is staged within seconds


MEMORY_STEP_MIB = 128
SMALLEST_DISK_GIB = 2


class Machine(Struct, frozen=True, kw_only=True):
    """The resources of the node, from which the sizes of the demo are derived."""

    vcpus: int
    memory_mib: int
    disk_gib: int


SMALL = Machine(vcpus=8, memory_mib=9_216, disk_gib=64)


class Demo:
    def __init__(self, db: Database, ids: Ids, now: datetime) -> None:
        self._db, self._ids, self._now = db, ids, now

    async def ensure_people(self, file: UpFile, *, demo: bool) -> UpFile:
        """With the demo, add a person in tenant `acme`; always add an operator of the platform."""
        async with self._db.read() as tx:
            missing = [user for user in file.users if await identity.password_identity(tx, user.email) is None]
        for user in missing:
            secret_hash = await Passwords().hash(user.password)
            async with self._db.write() as tx:
                await self._add(tx, user, secret_hash)
        if not demo:
            return file
        async with self._db.read() as tx:
            found = await identity.password_identity(tx, USER)
            projects = (await identity.memberships(tx, found.id))[1] if found else []
        return msgspec.structs.replace(file, tenant=TENANT, project_id=projects[0].id)

    async def _add(self, tx: Tx, user: UpUser, secret_hash: str) -> None:
        role = PlatformRole.ADMIN if user.role == "admin" else None
        made = User(id=self._ids.new("user"), email=user.email, platform_role=role)
        await identity.add_user(tx, made, secret_hash=secret_hash, now=self._now)
        if role:
            await add_personal_tenant(tx, self._ids, made, self._now)
        else:
            project = await add_tenant(tx, self._ids, TENANT, "enterprise", owner_id=made.id, now=self._now)
            await self._free(tx, project.tenant_id)

    async def _free(self, tx: Tx, tenant_id: str) -> None:
        """The demo's tenant owns the computer, so it has no limits."""
        place = await quotas.place(tx, QuotaScope.TENANT, tenant_id)
        for dimension in DIMENSIONS[place.scope]:
            await quotas.set_limit(tx, place, dimension, None, by=SYSTEM, reason="demo", now=self._now)

    async def ensure_catalog(self, machine: Machine = SMALL) -> None:
        async with self._db.write() as tx:
            if await skus.list_sold(tx):
                return
            await capacity.add_region(tx, REGION)
            await skus.add(tx, self._slice(machine), self._now)
            await skus.add(tx, self._node(machine), self._now)

    async def machine(self, node_id: str) -> Machine:
        """The resources of the node, as its agent reported them."""
        async with self._db.read() as tx:
            facts = (await capacity.node(tx, node_id)).facts
        if facts is None or facts.disk is None:
            return SMALL
        return Machine(vcpus=facts.vcpus, memory_mib=facts.memory_mib, disk_gib=facts.disk.size_gib)

    async def ensure_bundles(self) -> None:
        """Publish every recipe that ships with this release."""
        async with self._db.write() as tx:
            known = {(bundle.slug, bundle.version) for bundle in await runtimes.bundles(tx)}
            for data in map(recipes.read, recipes.names()):
                if (data.slug, data.version) not in known:
                    await publish_as(tx, data, by=SYSTEM, ids=self._ids, now=self._now)

    async def stage_bundle(self, node_id: str, slug: str = STAGED_FIRST) -> None:
        """Runs in the background: nothing waits for it."""
        async with self._db.write() as tx:
            newest = (await runtimes.bundles(tx, slug=slug))[0]
            there = await stagings.shown(tx, newest.id, node_id)
            if not there or there[0].status is StagingStatus.FAILED:  # not if an operator removed it
                await begin_staging(tx, node_id, newest.id, requested_by=SYSTEM, ids=self._ids, now=self._now)

    async def enrolment_token(self) -> str:
        data = CreateEnrolmentToken(node_name=f"{NODE}-{self._ids.new('n')[-6:]}", region=REGION)
        async with self._db.write() as tx:
            issued = await capacity_commands.issue_enrolment_token(tx, data, by=SYSTEM, ids=self._ids, now=self._now)
        return issued.token

    async def approve_slots(self, node_id: str, count: int) -> None:
        operator = Caller(
            id=SYSTEM, kind=PrincipalKind.SYSTEM, name=SYSTEM, credential_id="", platform_role=PlatformRole.ADMIN
        )
        async with self._db.write() as tx:
            for index in range(count):
                slot = await capacity.slot(tx, node_id, index)
                if slot.approved_by is None:
                    await capacity_commands.approve_slot(tx, operator, node_id, index, reason="demo", now=self._now)

    def _slice(self, machine: Machine) -> skus.SkuRow:
        return skus.SkuRow(
            sku="sim-h200-slice",
            title="Simulated H200, by the GPU",
            shape=Shape.GPU_SLICE,
            gpu_family=FAMILY,
            allowed_counts=[1, 2, 4, 8],
            simulated=True,
            sizes=[size(count, machine, init) for count in (1, 2, 4, 8) for init in Init],
            price_id=self._ids.new("price"),
            amount_minor=450,
            currency="USD",
        )

    def _node(self, machine: Machine) -> skus.SkuRow:
        return skus.SkuRow(
            sku="sim-h200-node",
            title="Simulated H200, the whole node",
            shape=Shape.BAREMETAL,
            gpu_family=FAMILY,
            allowed_counts=[8],
            simulated=True,
            sizes=[size(8, machine, init) for init in Init],
            price_id=self._ids.new("price"),
            amount_minor=425,
            currency="USD",
        )


def size(gpu_count: int, machine: Machine, init: Init) -> Size:
    """A share of the node for each GPU, and never more than the node has. A tenth of the memory is for the node. Each
    GPU count has the same root disk, so that every resize is possible, and half of the disk is left for volumes.
    """
    memory_mib = machine.memory_mib * 9 // 10
    return Size(
        name=f"sim_{gpu_count}g" + ("" if init is Init.PLAIN else f"_{init}"),
        gpu_count=gpu_count,
        vcpus=min(machine.vcpus, max(gpu_count, machine.vcpus * gpu_count // SLOTS)),
        memory_mib=max(MEMORY_STEP_MIB, memory_mib * gpu_count // SLOTS // MEMORY_STEP_MIB * MEMORY_STEP_MIB),
        disk_gib=max(SMALLEST_DISK_GIB, min(DEFAULT_DISK_GIB, machine.disk_gib // 2 // SLOTS)),
        init=init,
    )
