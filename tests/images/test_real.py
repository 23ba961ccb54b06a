"""A real build, from the package sources of this machine: killed once, then whole."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuaas.engines.images import image_recipe, images
from tests.images.real import real_image
from tests.residue import HOST_NETWORK

pytestmark = [pytest.mark.soak, pytest.mark.skipif(os.geteuid() != 0, reason="only root builds images")]
needs_network = pytest.mark.skipif(
    HOST_NETWORK not in os.environ, reason=f"downloads packages: {HOST_NETWORK}=1 make soak ARGS='tests/images'"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gpuaas-images-") as name:
        yield Path(name)


def build(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gpuaas.main", "node", "image", "build", "--images", str(folder)]
    return subprocess.Popen(
        [*command, "--folder", str(folder / "agent"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if word in line:
            return
    pytest.fail(said)


@needs_network
def test_a_build_that_was_killed_leaves_nothing_and_the_next_one_is_whole(folder: Path) -> None:
    with build(folder) as killed:
        until(killed, "essential: unpacked")
        killed.send_signal(signal.SIGKILL)
    assert images.current(folder) is None
    with build(folder) as whole:
        said, _ = whole.communicate()
    assert whole.returncode == 0, said
    assert not list(folder.glob(".draft-*"))
    image = images.current(folder)
    assert image is not None
    assert set(image_recipe.PACKAGES) <= set(image.packages)
    assert images.verify(image) == ()
    with build(folder) as again:
        said, _ = again.communicate()
    assert "is up to date" in said


def test_the_shared_image_was_not_changed_by_any_test() -> None:
    assert images.verify(real_image()) == ()
