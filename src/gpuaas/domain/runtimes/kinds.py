"""Declares how changes of runtimes, bundles and stagings are written."""

from gpuaas.domain.runtimes.states import BUNDLE as BUNDLE_STATES
from gpuaas.domain.runtimes.states import RUNTIME as RUNTIME_STATES
from gpuaas.domain.runtimes.states import STAGING as STAGING_STATES
from gpuaas.domain.timeline.kinds import Audit, Kind
from gpuaas.wire.runtimes import RuntimeState
from gpuaas.wire.timeline import OperationStatus

RUNTIME = Kind(
    noun="runtime",
    table="allocation_runtimes",
    states=RUNTIME_STATES,
    subject_kind="allocation",
    subject_id="allocation_id",
    id="allocation_id",
    status="state",
    writes={
        "reason": "case when '{status}' = 'failed' then :note else '' end",
        "observed_boot": ":boot",
        "wants_check": "false",
        "observed_bundle_id": "case when '{status}' <> 'failed' then bundle_id else observed_bundle_id end",
        "last_applied_at": "case when '{status}' = 'applied' then :now else last_applied_at end",
    },
    phase="runtime_{status}",
    evidence=":evidence::jsonb",
    ends={
        RuntimeState.APPLIED: OperationStatus.SUCCEEDED,
        RuntimeState.CLEARED: OperationStatus.SUCCEEDED,
        RuntimeState.FAILED: OperationStatus.FAILED,
    },
)

BUNDLE = Kind(
    noun="runtime_bundle",
    table="managed_runtime_bundles",
    states=BUNDLE_STATES,
    subject_kind="runtime_bundle",
    status="state",
    guard="state",
    guard_rises=False,
    writes={"state_since": ":now"},
    tenant="null",
    project="null",
    operation="null",
    phase=None,
    audit=Audit(action="runtime_bundle.{status}", target_kind="runtime_bundle", facts=":facts::jsonb"),
    shows=None,
)


def _unless_removed(column: str, value: str) -> str:
    return f"case when '{{status}}' = 'removed' then {value} else {column} end"


# Entries are on the timeline of the node, and the caller names their phase. The guard is the operation id.
STAGING = Kind(
    noun="staging",
    table="node_bundles",
    states=STAGING_STATES,
    subject_kind="node",
    subject_id="node_id",
    guard="operation_id",
    guard_rises=False,
    node="node_id",
    tenant="null",
    project="null",
    writes={
        "reason": ":reason",
        "status_since": "case when status = '{status}' then status_since else :now end",
        "manifest": _unless_removed("manifest", "''"),
        "health": _unless_removed("health", "''"),
        "files": _unless_removed("files", "0"),
        "bytes": _unless_removed("bytes", "0"),
        "drift": _unless_removed("drift", "'{}'"),
        "distribution": _unless_removed("distribution", "''"),
        "staged_at": _unless_removed("staged_at", "null"),
        "checked_at": _unless_removed("checked_at", "null"),
    },
    given={
        "operation_id": ":operation_id",
        "manifest": ":manifest",
        "health": ":health",
        "files": ":files",
        "bytes": ":bytes",
        "drift": ":drift::text[]",
        "distribution": ":distribution",
        "staged_at": "coalesce(staged_at, :staged_at)",
        "checked_at": ":checked_at",
        "proofs": ":proofs::jsonb",
    },
    phase=None,
    evidence=":evidence::jsonb",
)
