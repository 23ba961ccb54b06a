"""How much one environment, one person and one address may take."""

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
    strangers: int = 20  # per environment: connections that have not proven a key yet
    strangers_per_source: int = 10
    connections_per_person: int = 50  # per environment
    sessions: int = 64  # per connection
    terminals: int = 128  # per environment
    unclaimed_seconds: float = 300.0  # how long a terminal waits for an agent
    listen_seconds: float = 2.0  # how long a port may be another program's before that is the answer


def read_limits(root: Path) -> Limits:
    """As the operator set them in the engine's folder, where they did. A file that cannot be read changes nothing."""
    try:
        return msgspec.json.decode((root / NAME).read_bytes(), type=Limits)
    except FileNotFoundError:
        return Limits()
    except (OSError, msgspec.DecodeError) as error:
        log.warning("%s is not used: %s", NAME, error)
        return Limits()
