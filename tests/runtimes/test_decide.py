"""What is due for a runtime, by the facts alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gpuaas.domain.runtimes.reconcile import Await, Move, Restage, Stage, Write, decide
from gpuaas.domain.runtimes.rows import BundleRow, RuntimeRow, Seen, StagingRow
from gpuaas.domain.runtimes.stagings.reconcile import Recheck
from gpuaas.domain.runtimes.states import BUNDLE, RUNTIME, STAGING
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.wire.allocations import Status
from gpuaas.wire.runtimes import (
    NOT_STAGED,
    BundleState,
    RuntimeFamily,
    RuntimeState,
    StagingStatus,
    SupportLevel,
)
from gpuaas.wire.tasks import TaskKind

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
BEFORE, AFTER = NOON - timedelta(minutes=1), NOON + timedelta(minutes=1)
BUNDLE_ROW = BundleRow(
    id="rtb",
    slug="python-data",
    version="1.0",
    product_name="Python",
    vendor="tests",
    runtime_family=RuntimeFamily.CPU,
    gpu_families=[],
    driver_min=None,
    driver_max=None,
    support_level=SupportLevel.SUPPORTED,
    state=BundleState.PUBLISHED,
    digest="d",
    python="3.11",
    distribution=None,
    published_at=NOON,
)


def row(state: RuntimeState = RuntimeState.APPLYING, **changes: Any) -> RuntimeRow:
    facts: dict[str, Any] = {
        "allocation_id": "a",
        "tenant_id": "t",
        "project_id": "p",
        "bundle_id": "rtb",
        "state": state,
        "reason": "",
        "operation_id": "op",
        "asked_at": NOON,
        "wants_check": False,
        "version": 1,
        "observed_bundle_id": None,
        "previous_bundle_id": None,
        "observed_boot": 0,
        "last_applied_at": None,
    }
    return RuntimeRow(**{**facts, **changes})


def staging(status: StagingStatus = StagingStatus.STAGED, **changes: Any) -> StagingRow:
    facts: dict[str, Any] = {
        "id": "stg",
        "node_id": "n",
        "bundle_id": "rtb",
        "status": status,
        "status_since": BEFORE,
        "reason": "",
        "operation_id": "op-of-the-node",
        "manifest": "",
        "checked_at": BEFORE,
    }
    return StagingRow(**{**facts, **changes})


def task(status: str, **changes: Any) -> TaskRow:
    facts: dict[str, Any] = {
        "id": "task",
        "node_id": "n",
        "allocation_id": "a",
        "operation_id": "op",
        "lane": "runtimes",
        "seq": 1,
        "boot": 1,
        "kind": TaskKind.WRITE_RUNTIME,
        "wants": {},
        "status": status,
        "attempt": 1,
        "created_at": NOON,
        "ended_at": AFTER,
        "reason": "",
        "detail": "",
        "result": None,
    }
    return TaskRow(**{**facts, **changes})


def seen(of: RuntimeRow, **changes: Any) -> Seen:
    facts: dict[str, Any] = {
        "row": of,
        "status": Status.ACTIVE,
        "boot": 1,
        "allocation_version": 1,
        "node_id": "n",
        "bundle": BUNDLE_ROW if of.bundle_id else None,
        "staging": staging(),
        "is_staging_busy": False,
        "task": None,
    }
    return Seen(**{**facts, **changes})


APPLIED = row(RuntimeState.APPLIED, observed_boot=1)
CLEARING = row(RuntimeState.CLEARING, bundle_id=None)
REPAIR = row(wants_check=True)


@pytest.mark.parametrize(
    ("facts", "due"),
    [
        (seen(row(), staging=None), Stage()),
        (seen(row(), staging=staging(StagingStatus.STAGING)), Await()),
        (seen(row(), staging=staging(StagingStatus.FAILED, status_since=BEFORE)), Restage()),
        (
            seen(row(), staging=staging(StagingStatus.FAILED, status_since=AFTER, reason="no disk")),
            Move(RuntimeState.FAILED, "no disk"),
        ),
        (seen(row()), Write()),
        (seen(row(), task=task("sent")), None),
        (seen(row(), task=task("done")), Move(RuntimeState.APPLIED, "python-data 1.0")),
        (seen(row(), task=task("done", operation_id="an older one")), Write()),
        (seen(row(), task=task("done"), boot=2), Write()),
        (seen(row(), task=task("expired")), Write()),
        (seen(row(), task=task("superseded")), Write()),
        (seen(row(), task=task("refused", reason="stale_boot")), Write()),
        (seen(row(), task=task("failed", reason="no disk")), Move(RuntimeState.FAILED, "no disk")),
        (seen(row(), task=task("failed", reason=NOT_STAGED)), Restage()),
        (
            seen(row(), task=task("failed", reason=NOT_STAGED), staging=staging(status_since=AFTER + timedelta(1))),
            Write(),
        ),
        (seen(REPAIR), Recheck()),
        (seen(REPAIR, is_staging_busy=True), Await()),
        (seen(REPAIR, staging=staging(checked_at=AFTER)), Write()),
        (seen(APPLIED), None),
        (seen(APPLIED, boot=2), Write()),
        (seen(APPLIED, boot=2, status=Status.RESTARTING), None),
        (seen(row(RuntimeState.FAILED, observed_boot=1)), None),
        (seen(row(RuntimeState.FAILED, observed_boot=1), boot=2), Write()),
        (seen(CLEARING), Write()),
        (seen(CLEARING, task=task("done")), Move(RuntimeState.CLEARED, "raw compute")),
        (seen(row(RuntimeState.CLEARED, bundle_id=None), boot=2), None),
        (seen(row(), status=Status.PROVISIONING), None),
        (seen(row(), status=Status.RELEASING), Move(RuntimeState.FAILED, "The allocation was released before.")),
        (seen(APPLIED, status=Status.RELEASED), None),
    ],
)
def test_what_is_due(facts: Seen, due: object) -> None:
    assert decide(facts, NOON) == due


def test_every_state_has_its_moves_written_down() -> None:
    assert set(RUNTIME.moves) == set(RuntimeState)
    assert set(STAGING.moves) == set(StagingStatus)
    assert set(BUNDLE.moves) == set(BundleState)
