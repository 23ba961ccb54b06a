"""Declares how a change of an allocation is written."""

from gpuaas.domain.allocations.states import MACHINE
from gpuaas.domain.timeline.kinds import Audit, Billed, Kind, Outbox
from gpuaas.wire.allocations import Status
from gpuaas.wire.timeline import OperationStatus, Outcome

GIVEN = {
    column: f":{column}"
    for column in (
        *("operation_id", "boot", "observed_boot", "ssh_host", "port", "host_key", "isolation", "image"),
        *("released_at", "cleanup_proven_at"),
        *("gpu_count", "size", "vcpus", "memory_mib", "disk_gib", "init", "price_id", "price_minor_per_hour"),
    )
}
STOPPED = "case when '{status}' <> 'active' then coalesce(billing_stopped_at, :billing_stopped_at) end"


def _outcome(status: str) -> Outcome:
    if status.endswith("failed"):
        return Outcome.FAILED
    return Outcome.DONE if status in (Status.ACTIVE, Status.RELEASED) else Outcome.BEGAN


ALLOCATION = Kind(
    noun="allocation",
    table="allocations",
    states=MACHINE,
    subject_kind="allocation",
    node="node_id",
    writes={
        "status_since": ":now",
        "status_reason": ":note",
        "last_progress_at": ":now",
        "billing_stopped_at": STOPPED,
    },
    given={**GIVEN, "active_at": "coalesce(active_at, :active_at)"},
    facts={"billing_stopped_at": ":billing_stopped_at"},
    outcome=_outcome,
    audit=Audit(action="allocation.{status}", target_kind="allocation"),
    outbox=Outbox(
        states=frozenset({Status.ACTIVE, Status.FAILED, Status.RESTART_FAILED, Status.RELEASED, Status.RELEASE_FAILED}),
        topic="allocation.{status}",
        payload="jsonb_build_object('allocation_id', id, 'project_id', project_id, 'at', :now::timestamptz)",
    ),
    ends={
        Status.ACTIVE: OperationStatus.SUCCEEDED,
        Status.FAILED: OperationStatus.FAILED,
        Status.RESTART_FAILED: OperationStatus.FAILED,
        Status.RELEASING: OperationStatus.FAILED,
        Status.RELEASE_FAILED: OperationStatus.FAILED,
        Status.RELEASED: OperationStatus.SUCCEEDED,
    },
    billed=Billed(
        source="allocation",
        unit="gpu",
        starts=frozenset({Status.ACTIVE}),
        continues=frozenset({Status.RESTARTING}),
        quantity="gpu_count",
        price="price_id",
        rate="price_minor_per_hour / gpu_count",
        currency="currency",
    ),
)
