"""Allocation rows and tasks made up of nothing, for decisions that need no database."""

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from gpuaas.domain.allocations.store import AllocationRow, Seen
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.wire.allocations import Status
from gpuaas.wire.capacity import Shape
from gpuaas.wire.environments import Environment, EnvironmentState, Init, ProofItem
from gpuaas.wire.link import Result, TaskStatus
from gpuaas.wire.tasks import TaskKind

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
CLEAN = [ProofItem(item="processes", ok=True, evidence="none"), ProofItem(item="mounts", ok=True, evidence="none")]
DIRTY = [CLEAN[0], ProofItem(item="mounts", ok=False, evidence="/mnt is here")]


def row(status: Status, **fields: Any) -> AllocationRow:
    plain = AllocationRow(
        id="alloc_a",
        tenant_id="ten_a",
        project_id="proj_a",
        group_id=None,
        name="box",
        sku="sim",
        shape=Shape.GPU_SLICE,
        gpu_count=1,
        size="s",
        vcpus=1,
        memory_mib=1024,
        disk_gib=20,
        init=Init.PLAIN,
        simulated=True,
        node_id="node_a",
        region="local",
        price_id="price_a",
        price_minor_per_hour=450,
        currency="USD",
        requested_by="user_a",
        holder_id="user_a",
        status=status,
        status_since=NOON,
        status_reason="",
        version=1,
        operation_id="op_now",
        boot=1,
        observed_boot=0,
        username="gpu",
        ssh_host=None,
        port=None,
        host_key=None,
        isolation=None,
        created_at=NOON,
        active_at=None,
        released_at=None,
        last_progress_at=NOON,
        billing_stopped_at=None,
        cleanup_proven_at=None,
        expires_at=None,
        expiry_warned_at=None,
        idle_minutes=None,
        idle_warned_at=None,
        extended_at=None,
    )
    return replace(plain, **fields)


def environment(id: str = "alloc_a", state: EnvironmentState = EnvironmentState.RUNNING, boot: int = 1) -> Environment:
    return Environment(allocation_id=id, state=state, boot=boot, port=20_000, host_key="ssh-ed25519 AAAA")


def task(kind: TaskKind, status: str, **fields: Any) -> TaskRow:
    plain = TaskRow(
        id="task_a",
        node_id="node_a",
        allocation_id="alloc_a",
        operation_id="op_now",
        lane="environment",
        seq=1,
        boot=1,
        kind=kind,
        wants={},
        status=status,
        attempt=1,
        created_at=NOON,
        ended_at=None,
        reason="",
        detail="",
        result=None,
    )
    return replace(plain, **fields)


def made() -> Result:
    return Result(task_id="task_a", status=TaskStatus.DONE, at=NOON, environment=environment())


def removed(proofs: list[ProofItem]) -> Result:
    return Result(task_id="task_a", status=TaskStatus.DONE, at=NOON, proofs=proofs)


def seen(status: Status, newest: TaskRow | None = None, **fields: Any) -> Seen:
    """`fields` of the row and of what was seen besides it, told apart by their names."""
    around = {name: fields.pop(name) for name in ("holds", "attempts", "blocked") if name in fields}
    plain = Seen(row=row(status, **fields), task=newest, holds=[], attempts=1, blocked=False)
    return replace(plain, **around)
