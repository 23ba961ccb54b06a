"""What the engine remembers on disk: read as it was written, by whichever version, or left alone."""

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import files
from gpuaas.engines.node.records import Record, Records, Remains, UnreadableError
from gpuaas.engines.node.site import Site
from gpuaas.wire.environments import Environment, EnvironmentState
from tests.engines.benches import Key, OciBench, SshWay, ignore, keys, spec

OF_THE_FIRST_VERSION = """{
    "spec": {
        "allocation_id": "a", "boot": 2, "hostname": "a-host", "username": "ada",
        "slots": [{"index": 0, "gpu_uuid": "GPU-0", "gpu_pci": "0000:01:00.0"}],
        "vcpus": 1, "memory_mib": 512, "simulated": true, "keys": {"generation": 1}
    },
    "boot": 2, "index": 7, "port": 20007, "host_key": "private", "keys": {"generation": 3},
    "started_at": "2026-01-02T03:04:05Z"
}"""
"""Only what every version has written: a field that this code wants beyond it would orphan people's disks."""


@pytest.fixture
def records(tmp_path: Path) -> Records:
    (tmp_path / "a").mkdir()
    return Records(tmp_path)


def write(records: Records, text: str) -> None:
    (records.folder("a") / "record.json").write_text(text)


def test_a_record_of_an_older_version_is_read(records: Records) -> None:
    write(records, OF_THE_FIRST_VERSION)
    read = records.read("a")
    assert isinstance(read, Record)
    assert (read.index, read.port, read.boot, read.keys.generation) == (7, 20_007, 2, 3)
    assert read.spec.facts == {}


def test_a_record_of_a_newer_version_is_read(records: Records) -> None:
    newer = msgspec.json.decode(OF_THE_FIRST_VERSION)
    for part in (newer, newer["spec"], newer["spec"]["slots"][0], newer["keys"]):
        part["invented_later"] = [1, 2]
    write(records, msgspec.json.encode(newer).decode())
    assert isinstance(records.read("a"), Record)


def test_a_removal_that_an_older_version_began_is_one(records: Records) -> None:
    write(records, OF_THE_FIRST_VERSION.replace('"index": 7', '"removing": true, "index": 7'))
    assert records.read("a") == Remains(removing=True, boot=2, index=7, port=20_007)


@pytest.mark.parametrize("text", ["", OF_THE_FIRST_VERSION[:200], "[]", '{"boot": 2}', "\0" * 300])
def test_an_unreadable_record_is_not_taken_for_a_missing_one(records: Records, text: str) -> None:
    assert records.read("a") is None
    write(records, text)
    with pytest.raises(UnreadableError) as refusal:
        records.read("a")
    assert refusal.value.reason == "its record cannot be read"


@contextlib.contextmanager
def file_size_limit(limit: int) -> Iterator[None]:
    """A disk with that much room: a write of more is cut short, the next one refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_did_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    files.write_whole(path, b"old")
    with file_size_limit(4096), pytest.raises(OSError, match="too large"):
        files.write_whole(path, b"n" * 10_000)
    assert path.read_bytes() == b"old"


def interfaces(bench: OciBench) -> set[str]:
    return {path.name for path in Path("/sys/class/net").glob(f"g{Site(bench.root).tag}-*")}


async def observed(bench: OciBench, allocation_id: str) -> Environment:
    return next(one for one in await bench.engine.observe() if one.allocation_id == allocation_id)


async def test_an_environment_with_an_unreadable_record_is_told_and_left_alone(
    real: OciBench, allocation_id: str
) -> None:
    ada = Key()
    made = await real.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    way = await real.log_in(made, ada)
    assert isinstance(way, SshWay)
    await way.connection.run("echo years of work > thesis", check=True)
    folder = real.root / "environments" / allocation_id
    record, thesis = folder / "record.json", real.inside(allocation_id, "/home/ada/thesis")
    whole, pid = record.read_bytes(), real.first_process(allocation_id)
    before = interfaces(real)
    record.write_bytes(whole[: len(whole) // 2])
    for _ in range(2):
        with pytest.raises(EngineError) as refusal:
            await real.engine.ensure(spec(allocation_id, keys(1, ada), boot=2), ignore)
        assert refusal.value.reason == "its record cannot be read"
        with pytest.raises(EngineError, match="cannot be read"):
            await real.engine.set_keys(allocation_id, keys(2))
        seen = await observed(real, allocation_id)
        assert (seen.state, seen.detail) == (EnvironmentState.BROKEN, "its record cannot be read")
        assert thesis.read_text() == "years of work\n"
        assert real.first_process(allocation_id) == pid
        await real.crash()
        assert interfaces(real) == before, "people are not cut off from their network"
    record.write_bytes(whole)
    await real.crash()
    assert await observed(real, allocation_id) == made, "its network, disk and processes were never touched"
    await real.engine.remove(allocation_id, ignore)


async def test_what_has_an_unreadable_record_is_removed_when_asked(real: OciBench, allocation_id: str) -> None:
    await real.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    folder = real.root / "environments" / allocation_id
    (folder / "record.json").write_text("{")
    await real.crash()
    items = await real.engine.remove(allocation_id, ignore)
    assert all(item.ok for item in items), items
    assert {"network", "uid"} <= {item.item for item in items}, "its ids are found without the record"
    assert not folder.exists()
