"""A skipped suite is in the summary with its reason; in CI it fails the run.

A plugin of pytest, named in `tests/conftest.py`. Nobody notices for months that a suite which needs root or a
program is skipped. With CI=true a skip fails the run, unless its reason is one of PERMITTED.
"""

import os
from collections import Counter

import pytest

from tests.soaking import TIME_IS_UP

CI = "CI"
NO_HISTORY = "no git history here"
PERMITTED = {
    TIME_IS_UP: "the next run resumes with it",
    "proven at this commit already": "an earlier run of this commit ran it",
    NO_HISTORY: "a clone without history has no old code to run beside the new",
    "downloads packages": "run by a command of its own, because other tests have no network",
    "the packages are installed here": "the test is about an installation without them",
    "the numbers here are those of x86_64": "another architecture",
    "Debian has this link, to /etc": "another distribution",
    "no other user is known here": "a machine without a second user",
    "nobody cannot reach": "a checkout that other users cannot read, as in a home folder",
}
"""Reasons, by their first words, that say nothing about root or missing programs."""


class Skips:
    """The skips of a run, by file and reason."""

    def __init__(self, *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self._counts: Counter[tuple[str, str]] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._counts[report.nodeid.split("::")[0], reason_of(report)] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._is_strict and self.refused() and session.exitstatus in {pytest.ExitCode.OK, 0}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._counts:
            return
        fails = self._is_strict and bool(self.refused())
        terminalreporter.section("skipped suites", red=fails, yellow=not fails)
        for (file, reason), count in sorted(self._counts.items()):
            mark = "FAILS IN CI " if (file, reason) in self.refused() else ""
            terminalreporter.write_line(f"{mark}{file}: {count} skipped: {reason}")
        if fails:
            terminalreporter.write_line(f"{CI} is set: this run fails, because it skipped what CI has to run")

    def refused(self) -> list[tuple[str, str]]:
        return [key for key in self._counts if not key[1].startswith(tuple(PERMITTED))]


def reason_of(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple | list) else str(report.longrepr)
    return str(text).removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # reports of worker processes arrive in the one that controls them
        config.pluginmanager.register(Skips(is_strict=os.environ.get(CI, "").lower() in {"1", "true"}))
