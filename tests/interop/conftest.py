"""A real node with an environment of each init, and a person who holds both."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from gpuaas.wire.environments import Init
from tests.engines.benches import Key, OciBench, ignore, keys, oci, spec
from tests.interop import table
from tests.interop.people import Person

PORTS = range(29_000, 29_100)


@pytest.fixture(scope="session")
async def node() -> AsyncIterator[OciBench]:
    async with oci(ports=PORTS) as bench:
        yield bench


@asynccontextmanager
async def person(node: OciBench, init: Init, factory: pytest.TempPathFactory) -> AsyncIterator[Person]:
    ada, id = Key(), f"interop-{init}"
    wanted = replace(spec(id, keys(1, ada)), init=init, vcpus=2, memory_mib=3072, disk_gib=8)
    environment = await node.engine.ensure(wanted, ignore)
    try:
        yield Person(factory.mktemp(init), environment, ada)
    finally:
        await node.engine.remove(id, ignore)


@pytest.fixture(scope="session")
async def plain(node: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Person]:
    async with person(node, Init.PLAIN, tmp_path_factory) as made:
        yield made


@pytest.fixture(scope="session")
async def systemd(node: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Person]:
    async with person(node, Init.SYSTEMD, tmp_path_factory) as made:
        yield made


@pytest.fixture(scope="session")
def clients() -> Iterator[None]:
    """Tests that use it record lines of the table, which is written at the end."""
    yield
    table.write()
