"""One whole platform for each test process that needs one: `gpuaas up` takes eight seconds of processor time.

A plugin of pytest, named in `tests/conftest.py`. Stories leave it as they found it, but for their own accounts.
"""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.stack import Stack, stack


@pytest.fixture(scope="session")
async def platform() -> AsyncIterator[Stack]:
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-platform-"))
    folder.chmod(0o711)  # people's environments are reached through it
    async with stack(folder) as made:
        await made.up()
        yield made
