"""Prints the blocks of the documents that a run of tests/docs did not execute, with the reason of each.

A plugin of pytest, named in `tests/conftest.py`.
"""

from collections.abc import Iterator

import pytest

from tools.lint_docs import EXECUTED, ROOT, blocks, documents


def not_executed() -> Iterator[str]:
    for name in documents():
        if name.startswith(EXECUTED):
            for block in blocks(name, (ROOT / name).read_text()):
                if block.marker == "not executed":
                    yield f"{block}: {block.reason}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    if any(getattr(report, "nodeid", "").startswith("tests/docs/") for report in reports):
        terminalreporter.section("blocks of documents that were not executed")
        for line in not_executed():
            terminalreporter.line(line)
