"""Connections to a spare: they wait for its person, and only the person's keys admit them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncssh
import pytest
from msgspec.structs import replace

from gpuaas.engines.node.site import Site
from gpuaas.wire.environments import Environment, EnvironmentSpec, EnvironmentState
from gpuaas.wire.spares import Spare, form_of
from tests.engines.benches import Client, Key, OciBench, SshWay, eventually, ignore, keys, oci, spec

BANNER = b"SSH-2.0-"


@pytest.fixture(scope="module")
async def bench(port_ranges: Iterator[range]) -> AsyncIterator[OciBench]:
    async with oci(ports=next(port_ranges)) as found:
        yield found


@pytest.fixture(autouse=True)
async def nothing_is_left(bench: OciBench) -> AsyncIterator[None]:
    yield
    await bench.clear()
    await prepared(bench)


async def prepared(bench: OciBench, *specs: EnvironmentSpec) -> tuple[Spare, ...]:
    await bench.engine.spares.want([form_of(one) for one in specs])
    while await bench.engine.spares.keep():
        pass
    return (await bench.engine.spares.report()).ready


async def log_in(spare: Spare, key: Key) -> SshWay:
    """Raises PermissionDenied when it is refused."""
    client = Client()
    connection, _ = await asyncssh.create_connection(
        lambda: client,
        "127.0.0.1",
        spare.port or 0,
        config=None,
        known_hosts=([asyncssh.import_public_key(spare.host_key)], [], []),
        client_keys=[key.private],
        username="ada",
        agent_path=None,
    )
    return SshWay(connection, client)


async def waiting(spare: Spare, key: Key) -> "asyncio.Task[SshWay]":
    """A client that has offered its key, which sshd has not judged yet."""
    attempt = asyncio.create_task(log_in(spare, key))

    async def offers() -> bool:
        assert not attempt.done(), attempt
        return await awaited_keys() > 0

    await eventually(offers)
    return attempt


async def awaited_keys() -> int:
    """Processes that wait for keys on behalf of sshd."""
    search = await asyncio.create_subprocess_exec(
        "pgrep", "--count", "--full", "/platform/awaited_keys", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await search.communicate()
    return int(output)


async def said(way: SshWay, command: str) -> str:
    result = await way.connection.run(command, check=True)
    return str(result.stdout).strip()


async def test_a_client_that_waits_is_admitted_once_the_spare_has_its_person(bench: OciBench) -> None:
    ada = Key()
    wanted = spec("a", keys(1, ada))
    (spare,) = await prepared(bench, wanted)
    attempt = await waiting(spare, ada)
    made = await bench.engine.ensure(wanted, ignore)
    assert (made.port, made.host_key) == (spare.port, spare.host_key)
    way = await attempt
    assert await said(way, "hostname; id -un; sudo id -u") == "a-host\nada\n0"
    (connection,) = await bench.engine.connections("a")
    assert (connection.allocation_id, connection.key_fingerprint) == ("a", ada.authorized.fingerprint)
    assert await bench.engine.connections(spare.id) == []

    later = await log_in(spare, ada)
    assert await said(later, "hostname") == "a-host"
    await bench.engine.set_keys("a", keys(2))
    await asyncio.gather(way.ended(), later.ended())


async def test_who_waits_with_another_persons_key_is_refused(bench: OciBench) -> None:
    ada, mallory = Key(), Key("mallory")
    wanted = spec("a", keys(1, ada))
    (spare,) = await prepared(bench, wanted)
    attempt = await waiting(spare, mallory)
    await bench.engine.ensure(wanted, ignore)
    with pytest.raises(asyncssh.PermissionDenied):
        await attempt
    assert await bench.engine.connections("a") == []


async def test_a_spare_that_is_removed_ends_those_who_wait_and_frees_its_port(bench: OciBench) -> None:
    ada = Key()
    (spare,) = await prepared(bench, spec("a", keys(1, ada)))
    attempt = await waiting(spare, ada)
    assert await prepared(bench) == ()
    with pytest.raises((asyncssh.Error, OSError)):
        await attempt
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", spare.port)
    assert await awaited_keys() == 0


async def test_a_spare_that_ends_is_served_no_more(bench: OciBench) -> None:
    ada = Key()
    wanted = spec("a", keys(1, ada))
    (spare,) = await prepared(bench, wanted)
    attempt = await waiting(spare, ada)
    pid = int((bench.root / "spares" / spare.id / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    with pytest.raises((asyncssh.Error, OSError)):
        await attempt
    made = await bench.engine.ensure(wanted, ignore)
    assert made.state is EnvironmentState.RUNNING
    assert await said(await log_in_to(bench, made, ada), "hostname") == "a-host"


async def test_a_gateway_that_was_killed_serves_spares_again(bench: OciBench) -> None:
    ada = Key()
    wanted = spec("a", keys(1, ada))
    (spare,) = await prepared(bench, wanted)
    (gateway,) = await gateways(bench)
    os.kill(gateway, signal.SIGKILL)

    async def answers() -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", spare.port)
            banner = await reader.read(len(BANNER))
        except OSError:  # nobody listens, or the listener died before it took the connection
            return False
        writer.close()
        return banner == BANNER

    await eventually(answers)
    attempt = await waiting(spare, ada)
    made = await bench.engine.ensure(wanted, ignore)
    assert made.port == spare.port
    assert await said(await attempt, "hostname") == "a-host"


async def test_an_agent_that_dies_leaves_no_listener_of_a_spare(bench: OciBench) -> None:
    ada = Key()
    (spare,) = await prepared(bench, spec("a", keys(1, ada)))
    await bench.crash()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", spare.port)
    assert not (bench.root / "gateway" / spare.id).exists()


async def test_the_port_of_a_spare_whose_agent_died_is_the_last_to_be_used_again(bench: OciBench) -> None:
    wanted = spec("a", keys(1, Key()))
    (before,) = await prepared(bench, wanted)
    await bench.crash()
    (after,) = await prepared(bench, wanted)
    assert after.port != before.port


async def test_a_spare_for_a_user_with_an_impossible_name_is_not_made(bench: OciBench) -> None:
    wanted = replace(spec("a", keys(1, Key())), username="none:x:0:0::/:/bin/sh\nPermitRootLogin yes")
    assert await prepared(bench, wanted) == ()


def groups(bench: OciBench) -> list[str]:
    """Control groups of connections, with the hierarchy above."""
    tag = Site(bench.root).tag
    return sorted(path.name for path in Path("/sys/fs/cgroup").glob(f"*/gpuaas-{tag}/*.ssh"))


async def test_an_environment_that_was_a_spare_leaves_no_control_group_of_it(bench: OciBench) -> None:
    wanted = spec("a", keys(1, Key()))
    (spare,) = await prepared(bench, wanted)
    assert set(groups(bench)) == {f"{spare.id}.ssh"}
    await bench.engine.ensure(wanted, ignore)
    assert set(groups(bench)) == {f"{spare.id}.ssh"}
    await bench.engine.ensure(replace(wanted, boot=2), ignore)
    assert set(groups(bench)) == {"a.ssh"}
    await bench.engine.remove("a", ignore)
    assert groups(bench) == []


async def test_a_former_spare_of_an_earlier_release_is_entered_with_the_groups_that_it_has(bench: OciBench) -> None:
    ada = Key()
    wanted = spec("a", keys(1, ada))
    (spare,) = await prepared(bench, wanted)
    made = await bench.engine.ensure(wanted, ignore)
    await bench.kill()
    for path in Path("/sys/fs/cgroup").glob(f"*/gpuaas-{Site(bench.root).tag}/{spare.id}.ssh"):
        path.rmdir()
        path.with_name("a.ssh").mkdir()
    await bench.begin()
    assert await said(await log_in_to(bench, made, ada), "hostname") == "a-host"


async def log_in_to(bench: OciBench, environment: Environment, key: Key) -> SshWay:
    way = await bench.log_in(environment, key)
    assert isinstance(way, SshWay)
    return way


async def gateways(bench: OciBench) -> list[int]:
    search = await asyncio.create_subprocess_exec(
        "pgrep", "--full", f"gpuaas.gateway --folder {bench.root}", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await search.communicate()
    return [int(word) for word in output.split()]
