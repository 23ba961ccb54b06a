"""How much one environment, one person and one address may take."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    connections: int = 100  # per environment
    strangers: int = 20  # per environment: connections that have not proven a key yet
    strangers_per_source: int = 10
    connections_per_person: int = 50  # per environment
    sessions: int = 64  # per connection
    terminals: int = 128  # per environment
    listen_seconds: float = 2.0  # how long a port may be another program's before that is the answer
