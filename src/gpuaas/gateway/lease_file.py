"""The node's lease, written by the engine. A gateway that starts without an agent uses it."""

from datetime import timedelta
from pathlib import Path

import msgspec

from gpuaas.core.clock import Clock
from gpuaas.engines.leases import Kept, Leases
from gpuaas.wire.gateway import LEASE_FILE


def read_lease(root: Path, leases: Leases, clock: Clock) -> None:
    """Read the lease. An unreadable file changes nothing: the current lease continues until it expires."""
    try:
        kept = msgspec.json.decode((root / LEASE_FILE).read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return
    now = kept.server_time + max(clock.now() - kept.node_time, timedelta())
    left = timedelta() if kept.until is None else kept.until - now
    leases.renew(now, left.total_seconds(), (kept.holder_until - now).total_seconds())
