"""A terminal of one's own: a home, a config file, a clock that stands still, and the fake API."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpuaas.cli.config import Settings, save
from gpuaas.cli.process_context import ProcessContext
from gpuaas.main.cli import run
from tests.sdk import samples
from tests.sdk.fake_api import FakeApi, running_api

TOKEN = "secret-token"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@dataclass
class Terminal:
    home: Path
    read: Callable[[], tuple[str, str]]
    type_in: Callable[[str], None]
    environ: dict[str, str]
    became: list[Sequence[str]] = field(default_factory=list)

    @property
    def process(self) -> ProcessContext:
        return ProcessContext(
            environ=self.environ, now=lambda: samples.NOON, hostname=lambda: "desk", become=self.became.append
        )

    @property
    def config(self) -> Path:
        return self.process.config_file

    def sign_in(self, url: str, **changes: str) -> None:
        save(self.process, Settings(**{"url": url, "token": TOKEN, "project": samples.PROJECT, **changes}))  # type: ignore[arg-type]

    def run(self, *args: str, stdin: str = "") -> Ran:
        self.type_in(stdin)
        code = run(args, self.process)
        out, err = self.read()
        return Ran(code, out, err)


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with running_api() as api:
        yield api


@pytest.fixture
def stranger(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Nobody is signed in here."""

    def read() -> tuple[str, str]:
        captured = capsys.readouterr()
        return captured.out, captured.err

    def type_in(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return Terminal(tmp_path, read, type_in, {"HOME": str(tmp_path)})


@pytest.fixture
def terminal(stranger: Terminal, api: FakeApi) -> Terminal:
    """Ada is signed in here."""
    stranger.sign_in(api.url)
    return stranger
