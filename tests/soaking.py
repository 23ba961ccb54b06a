"""`make soak` and `make interop` can be stopped and resumed: tests that passed at this commit are not run again.

A plugin of pytest, named in `tests/conftest.py`. A run starts no further test after its time, and appends its result to
docs/reference/proofs.md.
"""

import os
import subprocess
import time
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "docs" / "reference" / "proofs.md"
CLIENTS = ROOT / "docs" / "reference" / "clients.md"
ENDS_AT = "GPUAAS_LONG_RUN_ENDS_AT"
TIME_IS_UP = "the time of this run is up; the next run resumes with it"
COLUMNS = "| commit | date | passed | failed | left | seconds |\n|---|---|---|---|---|---|\n"


@dataclass(frozen=True)
class LongRun:
    """A make target whose tests have a marker of its name."""

    name: str
    about: str
    minutes: int = 50  # of the hour that it may take: the last test still has to end

    @property
    def heading(self) -> str:
        return f"## `make {self.name}`"

    @property
    def is_fresh(self) -> bool:
        return bool(os.environ.get(f"GPUAAS_{self.name.upper()}_FRESH"))


RUNS = {
    "soak": LongRun(
        "soak",
        "The long proofs in full, of which `make test` runs a seeded sample. "
        "`left` counts tests that the next run resumes with.",
    ),
    "interop": LongRun(
        "interop",
        "Real SSH clients ([table](clients.md)) and the engine in a QEMU guest with cgroup v2 only. "
        "`left` counts tests that the next run resumes with.",
        minutes=40,
    ),
}


class Progress:
    """One run of the tests of a target, in the process that controls it."""

    def __init__(self, run: LongRun) -> None:
        self.run, self.commit = run, commit()
        self._file = ROOT / ".cache" / run.name / self.commit
        self._began = time.monotonic()
        self.passed, self.failed, self.left = set[str](), set[str](), set[str]()

    def done(self) -> set[str]:
        return set(self._file.read_text().splitlines()) if self._file.exists() else set()

    def saw(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped and TIME_IS_UP in str(report.longrepr):
            self.left.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a") as out:
                out.write(f"{name_of(report.nodeid)}\n")

    def record(self) -> None:
        cells = (len(self.passed), len(self.failed), len(self.left), round(time.monotonic() - self._began))
        row = f"| {self.commit} | {datetime.now(UTC):%Y-%m-%d} | {' | '.join(map(str, cells))} |\n"
        PROOFS.write_text(with_row(PROOFS.read_text() if PROOFS.exists() else "", self.run, row))


def with_row(text: str, run: LongRun, row: str) -> str:
    """The table of this target with one more line; a new table stands before the others."""
    if run.heading not in text:
        others = text.removeprefix("# Proofs\n").lstrip()
        text = f"# Proofs\n\n{run.heading}\n\n{run.about}\n\n{COLUMNS}" + (f"\n{others}" if others else "")
    before, heading, after = text.partition(run.heading)
    head, columns, rest = after.partition(COLUMNS)
    rows = rest.splitlines(keepends=True)
    end = next((number for number, line in enumerate(rows) if not line.startswith("|")), len(rows))
    return before + heading + head + columns + "".join([*rows[:end], row, *rows[end:]])


class Reports:
    """Hears every report in the controlling process."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._progress.saw(report)


def commit() -> str:
    """With a mark when files other than the tables that runs write differ from it."""
    written = [f":!{path.relative_to(ROOT)}" for path in (PROOFS, CLIENTS)]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *written)
    return git("describe", "--always") + ("-dirty" if changed else "")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def name_of(node_id: str) -> str:
    """Without the group that xdist appends."""
    return node_id.partition("@")[0]


PROGRESS = pytest.StashKey[Progress]()


def run_of(config: pytest.Config) -> LongRun | None:
    return RUNS.get(str(config.option.markexpr))


def pytest_configure(config: pytest.Config) -> None:
    run = run_of(config)
    if run is not None and not hasattr(config, "workerinput"):
        config.stash[PROGRESS] = Progress(run)
        config.pluginmanager.register(Reports(config.stash[PROGRESS]))
        os.environ[ENDS_AT] = str(time.monotonic() + 60 * run.minutes)  # workers read it


def pytest_runtest_setup(item: pytest.Item) -> None:
    if run_of(item.config) is not None and time.monotonic() > float(os.environ[ENDS_AT]):
        pytest.skip(TIME_IS_UP)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    yield
    progress = session.config.stash.get(PROGRESS, None)
    if progress is not None and progress.passed | progress.failed:
        progress.record()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    run = run_of(config)
    if run is None or run.is_fresh:
        return
    done = Progress(run).done()
    config.hook.pytest_deselected(items=[item for item in items if name_of(item.nodeid) in done])
    items[:] = [item for item in items if name_of(item.nodeid) not in done]
