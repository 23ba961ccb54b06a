"""The engine on a node that has cgroup v2 only: create, limits, out of memory, resize and removal, with both inits.

`test_guest.py` runs this file in a QEMU guest. The order of the tests matters: those of one init share an environment.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuaas.engines.node import cgroups
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import config, liveness
from gpuaas.wire.environments import EnvironmentSpec, EnvironmentState, Init
from tests.engines.benches import Key, OciBench, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh
from tests.interop.people import BOOTED

MEMORY_MIB, MORE_MEMORY_MIB = 384, 512
GREEDY = 'python3 -c "x = bytearray({mib} << 20)"'
KILLED = 137
CROWD = """
import errno, os, signal
children = []
try:
    while len(children) < 100:
        if not (pid := os.fork()): signal.pause()
        children.append(pid)
except OSError as error: print(errno.errorcode[error.errno])
for pid in children: os.kill(pid, 9)
"""


class Scene:
    """One environment, and the person who holds it."""

    def __init__(self, node: OciBench, init: Init, folder: Path) -> None:
        self.node, self.init, self.folder, self.ada = node, init, folder, Key()
        self.id = f"v2-{init}"

    def spec(self, *, boot: int, vcpus: int, memory_mib: int) -> EnvironmentSpec:
        wanted = spec(self.id, keys(1, self.ada), boot=boot)
        return replace(wanted, vcpus=vcpus, memory_mib=memory_mib, disk_gib=1, init=self.init)

    async def ensure(self, *, boot: int, vcpus: int, memory_mib: int) -> None:
        wanted = self.spec(boot=boot, vcpus=vcpus, memory_mib=memory_mib)
        self.environment = await self.node.engine.ensure(wanted, ignore)
        self.ssh = OpenSsh(self.folder, self.environment, self.ada)

    @property
    def limits(self) -> Limits:
        return Limits(Site(self.node.root).tag)

    @property
    def group(self) -> Path:
        return self.limits.folders(self.id)["memory"]


@pytest.fixture(scope="module", params=list(Init))
async def scene(
    request: pytest.FixtureRequest, node: OciBench, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scene]:
    made = Scene(node, request.param, tmp_path_factory.mktemp(request.param))
    yield made
    await node.engine.remove(made.id, ignore)


def test_the_node_has_version_2_only(node: OciBench) -> None:
    assert {line.split(":")[1] for line in Path("/proc/self/cgroup").read_text().splitlines()} == {""}
    assert Limits(Site(node.root).tag).version == "2"


async def test_create(scene: Scene) -> None:
    await scene.ensure(boot=1, vcpus=1, memory_mib=MEMORY_MIB)
    assert scene.environment.state is EnvironmentState.RUNNING, scene.environment
    isolation = scene.environment.isolation
    assert isolation is not None
    assert isolation.missing == {}
    assert isolation.limits["memory"] == f"cgroup v2: memory.max = {MEMORY_MIB << 20}"
    assert isolation.limits["cpu"] == "cgroup v2: cpu.max = 100000 100000"
    assert await scene.ssh.says("sudo id -u") == "0"


async def test_systemd_starts_all_of_its_units(scene: Scene) -> None:
    if scene.init is Init.SYSTEMD:
        outcome = await scene.ssh.run(f"{BOOTED}; systemctl is-system-running; systemctl --failed --plain --no-legend")
        assert outcome.out == "running\n", outcome


async def test_a_session_is_in_a_group_of_the_environment_beside_its_first_process(scene: Scene) -> None:
    own = await scene.ssh.says("cat /proc/self/cgroup")
    assert own == await scene.ssh.says("cat /proc/1/cgroup")
    assert own == ("0::/init.scope" if scene.init is Init.SYSTEMD else "0::/")
    (first,) = cgroups.folders_of(scene.node.first_process(scene.id))
    assert Path(first).is_relative_to(scene.group)
    assert await scene.ssh.says("cat /sys/fs/cgroup/init.scope/pids.max 2>/dev/null || echo max") == "max"


async def test_limits_are_those_that_were_sold(scene: Scene) -> None:
    assert await scene.ssh.says("nproc; grep -c ^processor /proc/cpuinfo") == "1\n1"
    assert await scene.ssh.says("free -m | awk '/Mem:/ { print $2 }'") == str(MEMORY_MIB)
    most = scene.group / "pids.max"
    assert int(most.read_text()) == config.tasks(1)
    taken = int((scene.group / "pids.current").read_text())
    most.write_text(str(taken + 20))
    try:
        assert await scene.ssh.says(f'python3 -c "{CROWD}"') == "EAGAIN"
    finally:
        most.write_text(str(config.tasks(1)))


async def test_root_inside_cannot_raise_its_limits(scene: Scene) -> None:
    for name in ("memory.max", "cpu.max", "pids.max"):
        outcome = await scene.ssh.run(f"echo max | sudo tee /sys/fs/cgroup/{name}")
        assert outcome.code != 0, name
    assert (scene.group / "memory.max").read_text().strip() == str(MEMORY_MIB << 20)


async def test_a_process_that_runs_out_of_memory_ends_alone(scene: Scene) -> None:
    first = scene.node.first_process(scene.id)
    outcome = await scene.ssh.run(GREEDY.format(mib=2 * MEMORY_MIB))
    assert outcome.code == KILLED, outcome
    assert await scene.ssh.says("echo alive") == "alive"
    assert scene.node.first_process(scene.id) == first
    assert "oom_kill 1" in (scene.group / "memory.events").read_text()


async def test_a_unit_has_limits_of_its_own(scene: Scene) -> None:
    """systemd manages the groups below its own, with the controllers that it was given."""
    if scene.init is Init.SYSTEMD:
        greedy = GREEDY.format(mib=128).removeprefix('python3 -c "').removesuffix('"')
        properties = "-p MemoryMax=64M -p MemorySwapMax=0"
        unit = f"sudo systemd-run --wait --quiet {properties} python3 -c '{greedy}'"
        assert (await scene.ssh.run(unit)).code != 0
        assert (await scene.ssh.run(f"sudo systemd-run --wait --quiet python3 -c '{greedy}'")).code == 0
        await scene.ssh.says("sudo systemd-run --quiet --slice=deep-slice sleep 1000")


async def test_a_first_process_that_was_not_recorded_is_found_in_its_groups(scene: Scene) -> None:
    folder = scene.node.root / "environments" / scene.id
    recorded = (folder / liveness.NAME).read_bytes()
    (folder / liveness.NAME).unlink()
    try:
        sighting = liveness.look(folder, scene.limits)
    finally:
        (folder / liveness.NAME).write_bytes(recorded)
    assert (sighting.liveness, sighting.pid) == (liveness.Liveness.RUNNING, scene.node.first_process(scene.id))


async def test_the_agent_dies_and_the_environment_does_not(scene: Scene) -> None:
    await scene.node.crash()
    found = {one.allocation_id: one for one in await scene.node.engine.observe()}
    assert found[scene.id] == scene.environment
    assert await scene.ssh.says("echo alive") == "alive"


async def test_resize(scene: Scene) -> None:
    await scene.ssh.says("echo kept > kept")
    await scene.ensure(boot=2, vcpus=2, memory_mib=MORE_MEMORY_MIB)
    assert scene.environment.state is EnvironmentState.RUNNING
    assert await scene.ssh.says("nproc; cat kept") == f"{min(2, os.cpu_count() or 1)}\nkept"
    assert await scene.ssh.says("free -m | awk '/Mem:/ { print $2 }'") == str(MORE_MEMORY_MIB)
    assert (scene.group / "memory.max").read_text().strip() == str(MORE_MEMORY_MIB << 20)
    assert (scene.group / "cpu.max").read_text().split() == ["200000", "100000"]
    assert (await scene.ssh.run(GREEDY.format(mib=2 * MORE_MEMORY_MIB))).code == KILLED


async def test_a_first_process_that_is_killed_is_told_and_the_environment_boots_again(scene: Scene) -> None:
    os.kill(scene.node.first_process(scene.id), 9)

    async def is_stopped() -> bool:
        found = {one.allocation_id: one for one in await scene.node.engine.observe()}
        return found[scene.id].state is EnvironmentState.STOPPED

    await eventually(is_stopped)
    await scene.ensure(boot=3, vcpus=1, memory_mib=MEMORY_MIB)
    assert await scene.ssh.says("cat kept") == "kept"


async def test_removal_is_proven_and_leaves_no_group(scene: Scene) -> None:
    if scene.init is Init.SYSTEMD:
        await scene.ssh.says("sudo mkdir -p /sys/fs/cgroup/mine/below")
    items = await scene.node.engine.remove(scene.id, ignore)
    assert all(item.ok for item in items), items
    assert not [path for path in scene.group.parent.glob("*/") if path.name.startswith(scene.id)]
