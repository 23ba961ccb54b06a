"""Limits per environment, person and address."""

import logging
from dataclasses import dataclass
from pathlib import Path

import msgspec

NAME = "gateway-limits.json"
NODE_FULL = "The node has too many connections. Close some, or try again later."
log = logging.getLogger("gpuaas.gateway")


@dataclass(frozen=True, kw_only=True)
class Limits:
    connections: int = 100  # per environment
    strangers: int = 20  # per environment: connections without a proven key
    strangers_per_source: int = 10
    connections_per_person: int = 50  # per environment
    sessions: int = 64  # per connection
    terminals: int = 128  # per environment
    unclaimed_seconds: float = 300.0  # how long a terminal waits for an agent
    listen_seconds: float = 2.0  # how long another program may use a port before opening fails


def read_limits(root: Path) -> Limits:
    """Read limits that the operator set in the engine's folder. An unreadable file changes nothing."""
    try:
        return msgspec.json.decode((root / NAME).read_bytes(), type=Limits)
    except FileNotFoundError:
        return Limits()
    except (OSError, msgspec.DecodeError) as error:
        log.warning("%s is ignored: %s", NAME, error)
        return Limits()
