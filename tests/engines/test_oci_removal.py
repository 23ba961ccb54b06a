"""A removal that was not proven is looked into again, whole, however often it is asked for."""

import asyncio
import contextlib
import os
import signal
import subprocess
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.images.node_images import NodeImages
from gpuaas.engines.node import commands, processes
from gpuaas.engines.node.gpu_resets import SIMULATED, read_counts
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.records import Record, Records, Remains
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.removals import Removals
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.environments import Environment, EnvironmentState, ProofItem
from tests.engines.benches import Key, OciBench, SshWay, eventually, ignore, keys, spec
from tests.engines.reused_numbers import process_numbered
from tests.patience import PATIENCE_SECONDS


@contextlib.contextmanager
def left_in_shared_memory(uid: int) -> Iterator[None]:
    """Residue that no removal takes away by itself."""
    path = Path("/dev/shm") / f"gpuaas-removal-{os.getpid()}-{uid}"  # noqa: S108 (the place that is looked at)
    path.touch()
    os.chown(path, uid, uid)
    try:
        yield
    finally:
        path.unlink()


def failed(items: list[ProofItem]) -> set[str]:
    return {item.item for item in items if not item.ok}


def outcomes(items: list[ProofItem]) -> list[tuple[str, bool]]:
    return [(item.item, item.ok) for item in items]


def person_uid(environment: Environment) -> int:
    assert environment.isolation is not None
    return environment.isolation.uid


@pytest.mark.parametrize("has_record", [True, False], ids=["with its record", "with an unreadable record"])
async def test_asking_again_does_not_prove_what_was_not_proven(
    real: OciBench, allocation_id: str, has_record: bool
) -> None:
    wanted = spec(allocation_id, keys(1, Key()))
    made = await real.engine.ensure(wanted, ignore)
    if not has_record:
        (real.root / "environments" / allocation_id / "record.json").write_text("{")
    with left_in_shared_memory(person_uid(made)):
        first = await real.engine.remove(allocation_id, ignore)
        assert failed(first) == {"shared_memory"}, first
        assert outcomes(await real.engine.remove(allocation_id, ignore)) == outcomes(first)
        with pytest.raises(EngineError, match="being removed"):
            await real.engine.ensure(wanted, ignore)
        await real.crash()
        seen = next(one for one in await real.engine.observe() if one.allocation_id == allocation_id)
        assert (seen.state, seen.detail, seen.port) == (EnvironmentState.BROKEN, "half removed", made.port)
        assert outcomes(await real.engine.remove(allocation_id, ignore)) == outcomes(first)
        assert not (real.root / "environments" / allocation_id / "disk.img").exists(), "the disk is gone meanwhile"
    last = await real.engine.remove(allocation_id, ignore)
    assert [item.item for item in last] == [item.item for item in first]
    assert failed(last) == set(), last
    assert allocation_id not in {one.allocation_id for one in await real.engine.observe()}


async def test_numbers_of_a_removal_that_is_not_proven_are_not_given_to_another(
    real: OciBench, allocation_id: str
) -> None:
    made = await real.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    records = Records(real.root / "environments")
    before = records.read(allocation_id)
    assert isinstance(before, Record)
    with left_in_shared_memory(person_uid(made)):
        assert failed(await real.engine.remove(allocation_id, ignore))
        # as if every other number were used later: the next environment would get these, were they free
        for name, numbers in (("ports", real.ports), ("indexes", range(512))):
            used = [number for number in numbers if number not in (before.port, before.index)]
            (real.root / f"{name}.json").write_text(str(used))
        await real.crash()
        other = await real.engine.ensure(spec(f"{allocation_id}-next", keys(1, Key())), ignore)
        assert other.port != made.port
        assert person_uid(other) != person_uid(made)
    for id in (allocation_id, f"{allocation_id}-next"):
        assert failed(await real.engine.remove(id, ignore)) == set()


async def test_a_gpu_that_could_not_be_reset_is_given_to_nobody(real: OciBench, allocation_id: str) -> None:
    """It is tried again with each removal, and free once that works."""
    device, counts = f"GPU-{allocation_id}", real.root / SIMULATED
    await real.engine.ensure(spec(allocation_id, keys(1, Key()), devices=(device,)), ignore)
    await real.remote.break_resets("it hangs")
    items = await real.engine.remove(allocation_id, ignore)
    assert [item.evidence for item in items if not item.ok] == ["GPU 0: not reset: it hangs"]
    with pytest.raises(EngineError, match="in use by another environment"):
        await real.engine.ensure(spec(f"{allocation_id}-next", keys(1, Key()), devices=(device,)), ignore)
    assert device not in read_counts(counts)
    await real.remote.break_resets("")
    assert failed(await real.engine.remove(allocation_id, ignore)) == set()
    assert read_counts(counts)[device] == 1


