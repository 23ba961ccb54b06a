"""What every engine promises. One suite, every engine."""

import asyncio
import contextlib
from pathlib import Path

import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import Environment, EnvironmentState, GpuReset, Init
from tests.engines.benches import Bench, Key, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


async def seen(bench: Bench, allocation_id: str) -> Environment | None:
    return next((one for one in await bench.engine.observe() if one.allocation_id == allocation_id), None)


async def test_an_ensured_environment_runs_admits_and_is_observed(bench: Bench, allocation_id: str) -> None:
    ada, phases = Key(), []

    async def on_phase(phase: str, note: str) -> None:
        phases.append(phase)

    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), on_phase)
    assert (made.state, made.boot, made.key_generation) == (EnvironmentState.RUNNING, 1, 1)
    assert made.port is not None
    assert made.started_at is not None
    assert phases == ["preparing", "booting", "gpus_checked", "access_ready"]
    assert await seen(bench, allocation_id) == made
    assert await bench.log_in(made, ada) is not None
    current = await bench.engine.images.report()
    assert made.image is not None
    assert current is not None
    assert (made.image.version, made.image.distribution, made.image.python, made.image.replaced_at) == (
        *(current.version, current.distribution, current.python),
        None,
    )


async def test_asking_twice_is_free(bench: Bench, allocation_id: str) -> None:
    wanted = spec(allocation_id, keys(1, Key()))
    first = await bench.engine.ensure(wanted, ignore)
    assert await bench.engine.ensure(wanted, ignore) == first


async def test_many_at_once_make_one(bench: Bench, allocation_id: str) -> None:
    wanted = spec(allocation_id, keys(1, Key()))
    made = await asyncio.gather(*(bench.engine.ensure(wanted, ignore) for _ in range(5)))
    assert len({(one.port, one.host_key, one.started_at) for one in made}) == 1


async def test_environments_side_by_side_have_ports_and_host_keys_of_their_own(
    bench: Bench, allocation_id: str
) -> None:
    ids = [f"{allocation_id}{letter}" for letter in "xyz"]
    made = await asyncio.gather(*(bench.engine.ensure(spec(id, keys(1, Key())), ignore) for id in ids))
    assert len({one.port for one in made}) == len({one.host_key for one in made}) == len(ids)


async def test_a_stranger_and_a_wrong_name_stay_out(bench: Bench, allocation_id: str) -> None:
    ada = Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    assert await bench.log_in(made, Key()) is None
    assert await bench.log_in(made, ada, username="root") is None
    assert await bench.log_in(made, ada, username="eve") is None


async def test_exactly_the_newest_keys_admit(bench: Bench, allocation_id: str) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(2, ada)), ignore)
    await bench.engine.set_keys(allocation_id, keys(3, bob))
    assert await bench.log_in(made, ada) is None
    assert await bench.log_in(made, bob) is not None
    await bench.engine.set_keys(allocation_id, keys(2, ada))  # late news from before
    assert await bench.log_in(made, ada) is None
    again = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    assert again.key_generation == 3
    assert await bench.log_in(made, ada) is None


async def test_keys_of_nobody_are_refused_by_name(bench: Bench, allocation_id: str) -> None:
    with pytest.raises(EngineError) as refusal:
        await bench.engine.set_keys(allocation_id, keys(1, Key()))
    assert refusal.value.reason == "there is no such environment here"


async def test_a_connection_is_listed_and_can_be_cut_by_key(bench: Bench, allocation_id: str) -> None:
    ada, bob = Key(), Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada, bob)), ignore)
    of_ada, of_bob = await bench.log_in(made, ada), await bench.log_in(made, bob)
    assert of_ada is not None
    assert of_bob is not None
    listed = await bench.engine.connections(allocation_id)
    assert {one.key_fingerprint for one in listed} == {ada.authorized.fingerprint, bob.authorized.fingerprint}
    cut = await bench.engine.end_connections(allocation_id, frozenset({ada.authorized.fingerprint}), "access revoked")
    assert cut == 1
    told = await of_ada.ended()  # an SSH gateway outside tells terminals, and there is none here
    assert "access revoked" in told or bench.engine.name in ("fake", "oci")
    left = await bench.engine.connections(allocation_id)
    assert [one.key_fingerprint for one in left] == [bob.authorized.fingerprint]
    assert await bench.engine.end_connections(allocation_id, None, "everybody out") == 1
    await of_bob.ended()


