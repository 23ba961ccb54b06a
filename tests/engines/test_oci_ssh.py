"""A person inside, with the OpenSSH client they have at home; what sshd itself does is tried in tests/gateway."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncssh
import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.gateway.sshd import ATTEMPT_LIMIT
from gpuaas.wire.environments import Environment, EnvironmentState, ExitCause, KeySet
from tests.engines.benches import Key, OciBench, SshWay, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS

ID = "inside"


@pytest.fixture(scope="module")
async def ssh(oci_bench: OciBench, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenSsh]:
    ada = Key()
    environment = await oci_bench.engine.ensure(spec(ID, keys(1, ada), slots=2), ignore)
    yield OpenSsh(tmp_path_factory.mktemp("inside"), environment, ada)
    await oci_bench.engine.remove(ID, ignore)


async def test_who_and_where(ssh: OpenSsh) -> None:
    assert await ssh.says("hostname; cat /etc/hostname; id -un; pwd") == f"{ID}-host\n{ID}-host\nada\n/home/ada"
    assert await ssh.says("getent ahostsv4 $(hostname) | grep -c STREAM; stat -c %a:%U ~") == "1\n700:ada"


async def test_facts_and_slots_are_told(ssh: OpenSsh) -> None:
    variables = "echo $GPUAAS_ALLOCATION_ID $GPUAAS_SLOTS $CUDA_VISIBLE_DEVICES"
    assert await ssh.says(variables) == f"{ID} 0,1 GPU-{ID}-0,GPU-{ID}-1"
    assert await ssh.says("cat /etc/gpuaas/allocation_id /etc/gpuaas/sku") == f"{ID}\nh100.1x"


async def test_the_process_list_is_its_own_and_shows_nothing_of_its_connection(ssh: OpenSsh) -> None:
    lines = (await ssh.says("ps -eo args=; true")).splitlines()
    assert {line.split()[0] for line in lines} == {"/usr/bin/catatonit", "bash", "ps"}


async def test_leaving_hangs_up_on_what_still_runs(ssh: OpenSsh) -> None:
    process = await ssh.spawn("ssh", "-tt", *ssh.options(), ssh.target, "echo started; exec sleep 1000")
    assert process.stdout is not None
    await process.stdout.readline()
    process.kill()
    await process.communicate()

    async def is_gone() -> bool:
        return (await ssh.run("pgrep -x sleep")).code == 1

    await eventually(is_gone)


async def test_a_wrong_key_is_refused(ssh: OpenSsh, tmp_path: Path) -> None:
    outcome = await OpenSsh(tmp_path, ssh.environment, Key()).run("true")
    assert outcome.code == 255
    assert "Permission denied (publickey)" in outcome.err


async def refused(ssh: OpenSsh, **offered: Any) -> None:
    with pytest.raises(asyncssh.DisconnectError):
        await asyncssh.connect(
            *("127.0.0.1", ssh.environment.port or 0),
            config=None,
            known_hosts=None,
            username="ada",
            agent_path=None,
            **offered,
        )


async def test_guessing_keys_ends_before_the_right_one(ssh: OpenSsh) -> None:
    await refused(ssh, client_keys=[*(Key().private for _ in range(ATTEMPT_LIMIT + 1)), ssh.key.private])
    assert await ssh.says("echo in") == "in"


async def test_passwords_are_not_even_offered(ssh: OpenSsh) -> None:
    await refused(ssh, client_keys=[], password="guess")


async def test_a_key_that_cannot_be_read_changes_nothing(oci_bench: OciBench, ssh: OpenSsh) -> None:
    torn = KeySet(generation=2, keys=(msgspec.structs.replace(ssh.key.authorized, blob="not base64!"),))
    with pytest.raises(EngineError, match="cannot be read"):
        await oci_bench.engine.set_keys(ID, torn)
    assert await ssh.says("echo in") == "in"


async def seen(bench: OciBench, id: str) -> Environment:
    return next(one for one in await bench.engine.observe() if one.allocation_id == id)


async def stopped(bench: OciBench, id: str) -> ExitCause | None:
    """The cause that is told once it stopped."""

    async def has_stopped() -> bool:
        return (await seen(bench, id)).state is EnvironmentState.STOPPED

    await eventually(has_stopped)
    return (await seen(bench, id)).exit_cause


@contextlib.asynccontextmanager
async def session(ssh: OpenSsh, command: str) -> AsyncIterator[None]:
    """One that ends when the environment does; else it is ended here."""
    process = await ssh.spawn("ssh", *ssh.options(), ssh.target, command)
    try:
        yield
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


ENDS = {
    "reboot": ExitCause.REBOOTED_INSIDE,
    "sudo reboot": ExitCause.REBOOTED_INSIDE,
    "sudo reboot -f": ExitCause.REBOOTED_INSIDE,
    "sudo poweroff -f": ExitCause.POWERED_OFF_INSIDE,
}


async def test_an_end_from_inside_is_seen_with_its_cause_and_the_next_boot_is_the_same_machine(
    oci_bench: OciBench, allocation_id: str, tmp_path: Path
) -> None:
    ada = Key()
    before = await oci_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    ssh = OpenSsh(tmp_path, before, ada)
    for boot, (command, cause) in enumerate(ENDS.items(), start=1):
        assert await ssh.says(f"echo {boot} >> kept; nohup sleep 600 > /dev/null 2>&1 & cat /etc/gpuaas/boot") == str(
            boot
        )
        async with session(ssh, f"{command}; exec sleep 600"):
            assert await stopped(oci_bench, allocation_id) is cause, command
        after = await oci_bench.engine.ensure(spec(allocation_id, keys(1, ada), boot=boot + 1), ignore)
        assert (after.port, after.host_key, after.exit_cause) == (before.port, before.host_key, None)
        assert await ssh.says("wc -l < kept; pgrep sleep || echo none") == f"{boot}\nnone"
    await oci_bench.engine.remove(allocation_id, ignore)


async def test_a_first_process_that_was_killed_from_outside_is_told_as_such(
    oci_bench: OciBench, allocation_id: str
) -> None:
    await oci_bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    os.kill(oci_bench.first_process(allocation_id), signal.SIGKILL)
    assert await stopped(oci_bench, allocation_id) is ExitCause.KILLED
    await oci_bench.engine.remove(allocation_id, ignore)


async def test_a_restart_from_outside_ends_sessions_keeps_the_disk_and_admits_by_the_newest_keys(
    oci_bench: OciBench, allocation_id: str
) -> None:
    ada, bob = Key(), Key()
    before = await oci_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    way = await oci_bench.log_in(before, ada)
    assert isinstance(way, SshWay)
    await way.connection.run("echo kept > file; sudo touch /usr/local/mine", check=True)
    again = await oci_bench.engine.ensure(spec(allocation_id, keys(2, bob), boot=2), ignore)
    assert "the environment restarts" in await way.ended()
    assert await oci_bench.log_in(again, ada) is None
    way = await oci_bench.log_in(again, bob)
    assert isinstance(way, SshWay)
    result = await way.connection.run("cat file /etc/gpuaas/boot; ls /usr/local/mine", check=True)
    assert result.stdout == "kept\n2\n/usr/local/mine\n"
    with pytest.raises(EngineError, match="no such environment"):
        await oci_bench.engine.set_keys("nobodys", keys(3))
    await oci_bench.engine.remove(allocation_id, ignore)
