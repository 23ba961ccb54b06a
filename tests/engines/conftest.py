"""Engines for tests: the same suite runs against each."""

import os
from collections.abc import AsyncIterator, Iterator
from itertools import count, cycle

import pytest

from tests.engines.benches import Bench, FakeBench, OciBench, oci

PORTS_PER_BENCH = 160  # one lives as long as the tests of a worker
_numbers = count(1)


@pytest.fixture
async def allocation_id(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """One that no other test of this worker uses. What the test made is removed: an engine looks at all that it has."""
    id = f"a{next(_numbers):04}"
    yield id
    for bench in request.node.funcargs.values():
        if isinstance(bench, OciBench):
            await bench.clear(id)


@pytest.fixture(scope="session")
def port_ranges() -> Iterator[range]:
    """Disjoint between workers and between benches of one worker; below the ephemeral ports."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 21_000 + 1_000 * (worker % 8)
    return cycle([range(start, start + PORTS_PER_BENCH) for start in range(first, first + 960, PORTS_PER_BENCH)])


@pytest.fixture(scope="session")
async def oci_bench(port_ranges: Iterator[range]) -> AsyncIterator[OciBench]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    async with oci(ports=next(port_ranges)) as bench:
        yield bench


@pytest.fixture(params=["fake", "oci"])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "fake":
        return FakeBench()
    found: Bench = request.getfixturevalue("oci_bench")
    return found


@pytest.fixture(params=["oci"])
def real(oci_bench: OciBench) -> OciBench:
    """Named in the ids of tests, which keeps all tests of a worker's engine in that worker."""
    return oci_bench
