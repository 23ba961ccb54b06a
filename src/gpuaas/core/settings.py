"""Settings of the control plane, frozen at start; each comes from a GPUAAS_… variable or its default."""

import os
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from gpuaas.wire.identity import SignUpMode


class SettingsError(ValueError):
    """A setting that cannot be used; the message names it and what it must be."""


class Settings(Struct, frozen=True, kw_only=True):
    data: Path
    dsn: str = ""  # empty: PostgreSQL embedded under `data`
    host: str = "127.0.0.1"
    port: int = 8080
    url: str = ""  # how people and agents reach this server; empty: host and port
    advertise_url: str = ""  # how other replicas' agents reach this one; empty: url
    trusted_proxies: str = ""  # addresses and networks, separated by commas, whose X-Forwarded-… headers count
    log_level: str = "info"
    sign_up: SignUpMode = SignUpMode.OPEN  # who may make an account: open, invitation or closed
    pool_size: int = 12
    min_free_mib: int = 256  # free space of the data folder's disk below which readiness reports it
    holder_lease_hours: float = 24.0  # how long a holder's own SSH keys admit on a node that is cut off
    terminal_hours: float = 8.0  # the longest life of a browser terminal
    terminal_detached_minutes: float = 5.0  # how long one waits for its reader to come back
    terminal_record: bool = False  # record every terminal, not only those that ask for it
    traces: str = ""  # the HTTP address of an OpenTelemetry collector; empty: no traces
    metrics_token: str = ""  # what Prometheus sends; empty: /metrics answers this machine alone
    # How many days each kind of history is kept; 0: for good.
    retention_timeline_days: float = 0.0
    retention_operations_days: float = 0.0  # ended ones, with their log lines
    retention_proofs_days: float = 0.0  # proofs of cleanup
    points: str = ""  # the crash harness; see core/points.py

    @property
    def public_url(self) -> str:
        return (self.url or f"http://{self.host}:{self.port}").rstrip("/")

    @property
    def proxies(self) -> list[IPv4Network | IPv6Network]:
        """What GPUAAS_TRUSTED_PROXIES lists; anything but addresses and networks is an error at start."""
        names = [name.strip() for name in self.trusted_proxies.split(",")]
        try:
            return [ip_network(name) for name in names if name]
        except ValueError as error:
            raise SettingsError(
                f"GPUAAS_TRUSTED_PROXIES must list addresses or networks, such as 10.0.0.5,10.1.0.0/16: {error}."
            ) from error

    @property
    def retention(self) -> dict[str, timedelta]:
        """By kind of history; a kind that is kept for good is left out."""
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
    """Arguments win over variables, variables over defaults; an unknown GPUAAS_ variable is left alone."""
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
    _ = made.proxies  # names that are no addresses are refused here
    return made
