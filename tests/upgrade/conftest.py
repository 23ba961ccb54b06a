"""Code of older commits, unpacked once."""

import shutil
from collections.abc import Iterator

import pytest

from tests.upgrade.landings import PREVIOUS_LANDING, RELEASE_0_1_0, Landing, landing


@pytest.fixture(scope="session")
def previous() -> Iterator[Landing]:
    made = landing(PREVIOUS_LANDING)
    yield made
    shutil.rmtree(made.folder)


@pytest.fixture(scope="session")
def release() -> Iterator[Landing]:
    made = landing(RELEASE_0_1_0)
    yield made
    shutil.rmtree(made.folder)
