"""What an environment uses is measured, with its source; and what cannot be measured says why."""

from datetime import UTC, datetime
from pathlib import Path

import asyncssh
import pytest

from gpuaas.engines.storage.mount_tables import MountTables
from gpuaas.wire.metrics import GPU_METRICS, Metric, Sample
from tests.engines.benches import Bench, Key, OciBench, SshWay, eventually, ignore, keys, spec

SLEEPERS = 20


def value(sample: Sample, metric: Metric) -> float:
    found = next(one for one in sample.readings if one.metric is metric)
    assert found.value is not None, found.unavailable
    return found.value


async def taken(bench: Bench, allocation_id: str) -> Sample:
    samples = await bench.engine.samples.take(datetime.now(UTC))
    return next(one for one in samples if one.allocation_id == allocation_id)


async def inside(bench: Bench, allocation_id: str) -> asyncssh.SSHClientConnection | None:
    ada = Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada), slots=2), ignore)
    way = await bench.log_in(made, ada)
    return way.connection if isinstance(way, SshWay) else None


async def test_every_reading_has_a_source_and_either_a_number_or_a_reason(bench: Bench, allocation_id: str) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key()), slots=2), ignore)
    sample = await taken(bench, allocation_id)
    assert sample.boot == 1
    assert {one.metric for one in sample.readings} == set(Metric)
    assert all(one.source for one in sample.readings)
    assert all((one.value is None) == bool(one.unavailable) for one in sample.readings)
    assert len({one.key for one in sample.readings}) == len(sample.readings)


async def test_a_simulated_gpu_says_so_and_gives_no_number(bench: Bench, allocation_id: str) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key()), slots=2), ignore)
    gpus = [one for one in (await taken(bench, allocation_id)).readings if one.metric in GPU_METRICS]
    assert {one.device for one in gpus} == {"0", "1"}
    assert all(one.value is None and "simulated" in one.unavailable for one in gpus)


async def test_who_is_in_is_counted(bench: Bench, allocation_id: str) -> None:
    ada = Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    assert value(await taken(bench, allocation_id), Metric.SSH_SESSIONS) == 0
    way = await bench.log_in(made, ada)
    assert way is not None
    assert value(await taken(bench, allocation_id), Metric.SSH_SESSIONS) == 1


async def test_a_removed_environment_is_measured_no_more(bench: Bench, allocation_id: str) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    await bench.engine.remove(allocation_id, ignore)
    samples = await bench.engine.samples.take(datetime.now(UTC))
    assert allocation_id not in {one.allocation_id for one in samples}


async def test_an_environment_that_burns_cpu_shows_cpu(real: OciBench, allocation_id: str) -> None:
    connection = await inside(real, allocation_id)
    assert connection is not None
    before = await taken(real, allocation_id)
    # Many: the sample before may count processes of a login that end soon.
    async with connection.create_process(f"for _ in $(seq {SLEEPERS}); do sleep 1000 & done; while :; do :; done"):

        async def shows() -> bool:
            return value(await taken(real, allocation_id), Metric.CPU) > value(before, Metric.CPU) + 0.5

        await eventually(shows)
        busy = await taken(real, allocation_id)
        await real.engine.remove(allocation_id, ignore)  # sshd waits for the end of a command whose client left
    assert value(before, Metric.PROCESSES) < SLEEPERS < value(busy, Metric.PROCESSES)
    assert value(busy, Metric.MEMORY) > 0


async def test_cpu_of_processes_that_ended_is_not_forgotten(real: OciBench, allocation_id: str) -> None:
    connection = await inside(real, allocation_id)
    assert connection is not None
    before = value(await taken(real, allocation_id), Metric.CPU)
    await connection.run("sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done'", check=True)

    async def is_collected() -> bool:
        return value(await taken(real, allocation_id), Metric.CPU) > before + 0.2

    await eventually(is_collected)


async def test_what_is_written_shows_as_disk_and_links_are_not_followed(real: OciBench, allocation_id: str) -> None:
    connection = await inside(real, allocation_id)
    assert connection is not None
    before = value(await taken(real, allocation_id), Metric.DISK)
    await connection.run("ln -s / ~/everything; head -c 8000000 /dev/zero > ~/data; ln ~/data ~/again", check=True)

    async def shows() -> bool:
        return value(await taken(real, allocation_id), Metric.DISK) > before

    await eventually(shows)
    grown = value(await taken(real, allocation_id), Metric.DISK) - before
    assert 8_000_000 <= grown < 12_000_000
    assert value(await taken(real, allocation_id), Metric.DISK_FREE) > 0


LOCAL = b"1 0 7:1 / /data/local rw - ext4 /dev/loop1 rw\n"


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (b"2 0 0:9 / / rw - overlay overlay rw\n", ["/data/local"]),
        (b"2 0 0:9 / /data rw - tmpfs tmpfs rw\n", ["/data/local"]),
        (b"2 0 8:1 /s/vol_2/data /shared rw - ext4 /dev/sda1 rw\n", ["/data/local"]),
        (b"2 0 0:9 / /data rw - nfs4 server:/ rw\n", []),
        (b"2 0 0:9 / /data/local rw - fuse.sshfs me@server: rw\n", []),
    ],
)
def test_no_volume_is_looked_at_through_a_file_system_that_may_hang(others: bytes, expected: list[str]) -> None:
    tables = MountTables(Path("/n"), None, backing_file=lambda _: "/n/vol_1/disk.img")
    assert [one.mount_path for one in tables.local_mounts(LOCAL + others)] == expected


async def test_a_network_of_ones_own_is_counted_and_a_shared_one_is_not(real: OciBench, allocation_id: str) -> None:
    connection = await inside(real, allocation_id)
    assert connection is not None
    received = next(one for one in (await taken(real, allocation_id)).readings if one.metric is Metric.NETWORK_RECEIVED)
    is_own = await connection.run("readlink /proc/self/ns/net", check=True)
    is_shared = str(is_own.stdout).strip() == str(Path("/proc/self/ns/net").readlink())
    assert (received.value is None) == is_shared
    assert ("shared" in received.unavailable) == is_shared
