"""Environment variables, clock and host name of the process. main/cli.py passes the real ones, tests pass others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessContext:
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    hostname: Callable[[], str]
    become: Callable[[Sequence[str]], None]  # gives the process to another program, and does not come back

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME", "/"))

    @property
    def config_file(self) -> Path:
        if chosen := self.environ.get("GPUAAS_CONFIG"):
            return Path(chosen).expanduser()
        base = self.environ.get("XDG_CONFIG_HOME") or str(self.home / ".config")
        return Path(base) / "gpuaas" / "config.toml"


def process_context(ctx: typer.Context) -> ProcessContext:
    found = ctx.find_object(ProcessContext)
    assert found is not None  # noqa: S101 - main/cli.py put it there before any command ran
    return found