async def test_a_process_seen_inside_is_looked_for_by_every_later_try(real: OciBench, allocation_id: str) -> None:
    child = await asyncio.create_subprocess_exec("sleep", "1000")
    try:
        folder = real.root / "environments" / allocation_id
        folder.mkdir()
        Records(folder.parent).write(
            allocation_id, Remains(removing=True, seen=((child.pid, processes.born(child.pid)),))
        )
        for _ in range(2):
            items = await real.engine.remove(allocation_id, ignore)
            assert failed(items) == {"processes"}, items
    finally:
        child.kill()
        await child.wait()
    assert failed(await real.engine.remove(allocation_id, ignore)) == set()
    assert not folder.exists()


@contextlib.asynccontextmanager
async def machine_beyond() -> AsyncIterator[str]:
    """The address of another machine, in a namespace of the test's own, that takes connections and never reads."""
    tag = f"r{os.getpid()}"
    await commands.run("ip", "netns", "add", tag)
    try:
        for line in (
            f"link add {tag} type veth peer name eth0 netns {tag}",
            f"addr add 198.51.100.5/30 dev {tag}",
            f"link set {tag} up",
            f"-n {tag} addr add 198.51.100.6/30 dev eth0",
            f"-n {tag} link set eth0 up",
        ):
            await commands.run("ip", *line.split())
        Path(f"/proc/sys/net/ipv4/conf/{tag}/forwarding").write_text("1")
        code = "import socket; s = socket.create_server(('0.0.0.0', 80)); print(flush=True); c = s.accept(); input()"
        server = await asyncio.create_subprocess_exec(
            *("ip", "netns", "exec", tag, "python3", "-c", code), stdin=PIPE, stdout=PIPE
        )
        assert server.stdout is not None
        await server.stdout.readline()
        try:
            yield "198.51.100.6"
        finally:
            server.kill()
            await server.communicate()
    finally:
        await commands.attempt("ip", "link", "del", tag)
        await commands.run("ip", "netns", "del", tag)


@pytest.mark.parametrize("sent", [0, 1 << 26], ids=["idle", "in the middle of a transfer"])
async def test_a_connection_that_a_person_left_open_does_not_hold_the_removal(
    real: OciBench, allocation_id: str, sent: int
) -> None:
    ada = Key()
    made = await real.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    async with machine_beyond() as address:
        way = await real.log_in(made, ada)
        assert isinstance(way, SshWay)
        code = (
            f"import socket, time; s = socket.create_connection(('{address}', 80)); s.settimeout(1)\n"
            "print(flush=True)\n"
            f"try: s.sendall(bytes({sent}))\nexcept TimeoutError: pass\nprint(flush=True); time.sleep(1000)"
        )
        process = await way.connection.create_process(f'python3 -c "{code}"')
        async with asyncio.timeout(PATIENCE_SECONDS):
            for _ in range(2):
                assert await process.stdout.readline() == "\n"
        items = await real.engine.remove(allocation_id, ignore)
        assert failed(items) == set(), items
        await way.ended()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", tmp_path], check=True)
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)


async def test_a_disk_that_its_person_filled_can_be_removed_and_is_remembered_as_soon_as_there_is_room(
    small_disk: Path,
) -> None:
    site, clock = Site(small_disk), lambda: datetime.now(UTC)
    site.open()
    records = Records(site.environments)
    removals = Removals(
        Containers(site, NodeImages(small_disk / "images", now=clock), (), clock),
        records,
        NodeVolumes(site, None, clock),
    )
    (records.folder("a") / "disk").mkdir(parents=True)
    with pytest.raises(OSError, match="No space"):
        (records.folder("a") / "disk" / "big").write_bytes(bytes(1 << 20))
    remains = await removals.begin("a", None, index=3, port=None)
    assert records.read("a") is None
    assert failed(await removals.clean("a", remains)) == set()
    assert records.read("a") == remains
    assert removals.keep("a").ok
    assert (await removals.finish("a")).ok
    site.close()


async def test_a_process_that_got_the_number_of_the_first_process_is_left_alone(
    real: OciBench, allocation_id: str
) -> None:
    await real.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    pid = real.first_process(allocation_id)
    os.kill(pid, signal.SIGKILL)
    assert await processes.gone(pid)
    await eventually(partial(is_free, pid))
    with process_numbered(pid) as other:
        assert failed(await real.engine.remove(allocation_id, ignore)) == set()
        assert other.poll() is None


async def is_free(pid: int) -> bool:
    return not processes.born(pid)


class ChangingLimits(Limits):
    """A process that left its group after the first look."""

    def __init__(self, pid: int) -> None:
        super().__init__("none")
        self._looks = iter([{pid}])

    def members(self, allocation_id: str) -> set[int]:
        return next(self._looks, set())


async def test_a_process_is_ended_only_while_it_is_in_the_group(tmp_path: Path) -> None:
    """A number that was read from a group may belong to another process when it is used."""
    clock = partial(datetime.now, UTC)
    containers = Containers(Site(tmp_path), NodeImages(tmp_path, now=clock), (), clock)
    with subprocess.Popen(["sleep", "1000000"]) as other:
        containers.limits = ChangingLimits(other.pid)
        await containers.delete("a")
        is_left_alone = other.poll() is None
        other.kill()
    assert is_left_alone
