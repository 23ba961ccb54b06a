"""What was proven, at which commit: a line for each scenario in docs/reference/proofs.md. A run goes on where one of
the same commit stopped."""

import os
import subprocess
from datetime import UTC, datetime

from tests.chaos.figures import Figures
from tests.chaos.rig import ROOT

FILE = ROOT / "docs" / "reference" / "proofs.md"
CLEAN = "| 0 | 0 | 0 | 0 |"
HEADING = "## `make chaos`"
HEAD = f"""
{HEADING}

Results of `make chaos`: two replicas, PostgreSQL with a standby, agents as processes, clients that record what was
acknowledged to them. Each of the four figures must be 0; `tests/chaos` has a planted fault for each that makes it more.

| commit | date | scenario | acknowledged | lost | slots held twice | without an end | destroyed in error | seconds |
|---|---|---|---|---|---|---|---|---|
"""


def commit() -> str:
    """With a mark when files differ from it."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def is_done(scenario: str) -> bool:
    if os.environ.get("GPUAAS_CHAOS_FRESH") or not FILE.exists():
        return False
    mark = f"| {commit().removesuffix('-dirty')} |"
    return any(
        line.startswith(mark) and f"| {scenario} |" in line and CLEAN in line for line in FILE.read_text().splitlines()
    )


def append(scenario: str, found: Figures, seconds: float) -> None:
    text = FILE.read_text() if FILE.exists() else "# Proofs\n"
    if HEADING not in text:
        FILE.write_text(text + HEAD)
    numbers = (found.acknowledged, len(found.lost), len(found.held_twice), len(found.without_end), len(found.destroyed))
    cells = [
        commit().removesuffix("-dirty"),
        f"{datetime.now(UTC):%Y-%m-%d}",
        scenario,
        *map(str, numbers),
        f"{seconds:.0f}",
    ]
    with FILE.open("a") as file:
        file.write(f"| {' | '.join(cells)} |\n")
