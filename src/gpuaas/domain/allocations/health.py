"""Derives the health of an allocation and its reasons, from observations only."""

from msgspec import UNSET

from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.metrics.store import STALE_SECONDS
from gpuaas.wire.allocations import Health, Status
from gpuaas.wire.metrics import HealthReason
from gpuaas.wire.storage import AttachmentStatus

UNCERTAIN = {"samples_too_old", "environment_unknown"}
UP = (Status.ACTIVE, Status.RESTARTING, Status.RESTART_FAILED)


def health(row: AllocationRow) -> Health:
    """Unknown if the allocation never became active, has ended, cannot be checked by its node, or is no longer
    measured.
    """
    if row.status not in UP:
        return Health.UNKNOWN
    codes = {reason.code for reason in reasons(row)}
    if "agent_silent" in codes:
        return Health.UNREACHABLE
    if codes - UNCERTAIN or row.status is not Status.ACTIVE:
        return Health.DEGRADED
    return Health.UNKNOWN if codes else Health.OK


def reasons(row: AllocationRow) -> list[HealthReason]:
    """Most serious first."""
    if row.status not in UP:
        return []
    found = []
    if row.node_offline_since is not UNSET and row.node_offline_since is not None:
        silent = HealthReason(
            code="agent_silent",
            words="The node of this allocation is offline.",
            since=row.node_offline_since,
            next_step="Wait: it may come back intact. Billing stops after ten minutes of silence.",
        )
        found.append(silent)
    if row.status is Status.RESTART_FAILED:
        failed = HealthReason(
            code="restart_failed",
            words=row.status_reason or "The restart failed.",
            since=row.status_since,
            next_step="Restart it again, or release it. Billing has stopped.",
        )
        found.append(failed)
    if row.status is Status.RESTARTING:
        restarting = HealthReason(
            code="restarting",
            words=row.status_reason or "The allocation is restarting.",
            since=row.status_since,
            next_step="Wait: the same environment comes back at the same address.",
        )
        found.append(restarting)
    found += [] if row.findings is UNSET else row.findings
    found += lost_mounts(row)
    age = row.sample_age_seconds
    if not found and age is not UNSET and age is not None and age > STALE_SECONDS:
        assert row.sampled_at is not UNSET  # noqa: S101 - read together
        old = HealthReason(
            code="samples_too_old",
            words=f"Nothing was measured for {age:.0f} s, though the node answers.",
            since=row.sampled_at or row.status_since,
            next_step="Try to log in. If that works, report to an operator that samples are missing.",
        )
        found.append(old)
    return found


def lost_mounts(row: AllocationRow) -> list[HealthReason]:
    """Volumes that were mounted and are not: briefly after a restart, otherwise because the node did not find the
    mount.
    """
    if row.attachments is UNSET or row.status is not Status.ACTIVE:
        return []
    return [
        HealthReason(
            code="mount_gone",
            words=f"The volume {one.volume_name} is not mounted at {one.mount_path}: {one.status_reason}.",
            since=one.status_since,
            next_step="Wait: it is mounted again automatically. If it does not return, see the timeline.",
        )
        for one in row.attachments
        if one.status is AttachmentStatus.ATTACHING and one.observed_boot
    ]