async def test_a_higher_boot_restarts_with_the_same_face(bench: Bench, allocation_id: str) -> None:
    ada = Key()
    first = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    way = await bench.log_in(first, ada)
    assert way is not None
    phases = []

    async def on_phase(phase: str, note: str) -> None:
        phases.append(phase)

    second = await bench.engine.ensure(spec(allocation_id, keys(1, ada), boot=2), on_phase)
    assert phases == ["preparing", "gpus_reset", "booting", "gpus_checked", "access_ready"]
    assert (second.state, second.boot) == (EnvironmentState.RUNNING, 2)
    assert (second.port, second.host_key) == (first.port, first.host_key)
    await way.ended()
    third = await bench.engine.ensure(spec(allocation_id, keys(1, ada), boot=1), ignore)
    assert third.boot == 2


async def test_the_agent_dies_and_the_environment_does_not(bench: Bench, allocation_id: str) -> None:
    ada = Key()
    before = await bench.engine.ensure(spec(allocation_id, keys(4, ada)), ignore)
    await bench.crash()
    after = await seen(bench, allocation_id)
    assert after == before
    assert await bench.log_in(before, ada) is not None
    assert await bench.log_in(before, Key()) is None


async def test_a_removed_environment_is_gone_with_proof(bench: Bench, allocation_id: str) -> None:
    ada, phases = Key(), []

    async def on_phase(phase: str, note: str) -> None:
        phases.append(phase)

    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    way = await bench.log_in(made, ada)
    assert way is not None
    items = await bench.engine.remove(allocation_id, on_phase)
    assert {"processes", "mounts", "files", "port", "gpu_reset"} <= {item.item for item in items}
    assert all(item.ok and item.evidence for item in items), items
    assert phases == ["sessions_ended", "environment_removed", "gpus_reset", "cleaned"]
    assert await seen(bench, allocation_id) is None
    assert await bench.engine.connections(allocation_id) == []
    assert await bench.log_in(made, ada) is None
    await way.ended()


async def test_removing_what_is_not_there_proves_that_too(bench: Bench, allocation_id: str) -> None:
    items = await bench.engine.remove(allocation_id, ignore)
    assert items
    assert all(item.ok for item in items)


async def test_ensure_and_remove_at_once_end_in_one_of_both(bench: Bench, allocation_id: str) -> None:
    wanted = spec(allocation_id, keys(1, Key()))
    await asyncio.gather(
        bench.engine.ensure(wanted, ignore), bench.engine.remove(allocation_id, ignore), return_exceptions=True
    )
    environment = await seen(bench, allocation_id)
    assert environment is None or environment.state is EnvironmentState.RUNNING
    assert all(item.ok for item in await bench.engine.remove(allocation_id, ignore))


async def test_a_probe_says_how_each_fact_was_found(bench: Bench) -> None:
    facts = await bench.engine.probe()
    assert facts.engine == bench.engine.name
    assert facts.simulated
    assert all(gpu.simulated and gpu.source for gpu in facts.gpus)
    assert len({gpu.gpu_uuid for gpu in facts.gpus}) == 8
    assert {gpu.reset for gpu in facts.gpus} == {GpuReset(method="simulated")}
    assert all(fact.source for fact in facts.facts.values())


async def test_nobody_is_in_after_everyone_left(bench: Bench, allocation_id: str) -> None:
    ada = Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    assert await bench.log_in(made, ada) is not None
    await bench.engine.end_connections(allocation_id, None, "closing time")

    async def is_empty() -> bool:
        return await bench.engine.connections(allocation_id) == []

    await eventually(is_empty)


@pytest.mark.parametrize("phase", ["gpus_checked", "access_ready"])
@pytest.mark.parametrize("boot", [1, 2])
async def test_after_a_failed_ensure_nothing_runs_and_nobody_can_log_in(
    bench: Bench, allocation_id: str, phase: str, boot: int
) -> None:
    """A boot that is reported as failed is not billed."""
    ada = Key()
    if boot > 1:
        await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    async with bench.failing(phase):
        with pytest.raises(EngineError, match="planted"):
            await bench.engine.ensure(spec(allocation_id, keys(1, ada), boot=boot), ignore)
    left = await seen(bench, allocation_id)
    assert left is not None
    assert left.state is EnvironmentState.STOPPED
    assert await bench.log_in(left, ada) is None
    again = await bench.engine.ensure(spec(allocation_id, keys(1, ada), boot=boot), ignore)
    assert again.state is EnvironmentState.RUNNING
    assert await bench.log_in(again, ada) is not None


FREE = (0, 1, 2, 3, 6)
"""How many files an agent may still open: from none to enough for a whole look."""


