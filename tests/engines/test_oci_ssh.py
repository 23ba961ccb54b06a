"""A person inside, with the OpenSSH client they have at home; what sshd itself does is tried in tests/gateway."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncssh
import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.gateway.sshd import ATTEMPT_LIMIT
from gpuaas.wire.environments import KeySet
from tests.engines.benches import Key, OciBench, SshWay, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh

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
