"""`make soak` can be stopped and resumed: tests that passed at this commit are not run again.

A plugin of pytest, named in `tests/conftest.py`. A run starts no further test after 50 minutes, and appends its
result to docs/reference/proofs.md.
"""

import os
import subprocess
import time
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "docs" / "reference" / "proofs.md"
LIMIT_SECONDS = 50 * 60
FRESH, ENDS_AT = "GPUAAS_SOAK_FRESH", "GPUAAS_SOAK_ENDS_AT"
TIME_IS_UP = "the time of this run is up; make soak resumes with it"
HEADING = "## `make soak`"
HEAD = f"""# Proofs

{HEADING}

The long proofs in full, of which `make test` runs a seeded sample. `left` counts tests that the next run resumes with.

| commit | date | passed | failed | left | seconds |
|---|---|---|---|---|---|
"""


class Soak:
    """One run of the soak tests, in the process that controls it."""

    def __init__(self) -> None:
        self.commit = commit()
        self._file = ROOT / ".cache" / "soak" / self.commit
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
        """Add a line to the table of soak runs, which stands before other tables."""
        cells = (len(self.passed), len(self.failed), len(self.left), round(time.monotonic() - self._began))
        row = f"| {self.commit} | {datetime.now(UTC):%Y-%m-%d} | {' | '.join(map(str, cells))} |\n"
        text = PROOFS.read_text() if PROOFS.exists() else ""
        if HEADING not in text:
            text = HEAD + "\n" + text.removeprefix("# Proofs\n").lstrip() if text else HEAD
        before, _, after = text.partition(HEADING)
        table, gap, rest = after.partition("\n|---|---|---|---|---|---|\n")
        rows = rest.splitlines(keepends=True)
        end = next((number for number, line in enumerate(rows) if not line.startswith("|")), len(rows))
        PROOFS.write_text(before + HEADING + table + gap + "".join([*rows[:end], row, *rows[end:]]))


class Reports:
    """Hears every report in the controlling process."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._soak.saw(report)


def commit() -> str:
    """With a mark when files other than the table of proofs differ from it."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{PROOFS.relative_to(ROOT)}")
    return git("describe", "--always") + ("-dirty" if changed else "")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def name_of(node_id: str) -> str:
    """Without the group that xdist appends."""
    return node_id.partition("@")[0]


SOAK = pytest.StashKey[Soak]()


def is_soak(config: pytest.Config) -> bool:
    return str(config.option.markexpr) == "soak"


def pytest_configure(config: pytest.Config) -> None:
    if is_soak(config) and not hasattr(config, "workerinput"):
        config.stash[SOAK] = Soak()
        config.pluginmanager.register(Reports(config.stash[SOAK]))
        os.environ[ENDS_AT] = str(time.monotonic() + LIMIT_SECONDS)  # workers read it


def pytest_runtest_setup(item: pytest.Item) -> None:
    if is_soak(item.config) and time.monotonic() > float(os.environ[ENDS_AT]):
        pytest.skip(TIME_IS_UP)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    yield
    soak = session.config.stash.get(SOAK, None)
    if soak is not None and soak.passed | soak.failed:
        soak.record()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not is_soak(config) or os.environ.get(FRESH):
        return
    done = Soak().done()
    config.hook.pytest_deselected(items=[item for item in items if name_of(item.nodeid) in done])
    items[:] = [item for item in items if name_of(item.nodeid) not in done]
