"""Engines for tests: the same suite runs against each."""

import os
from collections.abc import AsyncIterator, Iterator
from itertools import count, cycle

import pytest

from tests.engines.benches import ORDINARY_UID, Bench, FakeBench, SandboxBench, sandbox

PORTS_PER_BENCH = 160  # two of them live as long as the tests of a worker, and tests leave their machines to them
_numbers = count(1)


@pytest.fixture
def allocation_id() -> str:
    """One that no other test of this worker uses."""
    return f"a{next(_numbers)}"


@pytest.fixture(scope="module")
def shared_id() -> str:
    """Of an environment that all tests of a module look at."""
    return f"s{next(_numbers)}"


@pytest.fixture(scope="session")
def port_ranges() -> Iterator[range]:
    """Disjoint between workers and between benches of one worker; below the ephemeral ports."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 21_000 + 1_000 * (worker % 8)
    return cycle([range(start, start + PORTS_PER_BENCH) for start in range(first, first + 960, PORTS_PER_BENCH)])


@pytest.fixture(scope="session")
async def root_bench(port_ranges: Iterator[range]) -> AsyncIterator[SandboxBench]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    async with sandbox(uid=0, ports=next(port_ranges)) as bench:
        yield bench


@pytest.fixture(scope="session")
async def user_bench(port_ranges: Iterator[range]) -> AsyncIterator[SandboxBench]:
    async with sandbox(uid=os.geteuid() or ORDINARY_UID, ports=next(port_ranges)) as bench:
        yield bench


@pytest.fixture(params=["fake", "sandbox as root", "sandbox as an ordinary user"])
def bench(request: pytest.FixtureRequest) -> Bench:
    match request.param:
        case "fake":
            return FakeBench()
        case "sandbox as root":
            root: Bench = request.getfixturevalue("root_bench")
            return root
        case _:
            user: Bench = request.getfixturevalue("user_bench")
            return user


@pytest.fixture(scope="module", params=["as root", "as an ordinary user"])
def real(request: pytest.FixtureRequest) -> SandboxBench:
    name = "root_bench" if request.param == "as root" else "user_bench"
    found: SandboxBench = request.getfixturevalue(name)
    return found
