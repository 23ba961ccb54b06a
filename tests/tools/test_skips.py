"""A skipped suite is named in the summary, and fails the run in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import NO_HISTORY

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest

def test_that_runs() -> None:
    assert True

@pytest.mark.skipif(True, reason={reason!r})
def test_of_root() -> None:
    assert True

@pytest.fixture
def program() -> None:
    pytest.skip({reason!r})

def test_of_a_program(program: None) -> None:
    assert True
"""


def run(folder: Path, reason: str, *arguments: str, ci: str) -> subprocess.CompletedProcess[str]:
    """A separate run with only this plugin."""
    (folder / "test_suite.py").write_text(SUITE.format(reason=reason))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "GPUAAS_"))}
    return subprocess.run(
        [
            *(sys.executable, "-P", "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder)),
            *("-p", "tests.skips", "-p", "no:cacheprovider", *arguments, str(folder)),
        ],
        cwd=folder,
        env={**environment, "CI": ci, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "workers"])
def test_a_skip_for_lack_of_root_fails_a_run_in_ci_and_is_named(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = run(tmp_path, "needs root", *workers, ci="true")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "FAILS IN CI test_suite.py: 2 skipped: needs root" in done.stdout


def test_elsewhere_the_same_skip_is_named_and_the_run_passes(tmp_path: Path) -> None:
    done = run(tmp_path, "needs root", ci="")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "test_suite.py: 2 skipped: needs root" in done.stdout


def test_a_permitted_skip_is_named_and_passes_in_ci(tmp_path: Path) -> None:
    done = run(tmp_path, f"{NO_HISTORY}: a shallow clone", ci="true")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert f"test_suite.py: 2 skipped: {NO_HISTORY}: a shallow clone" in done.stdout
    assert "FAILS" not in done.stdout


def test_a_run_without_skips_says_nothing_of_them(tmp_path: Path) -> None:
    done = run(tmp_path, "needs root", "-k", "that_runs", ci="true")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "skipped suites" not in done.stdout
