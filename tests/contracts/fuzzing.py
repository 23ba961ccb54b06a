"""schemathesis against a control plane on a real socket: every operation of the contract, right and wrong data."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.live import serving
from tests.world import Person, World, database

# An open stream never ends, so the two are fuzzed by a client that hangs up; test_fuzz.py.
STREAMS = "/events$"
# Every check but three. What fits the schema may still name what is not there; who may come in is the isolation
# matrix's to say; and Litestar answers OPTIONS with the methods of a path's first handler alone.
NOT_ASKED = "positive_data_acceptance,ignored_auth,allow_header_conformance"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One pass; the same seed makes the same requests."""

    seed: int
    examples: int
    phases: str = "fuzzing"
    paths: str = "/"

    def arguments(self, url: str, token: str) -> list[str]:
        return [
            "run",
            f"{url}/api/v1/openapi.json",
            *("--include-path-regex", self.paths),
            *("--exclude-path-regex", STREAMS),
            *("--header", f"Authorization: Bearer {token}"),
            *("--seed", str(self.seed)),
            *("--max-examples", str(self.examples)),
            *("--phases", self.phases),
            *("--mode", "all"),
            *("--checks", "all"),
            *("--exclude-checks", NOT_ASKED),
            *("--generation-database", "none"),
            *("--workers", "2"),
            "--continue-on-failure",
            "--no-color",
        ]


@asynccontextmanager
async def stage(data: Path) -> AsyncIterator[tuple[World, str]]:
    """A control plane with an operator, a catalog, a node and Ada, on the loopback."""
    async with database() as dsn, serving(dsn, data) as (world, url):
        await world.furnish()
        await world.nodes.add()
        yield world, url


async def personal_token(person: Person, *scopes: str) -> str:
    """Logging out, which is among the operations, ends a session and no token."""
    made = await person.http.post("/api/v1/auth/tokens", json={"title": "fuzz", "scopes": list(scopes)})
    return str(made.raise_for_status().json()["token"])


async def fuzz(url: str, token: str, run: Run, folder: Path) -> str:
    """Its report if it found anything, else nothing."""
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")),
        *run.arguments(url, token),
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "COLUMNS": "160"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return said.decode() if process.returncode else ""
