"""Old code of this repository, taken from its history, run as processes beside the new."""

import asyncio
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from tests.live import free_socket
from tests.patience import PATIENCE_SECONDS
from tests.skips import NO_HISTORY

ROOT = Path(__file__).parents[2]
GIT = ("git", "-c", "safe.directory=*")  # a checkout of another user, as in a container
RELEASE_0_1_0 = "07ef9f43d2c60e5e2e6162865940071a54e31727"
"""The oldest release whose database can be upgraded."""
PREVIOUS_LANDING = "bd970c436dbc85ea92c5f66a853cffab0f8e45cf"
"""What runs in production while this code is rolled out. Raise it when a landing is complete."""


@dataclass(frozen=True)
class Landing:
    """The files of one commit."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """PYTHONPATH stands before the checkout that is installed."""
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith("GPUAAS_")},
            "PYTHONPATH": os.pathsep.join([str(self.folder / "src"), str(self.folder)]),
            "GPUAAS_SPARES": "0",
        }

    @asynccontextmanager
    async def process(self, log: Path, *command: str, **settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """`python -m …` of that commit until the block ends."""
        with log.open("ab") as out:
            made = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", *command),
                cwd=self.folder,
                env={**self.environment, **settings},
                stdout=out,
                stderr=out,
            )
        try:
            yield made
        finally:
            if made.returncode is None:
                made.send_signal(signal.SIGTERM)
            await asyncio.wait_for(made.wait(), PATIENCE_SECONDS)

    @asynccontextmanager
    async def server(self, dsn: str, data: Path, log: Path) -> AsyncIterator[str]:
        """A replica of that commit on this database; its URL."""
        with free_socket() as bound:
            port = bound.getsockname()[1]
        command = ("gpuaas.main", "server", "--data", str(data), "--port", str(port))
        url = f"http://127.0.0.1:{port}"
        async with self.process(log, *command, GPUAAS_DSN=dsn) as process, httpx.AsyncClient(base_url=url) as http:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not await answers(http):
                    assert process.returncode is None, log.read_text()
                    await asyncio.sleep(0.05)
            yield url

    @asynccontextmanager
    async def agent(self, folder: Path, log: Path) -> AsyncIterator[None]:
        """An agent of that commit for a node that is enrolled."""
        command = ("gpuaas.main", "agent", "--folder", str(folder), "--engine", "fake", "--gpus", "2")
        async with self.process(log, *command):
            yield


async def answers(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/readyz")).is_success
    except httpx.TransportError:
        return False


def landing(commit: str) -> Landing:
    """Skips the test, visibly, where the history does not reach back to it."""
    known = subprocess.run([*GIT, "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, check=False, capture_output=True)
    if known.returncode != 0:
        pytest.skip(f"{NO_HISTORY}: commit {commit[:8]} is not in this clone")
    folder = Path(tempfile.mkdtemp(prefix=f"gpuaas-{commit[:8]}-"))
    paths = ("src", "migrations", "tests")
    packed = subprocess.run([*GIT, "archive", commit, *paths], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return Landing(folder)
