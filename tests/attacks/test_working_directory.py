"""Another user of a node leaves modules in /tmp, and root starts the product there."""

import subprocess
from pathlib import Path

import pytest

from gpuaas.engines.images.image_schedule import PROGRAM
from gpuaas.main import root_side

PLANTED = "from pathlib import Path\nPath(__file__).with_name('stolen').touch()\n"
MODULES = ("typer", "msgspec", "structlog", "asyncio", "gpuaas")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(PLANTED)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "stolen"


def test_a_scheduled_build_of_an_image_imports_nothing_from_there(planted: Path) -> None:
    subprocess.run([*PROGRAM, "--help"], capture_output=True, check=False)
    assert not planted.exists()


def test_the_root_process_imports_nothing_from_there(planted: Path) -> None:
    process = root_side.spawn(())._process
    process.communicate(b"")
    assert not planted.exists()
