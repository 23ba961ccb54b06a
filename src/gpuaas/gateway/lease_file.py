"""The node's lease as the engine wrote it, in force here whoever restarts."""

from datetime import timedelta
from pathlib import Path

import msgspec

from gpuaas.core.clock import Clock
from gpuaas.engines.leases import Leases
from gpuaas.engines.oci.gateway_protocol import LEASE, NodeLease


def read_lease(root: Path, leases: Leases, clock: Clock, machine_boot: str) -> None:
    """A file that cannot be read changes nothing: the lease in force runs on, and ends by itself."""
    try:
        kept = msgspec.json.decode((root / LEASE).read_bytes(), type=NodeLease)
    except (OSError, msgspec.DecodeError):
        return
    if kept.steady is not None and kept.machine_boot == machine_boot:
        passed = timedelta(seconds=clock.monotonic() - kept.steady)
    else:
        passed = max(clock.now() - kept.node_time, timedelta())
    now = kept.server_time + passed
    left = timedelta() if kept.until is None else kept.until - now
    leases.renew(now, left.total_seconds(), (kept.holder_until - now).total_seconds())
