"""Things as the server would answer them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from gpuaas.wire.access import SshKey
from gpuaas.wire.accounts import AdminProject, AdminTenant, AdminUser
from gpuaas.wire.allocations import (
    Allocation,
    AllocationNode,
    AllocationSlot,
    Billing,
    BillingState,
    Health,
    SshConnection,
    Status,
)
from gpuaas.wire.capacity import Availability, Intent, Node, Shape, Size, Sku, Slot, SlotStatus
from gpuaas.wire.common import Money
from gpuaas.wire.environments import EnvironmentState, Init
from gpuaas.wire.identity import (
    Me,
    PlatformRole,
    Project,
    ProjectMembership,
    Role,
    Scope,
    Session,
    TenantMembership,
    Token,
    User,
)
from gpuaas.wire.invariants import Invariant, Violation
from gpuaas.wire.storage import Backend
from gpuaas.wire.task_keys import TaskKey
from gpuaas.wire.timeline import Entry, Operation, OperationStatus, Outcome, Phase
from gpuaas.wire.unknown_environments import UnknownEnvironment
from gpuaas.wire.unknown_volumes import UnknownVolume, VolumeSighting
from gpuaas.wire.work import WorkerStatus

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def id_of(prefix: str, number: int) -> str:
    return f"{prefix}_{number:026}"


PROJECT, ALLOCATION, OPERATION, NODE = id_of("proj", 1), id_of("alloc", 1), id_of("op", 1), id_of("node", 1)
USER = User(id=id_of("user", 1), email="ada@example.com", platform_role=PlatformRole.ADMIN)
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHostKeyOfTheAllocation"


def me(*slugs: str) -> Me:
    return Me(
        user=USER,
        tenants=[TenantMembership(id=id_of("ten", 1), slug="acme", role=Role.OWNER)],
        projects=[
            ProjectMembership(id=id_of("proj", place), tenant_id=id_of("ten", 1), slug=slug, role=Role.MEMBER)
            for place, slug in enumerate(slugs or ("default",), 1)
        ],
        scopes=[Scope.READ, Scope.WRITE],
    )


def allocation(**changes: Any) -> Allocation:
    return replace(
        Allocation(
            id=ALLOCATION,
            resource_name="acme/default/train-a",
            project_id=PROJECT,
            group_id=None,
            name="train-a",
            status=Status.ACTIVE,
            status_since=NOON,
            status_reason="",
            health=Health.OK,
            sku="sim-h200-slice",
            vcpus=1,
            memory_mib=1024,
            disk_gib=20,
            init=Init.PLAIN,
            gpu_count=1,
            size="small",
            shape=Shape.GPU_SLICE,
            node=AllocationNode(id=NODE, region="local"),
            slots=[AllocationSlot(index=0, gpu_uuid="GPU-0")],
            connection=SshConnection(
                host="127.0.0.1",
                port=20001,
                username="ada",
                host_key=HOST_KEY,
                command="ssh -p 20001 ada@127.0.0.1",
                known_hosts=f"[127.0.0.1]:20001 {HOST_KEY}",
            ),
            boot=1,
            price_per_hour=Money(amount_minor=350, currency="EUR"),
            created_at=NOON - timedelta(minutes=3),
            active_at=NOON,
            released_at=None,
            last_progress_at=NOON,
            requested_by="ada@example.com",
            holder="ada@example.com",
            billing=Billing(state=BillingState.RUNNING),
            cleanup_proven=False,
            simulated=True,
        ),
        **changes,
    )


def phase(name: str, seconds: float | None, **changes: Any) -> Phase:
    return replace(
        Phase(
            phase=name,
            outcome=Outcome.DONE if seconds is not None else Outcome.BEGAN,
            started_at=NOON,
            ended_at=None if seconds is None else NOON + timedelta(seconds=seconds),
            seconds=seconds,
            actor="system",
            actor_name="system",
            note="",
        ),
        **changes,
    )


def operation(status: OperationStatus, *phases: Phase, **changes: Any) -> Operation:
    return replace(
        Operation(
            id=OPERATION,
            kind="allocation.create",
            subject_kind="allocation",
            subject_id=ALLOCATION,
            project_id=PROJECT,
            status=status,
            requested_by="ada@example.com",
            started_at=NOON,
            ended_at=None,
            last_progress_at=NOON,
            reason="",
            phases=[*phases],
        ),
        **changes,
    )


def entry(number: int, name: str = "provisioning", **changes: Any) -> Entry:
    return replace(
        Entry(
            id=number,
            subject_kind="allocation",
            subject_id=ALLOCATION,
            project_id=PROJECT,
            operation_id=OPERATION,
            phase=name,
            outcome=Outcome.BEGAN,
            at=NOON + timedelta(seconds=number),
            actor="user_ada",
            actor_name="ada@example.com",
            note="",
        ),
        **changes,
    )


def ssh_key(title: str = "laptop", number: int = 1) -> SshKey:
    return SshKey(
        id=id_of("key", number),
        title=title,
        type="ssh-ed25519",
        fingerprint=f"SHA256:{number:043}",
        public_key="ssh-ed25519 AAAA",
        created_at=NOON - timedelta(hours=5),
    )


def sku(name: str = "sim-h200-slice") -> Sku:
    return Sku(
        sku=name,
        title="One H200",
        shape=Shape.GPU_SLICE,
        gpu_family="H200",
        allowed_counts=[1, 2],
        sizes=[
            Size(name="small", gpu_count=1, vcpus=8, memory_mib=65536),
            Size(name="medium", gpu_count=2, vcpus=16, memory_mib=131072),
        ],
        price_per_gpu_hour=Money(amount_minor=350, currency="EUR"),
        simulated=True,
        availability=[
            Availability(region="local", gpu_count=1, free=7),
            Availability(region="local", gpu_count=2, free=3),
        ],
    )


def project(slug: str = "default", number: int = 1) -> Project:
    return Project(id=id_of("proj", number), tenant_id=id_of("ten", 1), slug=slug, created_at=NOON - timedelta(days=3))


def token(title: str = "nightly") -> Token:
    return Token(
        id=id_of("tok", 1),
        title=title,
        scopes=[Scope.READ],
        created_at=NOON - timedelta(seconds=12),
        expires_at=NOON + timedelta(days=30),
    )


def session() -> Session:
    return Session(
        id=id_of("ses", 1),
        device="gpuaas-cli (desk)",
        address="127.0.0.1",
        created_at=NOON - timedelta(minutes=1),
        expires_at=NOON + timedelta(hours=1),
        current=True,
    )


def node(name: str = "gpu-01", **changes: Any) -> Node:
    return replace(
        Node(
            id=NODE,
            name=name,
            region="local",
            intent=Intent.ACTIVE,
            intent_since=NOON,
            intent_reason="",
            offline_since=None,
            last_seen_at=NOON - timedelta(seconds=2),
            engine="oci",
            simulated=True,
            agent_version="0.1.0",
            slots_free=7,
            slots_claimed=1,
            slots_blocked=0,
            unknown_environments=[],
        ),
        **changes,
    )


def unknown_environment() -> UnknownEnvironment:
    return UnknownEnvironment(
        environment_id=id_of("alloc", 9),
        node_id=NODE,
        node_name="gpu-01",
        state=EnvironmentState.RUNNING,
        boot=1,
        port=20_000,
        host_key="ssh-ed25519 AAAA",
        devices=["GPU-0"],
        slots=[0],
        ownership=None,
        first_seen_at=NOON,
        last_seen_at=NOON,
    )


def unknown_volume() -> UnknownVolume:
    return UnknownVolume(
        volume_id=id_of("vol", 9),
        backend=Backend.SHARED,
        sightings=[VolumeSighting(node_id=NODE, node_name="gpu-01", mounted_in=[])],
        ownership=None,
        detail="",
        first_seen_at=NOON,
        last_seen_at=NOON,
    )


def slot(index: int = 0) -> Slot:
    return Slot(
        id=id_of("slot", index),
        node_id=NODE,
        index=index,
        status=SlotStatus.FREE,
        gpu_family="H200",
        gpu_pci="0000:17:00.0",
        gpu_uuid="GPU-0",
        fabric_vf=None,
        nvme=None,
        mac=None,
        address=None,
        numa=0,
        vcpus=8,
        memory_mib=65536,
        wipe_policy="zero",
        approved_by=None,
        disabled_at=None,
        cleanup_blocked_at=None,
        allocation_id=None,
    )


def invariant(*violations: Violation) -> Invariant:
    return Invariant(
        kind="claim_leaked",
        about="An allocation whose cleanup is proven claims nothing.",
        looked_at=NOON,
        seconds=0.002,
        violations=list(violations),
    )


def worker() -> WorkerStatus:
    return WorkerStatus(
        worker="allocations.provision",
        due=2,
        leased=1,
        failing=0,
        oldest_due_seconds=0.4,
        last_error=None,
        disabled_at=None,
        disabled_by=None,
        disabled_reason=None,
    )


def task_key(generation: int = 1, *missing: str) -> TaskKey:
    return TaskKey(
        generation=generation,
        verifier_id="0123456789abcdef",
        is_current=True,
        created_at=NOON,
        created_by=None,
        reason="yearly rotation",
        retired_at=None,
        retired_by=None,
        retire_reason="",
        is_forced=False,
        nodes_trusting=2,
        nodes_missing=len(missing),
        missing=list(missing),
    )


def admin_tenant() -> AdminTenant:
    return AdminTenant(
        id=id_of("ten", 9),
        slug="ada",
        type="personal",
        created_at=NOON,
        members=3,
        projects=2,
        allocations=5,
        suspended_at=NOON,
        suspension_reason="mined",
    )


def admin_project() -> AdminProject:
    return AdminProject(
        id=id_of("proj", 9),
        tenant_id=id_of("ten", 9),
        tenant_slug="ada",
        slug="default",
        created_at=NOON,
        allocations=5,
        suspended_at=NOON,
        suspension_reason="mined",
    )


def admin_user() -> AdminUser:
    return AdminUser(
        id=id_of("user", 9),
        email="ada@example.com",
        platform_role=None,
        created_at=NOON,
        suspended_at=NOON,
        suspension_reason="mined",
    )
