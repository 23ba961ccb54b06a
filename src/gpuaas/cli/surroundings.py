"""What a command reads of the world outside it; main/cli.py hands over the real one, tests hand over their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
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


def surroundings_of(ctx: typer.Context) -> Surroundings:
    found = ctx.find_object(Surroundings)
    assert found is not None  # noqa: S101 - main/cli.py put it there before any command ran
    return found