@pytest.mark.parametrize("free", FREE)
async def test_a_failed_look_is_never_reported_as_stopped_or_absent(
    bench: Bench, allocation_id: str, free: int
) -> None:
    ada = Key()
    made = await bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    async with bench.starved(free):
        try:
            looked = await seen(bench, allocation_id)
        except EngineError:
            looked = msgspec.structs.replace(made, state=EnvironmentState.UNKNOWN, detail="no look at all")
    assert looked is not None
    assert looked.state in (EnvironmentState.RUNNING, EnvironmentState.UNKNOWN)
    assert looked.detail or looked == made, "a state that is unknown has a reason"
    assert await seen(bench, allocation_id) == made


async def test_no_verb_takes_a_failed_look_for_a_stopped_environment(bench: Bench, allocation_id: str) -> None:
    ada = Key()
    wanted = spec(allocation_id, keys(1, ada))
    made = await bench.engine.ensure(wanted, ignore)
    for free in FREE:
        async with bench.starved(free):
            with contextlib.suppress(EngineError):
                assert (await bench.engine.ensure(wanted, ignore)).started_at == made.started_at
    assert await seen(bench, allocation_id) == made
    for free in FREE[:3]:
        async with bench.starved(free):
            with contextlib.suppress(EngineError):
                items = await bench.engine.remove(allocation_id, ignore)
                assert not all(item.ok for item in items), "a removal that could not look proves nothing"
    items = await bench.engine.remove(allocation_id, ignore)
    assert all(item.ok for item in items), items
    assert await seen(bench, allocation_id) is None


CONTAINER = "sudo unshare --mount --pid --fork --mount-proc sh -c 'mount -t tmpfs none /mnt && echo nested'"


async def test_what_an_engine_declares_is_reported_and_true(bench: Bench, allocation_id: str, tmp_path: Path) -> None:
    """Each capability is tried inside; live mounts are tried by the storage contract. The fake engine runs nothing."""
    declared = bench.engine.capabilities
    facts = await bench.engine.probe()
    assert facts.capabilities == declared
    assert facts.disk is not None
    assert 0 <= facts.disk.free_gib <= facts.disk.size_gib
    if bench.engine.name == "fake":
        return
    ada = Key()
    wanted = msgspec.structs.replace(spec(allocation_id, keys(1, ada)), disk_gib=1, init=Init.SYSTEMD)
    made = await bench.engine.ensure(wanted, ignore)
    ssh = OpenSsh(tmp_path, made, ada)
    assert declared.root is (await ssh.says("sudo id -u") == "0")
    assert declared.systemd is (await ssh.says("cat /proc/1/comm") == "systemd")
    assert declared.nesting is (await ssh.says(CONTAINER) == "nested")
    assert bool(declared.disk_limit) is (int(await ssh.says("df --output=size -B1 / | tail -1")) <= 1 << 30)
    own = await ssh.says("readlink /proc/self/ns/net") != str(Path("/proc/self/ns/net").readlink())
    assert declared.network is own
    assert declared.vm is (await ssh.says("cat /proc/sys/kernel/random/boot_id") != BOOT_ID.read_text().strip())


async def test_init_and_root_disk_change_with_a_boot_and_files_stay(
    bench: Bench, allocation_id: str, tmp_path: Path
) -> None:
    """As a resize asks for it; and what the kernel says of each init is not the same."""
    ada, wanted = Key(), spec(allocation_id, keys(1, Key()))
    wanted = msgspec.structs.replace(wanted, keys=keys(1, ada), disk_gib=1)
    plain = await bench.engine.ensure(wanted, ignore)
    larger = msgspec.structs.replace(wanted, boot=2, disk_gib=2, init=Init.SYSTEMD)
    if bench.engine.name == "fake":
        assert (await bench.engine.ensure(larger, ignore)).boot == 2
        return
    assert await OpenSsh(tmp_path, plain, ada).says("echo kept > ~/file; cat /proc/1/comm") == "catatonit"
    systemd = await bench.engine.ensure(larger, ignore)
    again = OpenSsh(tmp_path, systemd, ada)
    assert await again.says("cat ~/file; cat /proc/1/comm") == "kept\nsystemd"
    assert 1.9 < int(await again.says("df --output=size -B1 / | tail -1")) / (1 << 30) <= 2
    assert plain.isolation is not None
    assert systemd.isolation is not None
    assert plain.isolation.seccomp == systemd.isolation.seccomp == "filter"
    assert set(plain.isolation.capabilities) < set(systemd.isolation.capabilities)
    assert (plain.isolation.nested_user_namespaces, systemd.isolation.nested_user_namespaces) == (False, True)
    back = await bench.engine.ensure(msgspec.structs.replace(wanted, boot=3), ignore)  # a resize that is taken back
    says = await OpenSsh(tmp_path, back, ada).says("cat ~/file; df --output=size -B1G / | tail -1")
    assert says.split() == ["kept", "1"]
