"""Settings of the control plane, read once at start from GPUAAS_… variables or their defaults."""

import os
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from gpuaas.wire.identity import SignUpMode


class SettingsError(ValueError):
    """An invalid setting; the message names it and the expected format."""


class Settings(Struct, frozen=True, kw_only=True):
    data: Path
    dsn: str = ""  # empty: embedded PostgreSQL in `data`
    host: str = "127.0.0.1"
    port: int = 8080
    url: str = ""  # address for people and agents; empty: host and port
    advertise_url: str = ""  # address for agents of other replicas; empty: url
    trusted_proxies: str = ""  # comma-separated addresses and networks whose X-Forwarded-… headers are trusted
    log_level: str = "info"
    sign_up: SignUpMode = SignUpMode.OPEN  # who may create an account: open, invitation or closed
    pool_size: int = 12
    min_free_mib: int = 256  # readiness fails if the disk of the data folder has less free space
    holder_lease_hours: float = 24.0  # validity of the holder's SSH keys on a node without a link
    terminal_hours: float = 8.0  # maximum lifetime of a browser terminal
    terminal_detached_minutes: float = 5.0  # how long a terminal waits for its client to return
    terminal_record: bool = False  # record every terminal, not only on request
    traces: str = ""  # HTTP address of an OpenTelemetry collector; empty: no traces
    metrics_token: str = ""  # bearer token of Prometheus; empty: /metrics answers only requests from this computer
    # Retention of each kind of history in days; 0: permanently.
    retention_timeline_days: float = 0.0
    retention_operations_days: float = 0.0  # ended operations, with their log lines
    retention_proofs_days: float = 0.0  # proofs of cleanup
    points: str = ""  # for the crash harness; see core/points.py

    @property
    def public_url(self) -> str:
        return (self.url or f"http://{self.host}:{self.port}").rstrip("/")

    @property
    def proxies(self) -> list[IPv4Network | IPv6Network]:
        """Parse GPUAAS_TRUSTED_PROXIES; an entry that is not an address or network is an error at start."""
        names = [name.strip() for name in self.trusted_proxies.split(",")]
        try:
            return [ip_network(name) for name in names if name]
        except ValueError as error:
            raise SettingsError(
                f"GPUAAS_TRUSTED_PROXIES must list addresses or networks, such as 10.0.0.5,10.1.0.0/16: {error}."
            ) from error

    @property
    def retention(self) -> dict[str, timedelta]:
        """Retention by kind of history, without kinds that are kept permanently."""
        days = {
            "timeline": self.retention_timeline_days,
            "operations": self.retention_operations_days,
            "proofs": self.retention_proofs_days,
        }
        return {kind: timedelta(days=max(1.0, kept)) for kind, kept in days.items() if kept > 0}

    @property
    def master_key_file(self) -> Path:
        return self.data / "master.key"


def default_data_folder() -> Path:
    if os.geteuid() == 0:
        return Path("/var/lib/gpuaas")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "gpuaas"


def load(environ: Mapping[str, str], **overrides: object) -> Settings:
    """Arguments override variables, variables override defaults; unknown GPUAAS_ variables are ignored."""
    given = {
        field: environ[f"GPUAAS_{field.upper()}"]
        for field in Settings.__struct_fields__
        if environ.get(f"GPUAAS_{field.upper()}")
    }
    named = {key: value for key, value in overrides.items() if value is not None}
    fields = {"data": default_data_folder(), **given, **named}
    try:
        made = convert(fields, Settings, strict=False, dec_hook=lambda kind, value: kind(value))
    except ValidationError as error:
        why, _, field = str(error).partition(" - at `$.")
        raise SettingsError(f"GPUAAS_{field.rstrip('`').upper()}: {why}. See docs/reference/settings.md.") from error
    _ = made.proxies  # rejects names that are not addresses
    return made
