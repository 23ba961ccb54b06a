"""The decision of what is due with an attachment, case by case, without a database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gpuaas.domain.storage.attachments.reconcile import Decision, Move, Queue, decide
from gpuaas.domain.storage.attachments.store import AttachmentRow, Machine, Wanted
from gpuaas.domain.storage.states import ATTACHMENT, SNAPSHOT, VOLUME
from gpuaas.domain.storage.volumes.store import VolumeRow
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import ENVIRONMENT_REMOVED
from gpuaas.wire.storage import (
    AccessMode,
    AttachmentStatus,
    Backend,
    Durability,
    SnapshotStatus,
    VolumeStatus,
    WritePolicy,
)
from gpuaas.wire.tasks import TaskKind

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ATTACH, DETACH = TaskKind.VOLUME_ATTACH, TaskKind.VOLUME_DETACH


def task(kind: TaskKind, status: str, *, reason: str = "", boot: int = 1, force: bool = False) -> TaskRow:
    return TaskRow(
        id="t",
        node_id="n",
        allocation_id="a",
        operation_id="op",
        lane="volumes:v",
        seq=1,
        boot=boot,
        kind=kind,
        wants={"force": force},
        status=status,
        attempt=1,
        created_at=NOON,
        ended_at=NOON - timedelta(minutes=1),
        reason=reason,
        detail="",
        result=None,
    )


def decided(
    machine: Status,
    status: AttachmentStatus,
    newest: TaskRow | None = None,
    *,
    boot: int = 1,
    observed: int = 0,
    volume: VolumeStatus = VolumeStatus.AVAILABLE,
    is_cleaned: bool = False,
) -> Decision:
    common: dict[str, Any] = {"id": "x", "tenant_id": "t", "project_id": "p", "version": 1, "status_since": NOON}
    common |= {"status_reason": "", "operation_id": "op", "created_at": NOON}
    kept = VolumeRow(
        **common,
        status=volume,
        name="data",
        size_gib=1,
        backend=Backend.SHARED,
        write_policy=WritePolicy.SINGLE_WRITER,
        durability=Durability.SHARED,
        node_id=None,
        protected=False,
        quota="measured",
        used_bytes=None,
        used_at=None,
        snapshot_id=None,
        created_by="u",
        deleted_at=None,
        deletion_proofs=[],
    )
    row = AttachmentRow(
        **common,
        status=status,
        allocation_id="a",
        volume_id="v",
        volume_name="data",
        mount_path="/data",
        access_mode=AccessMode.READ_WRITE,
        durability=Durability.SHARED,
        observed_boot=observed,
        observed_at=None,
        forced=False,
    )
    here = Machine(id="a", node_id="n", status=machine, version=1, boot=boot, is_cleaned=is_cleaned)
    return decide(here, Wanted(row=row, volume=kept, task=newest), NOON)


def test_every_status_has_its_moves_written_down() -> None:
    assert set(ATTACHMENT.moves) == set(AttachmentStatus)
    assert set(VOLUME.moves) == set(VolumeStatus)
    assert set(SNAPSHOT.moves) == set(SnapshotStatus)


@pytest.mark.parametrize("status", [Status.REQUESTED, Status.PROVISIONING, Status.RESTARTING, Status.RESTART_FAILED])
def test_nothing_is_mounted_on_a_machine_that_is_not_up(status: Status) -> None:
    assert decided(status, AttachmentStatus.ATTACHING) is None


def test_an_attach_is_asked_for_once_and_ends_by_what_the_node_said() -> None:
    active, attaching = Status.ACTIVE, AttachmentStatus.ATTACHING
    assert decided(active, attaching) == Queue(ATTACH)
    assert decided(active, attaching, volume=VolumeStatus.CREATING) is None
    assert decided(active, attaching, task(ATTACH, "sent")) is None
    assert decided(active, attaching, task(ATTACH, "done")) == Move(
        AttachmentStatus.ATTACHED, "at /data", observed_boot=1
    )
    assert decided(active, attaching, task(ATTACH, "failed", reason="a link")) == Move(
        AttachmentStatus.FAILED, "a link"
    )
    assert decided(active, attaching, task(ATTACH, "refused", reason="stale_boot")) == Queue(ATTACH)
    assert decided(active, attaching, task(ATTACH, "done", boot=1), boot=2, observed=1) == Queue(ATTACH)


def test_what_was_there_before_is_tried_until_it_is_there_again() -> None:
    failed = task(ATTACH, "failed", reason="no answer")
    assert decided(Status.ACTIVE, AttachmentStatus.ATTACHING, failed, observed=1) == Queue(ATTACH)


@pytest.mark.parametrize("status", [AttachmentStatus.ATTACHED, AttachmentStatus.DETACH_FAILED])
def test_a_boot_that_rose_mounts_again_also_what_was_too_busy_to_detach(status: AttachmentStatus) -> None:
    move = decided(Status.ACTIVE, status, boot=2, observed=1)
    assert isinstance(move, Move)
    assert (move.to, move.again) == (AttachmentStatus.ATTACHING, True)
    assert decided(Status.ACTIVE, status, boot=2, observed=2) is None


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.RELEASING])
def test_a_detach_from_an_environment_that_was_removed_is_over(status: Status) -> None:
    """The database lost the release, the node did not. It would refuse the detach for ever, and the release waits."""
    removed = task(DETACH, "superseded", reason=ENVIRONMENT_REMOVED)
    over = Move(AttachmentStatus.DETACHED, ENVIRONMENT_REMOVED)
    assert decided(status, AttachmentStatus.DETACHING, removed) == over
    late = task(DETACH, "superseded", reason="task 2 of this lane came before", force=True)
    assert decided(Status.RELEASING, AttachmentStatus.DETACHING, late) == Queue(DETACH, force=True)


def test_a_busy_detach_is_told_and_a_release_forces_it() -> None:
    detaching, busy = AttachmentStatus.DETACHING, task(DETACH, "failed", reason="in use: bash")
    assert decided(Status.ACTIVE, detaching) == Queue(DETACH)
    assert decided(Status.ACTIVE, detaching, busy) == Move(AttachmentStatus.DETACH_FAILED, "in use: bash")
    assert decided(Status.RELEASING, detaching, busy) == Queue(DETACH, force=True)
    assert decided(Status.RELEASING, detaching, task(DETACH, "done", force=True)) == Move(AttachmentStatus.DETACHED, "")


def test_a_lost_writer_counts_until_its_machine_is_proven_gone() -> None:
    assert decided(Status.FAILED, AttachmentStatus.ATTACHED, observed=1) is None
    gone = decided(Status.FAILED, AttachmentStatus.ATTACHED, observed=1, is_cleaned=True)
    assert isinstance(gone, Move)
    assert gone.to is AttachmentStatus.DETACHED


def test_a_release_lets_go_at_once_of_what_never_was_mounted() -> None:
    never = decided(Status.RELEASING, AttachmentStatus.ATTACHING)
    asked = decided(Status.RELEASING, AttachmentStatus.ATTACHING, task(ATTACH, "sent"))
    assert isinstance(never, Move)
    assert isinstance(asked, Move)
    assert (never.to, asked.to) == (AttachmentStatus.DETACHED, AttachmentStatus.DETACHING)
