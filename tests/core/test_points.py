"""A process that follows orders at its points: listed by running, ended at exactly one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

LIFE = """
import asyncio, sys
from pathlib import Path
from gpuaas.core.points import points_from
from gpuaas.engines.node import commands, files

folder = Path(sys.argv[1])
points = points_from(f"orders:{folder}")

async def live():
    for n in range(3):
        points.reach("beat of the heart")
        points.reach("commit:before")
        files.write_whole(folder / "file", str(n).encode())
    await asyncio.to_thread(files.write_whole, folder / "other", b"")
    await commands.run("true")

asyncio.run(live())
"""
WRITE = ["open files.write_whole", "os.rename files.write_whole"]
RUN = ["subprocess.Popen commands.attempt < commands.run", "subprocess.Popen:running commands.attempt < commands.run"]


def live(folder: Path, order: str = "") -> int:
    if order:
        (folder / "order").write_text(order)
    return subprocess.run([sys.executable, "-c", LIFE, str(folder)], check=False).returncode


def test_without_an_order_nothing_happens(tmp_path: Path) -> None:
    assert live(tmp_path) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"file", "other"}


def test_points_are_listed_in_the_order_passed_by_what_they_are_and_who_called(tmp_path: Path) -> None:
    assert live(tmp_path, "1 note") == 0
    passed = (tmp_path / "passed").read_text().splitlines()
    assert passed == [*(["beat of the heart", "commit:before ", *WRITE] * 3), *WRITE, *RUN]


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_death_comes_at_one_passing_of_one_point_and_only_once(tmp_path: Path, nth: int) -> None:
    assert live(tmp_path, f"1 die {nth} os.rename files.write_whole") == -signal.SIGKILL
    assert (tmp_path / ".file.new").read_text() == str(nth - 1)
    assert not (tmp_path / "file").exists() or (tmp_path / "file").read_text() == str(nth - 2)
    assert live(tmp_path) == 0


def test_a_program_can_be_met_running(tmp_path: Path) -> None:
    assert live(tmp_path, f"1 die 1 {RUN[1]}") == -signal.SIGKILL
    assert (tmp_path / "died").read_text().endswith(RUN[1])
