"""One slot, one id range, one network and one port, again and again: a tenant finds nothing of those before."""

import json
import os
import random
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.mark import ParameterSet

from gpuaas.engines.node import flows, processes
from gpuaas.engines.oci.ids import COUNT, HOLDER
from gpuaas.wire.environments import Environment, Init
from gpuaas.wire.storage import AccessMode, Backend, VolumeRef, WantedMount
from tests.attacks.inside import tenant
from tests.engines.benches import Key, OciBench, ignore, keys, spec
from tests.engines.openssh import OpenSsh

SLOT = ("GPU-of-the-slot",)
PROGRAM = Path(tenant.__file__).read_text()
SEED, REUSES, ROUND = 13, 200, 20
_numbers = count(1)


class Slot:
    """The tenants of one slot, one after the other; each gets the numbers of the one before."""

    def __init__(self, bench: OciBench, folder: Path) -> None:
        self.bench, self.folder = bench, folder
        self.previous: tuple[Environment, Key] | None = None

    async def host(self, init: Init) -> dict[str, Any]:
        """A tenant comes, looks, leaves traces and goes; what it told, and what is left on the node."""
        name, ada, began = f"tenant{next(_numbers)}x", Key(), time.monotonic()
        await self.bench.remote.forget_numbers()
        wanted = spec(name, keys(1, ada), devices=SLOT)
        wanted = msgspec.structs.replace(wanted, init=init, facts={"sku": name})
        environment = await self.bench.engine.ensure(wanted, ignore)
        self.check_reuse(environment)
        told = await self.visit(environment, ada, name)
        assert told["up"] < time.monotonic() - began + 1, "the uptime of somebody else"
        await self.refuse_previous(environment)
        address = (await OpenSsh(self.folder, environment, ada).says("hostname -I")).split()[0]
        assert flows.of(address), "the look at flows can see one"
        proof = await self.bench.engine.remove(name, ignore)
        assert [item for item in proof if not item.ok] == []
        assert environment.isolation is not None
        first = environment.isolation.uid - HOLDER
        assert list(processes.of_uids(range(first, first + COUNT))) == []
        assert flows.of(address) == []
        self.previous = environment, ada
        return told

    def check_reuse(self, environment: Environment) -> None:
        """The point of it all: the numbers are those of the tenant before, and the host key is not."""
        if self.previous is not None:
            before = self.previous[0]
            assert environment.isolation is not None
            assert before.isolation is not None
            assert (environment.port, environment.isolation.uid) == (before.port, before.isolation.uid)
            assert environment.host_key != before.host_key

    async def visit(self, environment: Environment, ada: Key, name: str) -> dict[str, Any]:
        """With a volume, which stays when the tenant goes."""
        volume = VolumeRef(volume_id=f"vol_{os.getpid()}{name}", backend=Backend.SHARED, size_gib=1)
        wanted = WantedMount(volume=volume, mount_path=tenant.VOLUME, access_mode=AccessMode.READ_WRITE)
        ssh = OpenSsh(self.folder, environment, ada)
        assert (await ssh.run(f"test -e {tenant.VOLUME}")).code == 1
        await self.bench.engine.volumes.ensure(volume, None, ignore)
        await self.bench.engine.mounts.attach(name, wanted, ignore)
        outcome = await ssh.run(f"sudo python3 - {name}", text=PROGRAM)
        assert outcome.code == 0, outcome.err
        told: dict[str, Any] = json.loads(outcome.out)
        return told

    async def refuse_previous(self, environment: Environment) -> None:
        if self.previous is not None:
            folder = self.folder / "previous"
            folder.mkdir(exist_ok=True)
            outcome = await OpenSsh(folder, environment, self.previous[1]).run("true")
            assert (outcome.code, "Permission denied" in outcome.err) == (255, True)


@pytest.fixture(scope="module")
def slot(bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> Slot:
    return Slot(bench, tmp_path_factory.mktemp("slot"))


def rounds() -> Iterator[ParameterSet]:
    """Of a seeded order of inits: both in the sample, and all of it in the soak run, in parts that can be resumed."""
    order = random.Random(SEED).choices((Init.PLAIN, Init.SYSTEMD), weights=(3, 1), k=REUSES)
    yield pytest.param([Init.PLAIN, Init.SYSTEMD, Init.PLAIN], id="sample")
    for start in range(0, REUSES, ROUND):
        # One more than there are reuses: the first tenant has nobody before.
        inits = [Init.PLAIN, *order[start : start + ROUND]]
        yield pytest.param(inits, id=f"from {start}", marks=pytest.mark.soak)


@pytest.mark.parametrize("inits", list(rounds()))
async def test_a_tenant_finds_nothing_of_those_before(slot: Slot, inits: list[Init]) -> None:
    for init in inits:
        told = await slot.host(init)
        assert told["unseen"] == [], "a look that does not see its own traces proves nothing"
        assert told["others"] == {}
        assert len(tenant.KINDS) >= 15


async def test_traces_that_are_left_are_found(slot: Slot, bench: OciBench) -> None:
    """The twin: two tenants one after the other in one environment that nobody removed in between."""
    ada, name = Key(), f"tenant{next(_numbers)}x"
    wanted = msgspec.structs.replace(spec(name, keys(1, ada), devices=SLOT), facts={"sku": name})
    environment = await bench.engine.ensure(wanted, ignore)
    ssh = OpenSsh(slot.folder, environment, ada)
    await ssh.run(f"sudo mkdir {tenant.VOLUME}")
    first = json.loads((await ssh.run(f"sudo python3 - {name}", text=PROGRAM)).out)
    assert first["others"] == {}
    found = json.loads((await ssh.run("sudo python3 - tenant0x look", text=PROGRAM)).out)
    assert set(found) == set(tenant.KINDS)
    await bench.engine.remove(name, ignore)
