"""One engine and three environments for all attacks of a module: one of each init, and a neighbour."""

import os
from collections.abc import AsyncIterator

import msgspec
import pytest

from gpuaas.wire.environments import Init
from tests.attacks.inside.nodes import NEIGHBOUR, AttackedNode
from tests.engines.benches import Key, OciBench, ignore, keys, oci, spec
from tests.engines.openssh import OpenSsh

FIRST_PORT, PORTS = 30_000, 80  # above those of other engines in tests, below the ephemeral ports


@pytest.fixture(scope="module")
async def bench() -> AsyncIterator[OciBench]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 8
    first = FIRST_PORT + PORTS * worker
    async with oci(ports=range(first, first + PORTS)) as bench:
        yield bench


@pytest.fixture(scope="module")
async def node(bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AttackedNode]:
    folder, ada = tmp_path_factory.mktemp("inside"), Key()
    found = {}
    for name, init in (("plain", Init.PLAIN), ("systemd", Init.SYSTEMD), (NEIGHBOUR, Init.PLAIN)):
        wanted = msgspec.structs.replace(spec(name, keys(1, ada)), init=init)
        found[name] = OpenSsh(folder, await bench.engine.ensure(wanted, ignore), ada)
    async with AttackedNode(bench, folder, found).serving() as node:
        yield node
