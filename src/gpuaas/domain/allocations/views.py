"""Builds the API representation of an allocation from its row."""

from datetime import UTC

from msgspec import UNSET

from gpuaas.domain.allocations.authority import permissions
from gpuaas.domain.allocations.health import health, reasons
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller
from gpuaas.wire.allocations import (
    Allocation,
    AllocationNode,
    Billing,
    BillingState,
    CreateAllocation,
    HeldBy,
    Limits,
    PendingResize,
    SshConnection,
    Status,
)
from gpuaas.wire.common import Money
from gpuaas.wire.images import AllocationImage
from gpuaas.wire.usage import Cost

OUTDATED = (
    "A newer base image has been current on its node since {since:%Y-%m-%d %H:%M} UTC. A new allocation starts from "
    "the newer image. To update the packages of this one, run `sudo apt-get update && sudo apt-get upgrade` inside it. "
    "A restart keeps the image."
)


def view(row: AllocationRow, caller: Caller) -> Allocation:
    return Allocation(
        id=row.id,
        resource_name=f"gpuaas:{row.region}:{row.tenant_id}:{row.project_id}:allocation:{row.id}",
        project_id=row.project_id,
        group_id=row.group_id,
        name=row.name,
        status=row.status,
        status_since=row.status_since,
        status_reason=row.status_reason,
        health=health(row),
        health_reasons=reasons(row),
        sku=row.sku,
        gpu_count=row.gpu_count,
        size=row.size,
        vcpus=row.vcpus,
        memory_mib=row.memory_mib,
        disk_gib=row.disk_gib,
        init=row.init,
        shape=row.shape,
        node=AllocationNode(id=row.node_id, region=row.region),
        slots=[] if row.slots is UNSET else row.slots,
        connection=connection(row),
        early_connection=early_connection(row),
        boot=row.boot,
        price_per_hour=Money(amount_minor=row.price_minor_per_hour, currency=row.currency),
        created_at=row.created_at,
        active_at=row.active_at,
        released_at=row.released_at,
        last_progress_at=row.last_progress_at,
        requested_by=row.requested_by,
        holder=row.holder_id,
        held_by=HeldBy.HOLDER if row.is_held is not False else HeldBy.PROJECT_ADMINS,
        billing=billing(row),
        cost_so_far=cost_so_far(row),
        cleanup_proven=row.cleanup_proven_at is not None,
        simulated=row.simulated,
        operation_id=row.operation_id,
        isolation=row.isolation,
        image=image(row),
        attachments=[] if row.attachments is UNSET else row.attachments,
        resize=pending_resize(row),
        limits=limits(row),
        runtime=None if row.runtime is UNSET else row.runtime,
        retry=retry(row),
        permissions=permissions(caller, row),
    )


def image(row: AllocationRow) -> AllocationImage | None:
    """An outdated image is not unhealthy: nothing is broken, and the tenant decides when to update."""
    here = row.image
    if here is None:
        return None
    since = here.replaced_at if row.cleanup_proven_at is None else None
    return AllocationImage(
        version=here.version,
        distribution=here.distribution,
        python=here.python,
        built_at=here.built_at,
        outdated_since=since,
        advice=OUTDATED.format(since=since.astimezone(UTC)) if since else "",
    )


def limits(row: AllocationRow) -> Limits:
    return Limits(
        expires_at=row.expires_at,
        expiry_warned_at=row.expiry_warned_at,
        idle_minutes=row.idle_minutes,
        idle_warned_at=row.idle_warned_at,
    )


def pending_resize(row: AllocationRow) -> PendingResize | None:
    if not row.resize:
        return None
    return PendingResize(
        gpu_count=row.resize.gpu_count,
        size=row.resize.size,
        price_per_hour=Money(amount_minor=row.resize.price_minor_per_hour, currency=row.currency),
    )


def retry(row: AllocationRow) -> CreateAllocation | None:
    """`failed` is final: another try is a new request. This repeats the old request without keys and volumes that no
    longer exist and without an end that has passed. A volume that the old request created is attached, not created
    again.
    """
    if not row.asked or not row.asked.ssh_key_ids:
        return None
    return CreateAllocation(
        sku=row.sku,
        ssh_key_ids=row.asked.ssh_key_ids,
        project_id=row.project_id,
        name=row.name,
        gpu_count=row.gpu_count,
        size=row.size,
        region=row.region,
        expires_at=row.asked.expires_at,
        idle_minutes=row.idle_minutes,
        storage_attachments=row.asked.storage_attachments,
        runtime_bundle_id=row.runtime.bundle.id if row.runtime and row.runtime.bundle else None,
    )


def connection(row: AllocationRow) -> SshConnection | None:
    """Known when the node has reported the address. It stays readable after release, although it no longer works."""
    if row.port is None or row.host_key is None or not row.ssh_host:
        return None
    return _connection(row, row.ssh_host, row.port, row.host_key)


def early_connection(row: AllocationRow) -> SshConnection | None:
    """Only until the allocation is active; then `connection` has the address that the node confirmed."""
    spare = row.spare_access
    if spare is None or row.status not in (Status.REQUESTED, Status.PROVISIONING):
        return None
    return _connection(row, spare.host, spare.port, spare.host_key)


def _connection(row: AllocationRow, host: str, port: int, host_key: str) -> SshConnection:
    return SshConnection(
        host=host,
        port=port,
        username=row.username,
        host_key=host_key,
        command=f"ssh -o HostKeyAlias={row.id} -p {port} {row.username}@{host}",
        known_hosts=f"{row.id} {host_key}",
    )


def cost_so_far(row: AllocationRow) -> Cost:
    """Comes with the row; an allocation that was just submitted has no cost yet."""
    if row.usage is UNSET:
        return Cost(amount=Money(amount_minor=0, currency=row.currency), seconds=0, runs=False, at=row.created_at)
    amount = Money(amount_minor=row.usage.amount_minor, currency=row.currency)
    return Cost(amount=amount, seconds=row.usage.seconds, runs=row.usage.runs, at=row.usage.at)


def billing(row: AllocationRow) -> Billing:
    if row.active_at is None:
        return Billing(state=BillingState.NOT_STARTED, stopped_at=row.billing_stopped_at)
    state = BillingState.STOPPED if row.billing_stopped_at else BillingState.RUNNING
    return Billing(state=state, started_at=row.active_at, stopped_at=row.billing_stopped_at)
