"""A person inside, with the OpenSSH client they have at home."""

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gpuaas.wire.environments import EnvironmentState
from tests.engines.benches import Key, SandboxBench, SshWay, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
async def ssh(real: SandboxBench, shared_id: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenSsh]:
    """One environment for all tests that leave nothing in it but files."""
    ada = Key()
    environment = await real.engine.ensure(spec(shared_id, keys(1, ada), slots=2), ignore)
    yield OpenSsh(tmp_path_factory.mktemp("ssh"), environment, ada)
    await real.engine.remove(shared_id, ignore)


@pytest.fixture
async def own_ssh(real: SandboxBench, allocation_id: str, tmp_path: Path) -> AsyncIterator[OpenSsh]:
    """For a test that changes its keys, restarts it or counts its processes."""
    ada = Key()
    environment = await real.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    yield OpenSsh(tmp_path, environment, ada)
    await real.engine.remove(allocation_id, ignore)


async def test_exec_gives_output_errors_and_exit_code(ssh: OpenSsh) -> None:
    outcome = await ssh.run("echo out; echo err >&2; exit 7")
    assert (outcome.code, outcome.out, outcome.err) == (7, "out\n", "err\n")


async def test_a_killed_command_is_told_as_such(ssh: OpenSsh) -> None:
    assert (await ssh.run("kill -TERM $$")).code == 255
    assert (await ssh.run("exec sh -c 'exit 255'")).code == 255


async def test_a_reboot_from_inside_ends_everything_and_the_next_boot_is_the_same_machine(
    real: SandboxBench, allocation_id: str, tmp_path: Path
) -> None:
    ada = Key()
    before = await real.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    ssh = OpenSsh(tmp_path, before, ada)
    assert await ssh.says("echo kept > file; nohup sleep 600 > /dev/null 2>&1 & echo started") == "started"
    await ssh.run("reboot; sleep 60")
    await eventually(lambda: stopped(real, allocation_id))
    after = await real.engine.ensure(spec(allocation_id, keys(1, ada), boot=2), ignore)
    assert (after.port, after.host_key, after.boot) == (before.port, before.host_key, 2)
    assert await ssh.says("cat file; pgrep sleep || echo none") == "kept\nnone"
    await real.engine.remove(allocation_id, ignore)


async def stopped(real: SandboxBench, allocation_id: str) -> bool:
    found = [one for one in await real.engine.observe() if one.allocation_id == allocation_id]
    return [one.state for one in found] == [EnvironmentState.STOPPED]


async def test_input_passes_whole_and_ends(ssh: OpenSsh) -> None:
    text = "all of it\n" * 200_000
    outcome = await ssh.run("sha256sum", text=text)
    assert outcome.out.split()[0] == hashlib.sha256(text.encode()).hexdigest()


async def test_much_output_arrives_whole(ssh: OpenSsh) -> None:
    outcome = await ssh.run("head -c 20000000 /dev/zero | tr '\\0' x | tee >(sha256sum >&2)")
    assert len(outcome.out) == 20_000_000
    assert outcome.err.split()[0] == hashlib.sha256(outcome.out.encode()).hexdigest()


async def test_who_and_where(ssh: OpenSsh) -> None:
    id = ssh.environment.allocation_id
    assert await ssh.says("hostname; cat /etc/hostname; id -un; pwd") == f"{id}-host\n{id}-host\nada\n/home/ada"


async def test_facts_and_slots_are_told(ssh: OpenSsh) -> None:
    id = ssh.environment.allocation_id
    variables = "echo $GPUAAS_ALLOCATION_ID $GPUAAS_SLOTS $CUDA_VISIBLE_DEVICES"
    assert await ssh.says(variables) == f"{id} 0,1 GPU-{id}-0,GPU-{id}-1"
    assert await ssh.says("cat /etc/gpuaas/allocation_id /etc/gpuaas/sku") == f"{id}\nh100.1x"


async def test_only_harmless_variables_pass(ssh: OpenSsh) -> None:
    options = ("-o", "SendEnv=SECRET_OF_THE_CLIENT LC_ALL LD_PRELOAD")
    outcome = await ssh.run("echo $LC_ALL/$SECRET_OF_THE_CLIENT", options=options)
    assert outcome.out == "C.UTF-8/\n"


async def test_the_process_list_is_its_own(own_ssh: OpenSsh) -> None:
    lines = (await own_ssh.says("ps -eo args=; true")).splitlines()
    assert len(lines) == 2
    assert {line.split()[0] for line in lines} == {"bash", "ps"}


async def test_a_shell_has_a_terminal_of_the_right_size(real: SandboxBench, ssh: OpenSsh, allocation_id: str) -> None:
    script = "tty; stty size; echo $TERM; exit 3\n"
    process = await ssh.spawn("script", "-qec", f"ssh -tt {' '.join(ssh.options())} {ssh.target}", "/dev/null")
    async with asyncio.timeout(PATIENCE_SECONDS):
        out, _ = await process.communicate(script.encode())
    assert b"/dev/pts/0" in out
    assert process.returncode == 3


async def test_a_terminal_can_be_resized(real: SandboxBench, ssh: OpenSsh) -> None:
    way = await real.log_in(ssh.environment, ssh.key)
    assert isinstance(way, SshWay)
    loop = "stty size; trap 'stty size; exit 4' WINCH; echo ready; while :; do sleep 0.05; done"
    process = await way.connection.create_process(loop, term_type="xterm", term_size=(80, 24))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await process.stdout.readuntil("24 80")
        await process.stdout.readuntil("ready\r\n")
        process.change_terminal_size(132, 50)
        await process.stdout.readuntil("50 132")
        assert (await process.wait()).exit_status == 4
    way.connection.close()
    await way.ended()


async def test_a_signal_reaches_the_process(real: SandboxBench, ssh: OpenSsh) -> None:
    way = await real.log_in(ssh.environment, ssh.key)
    assert isinstance(way, SshWay)
    process = await way.connection.create_process(
        "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        await process.stdout.readuntil("ready\n")
        process.send_signal("INT")
        assert (await process.wait()).exit_status == 5
    way.connection.close()
    await way.ended()


async def test_leaving_hangs_up_on_what_still_runs(own_ssh: OpenSsh) -> None:
    process = await own_ssh.spawn("ssh", *own_ssh.options(), own_ssh.target, "echo started; exec sleep 1000")
    assert process.stdout is not None
    await process.stdout.readline()
    process.kill()
    await process.communicate()

    async def is_gone() -> bool:
        return (await own_ssh.run("pgrep -x sleep")).code == 1

    await eventually(is_gone)


@pytest.mark.parametrize("protocol", ["-s", "-O"])
async def test_scp_both_ways(ssh: OpenSsh, tmp_path: Path, protocol: str) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(b"\0binary\xff" * 100_000)
    for source, target in ((str(there), f"{ssh.target}:copy"), (f"{ssh.target}:copy", str(back))):
        outcome = await ssh.outcome("scp", protocol, *ssh.options(), source, target)
        assert outcome.code == 0, outcome
    assert back.read_bytes() == there.read_bytes()


async def test_sftp_runs_inside(ssh: OpenSsh, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("by sftp\n")
    batch = f"put {tmp_path}/there /tmp/there\nls -l /tmp\nget /etc/hostname {tmp_path}/back\nbye\n"
    outcome = await ssh.outcome("sftp", *ssh.options(), "-b", "-", ssh.target, text=batch)
    assert outcome.code == 0, outcome
    assert (tmp_path / "back").read_text() == f"{ssh.environment.allocation_id}-host\n"
    assert await ssh.says("cat /tmp/there") == "by sftp"


async def test_rsync_both_ways(ssh: OpenSsh, tmp_path: Path) -> None:
    tree, back = tmp_path / "tree", tmp_path / "back"
    (tree / "below").mkdir(parents=True)
    (tree / "below" / "file").write_text("by rsync\n")
    shell = f"ssh {' '.join(ssh.options())}"
    for source, target in ((f"{tree}/", f"{ssh.target}:tree/"), (f"{ssh.target}:tree/", f"{back}/")):
        outcome = await ssh.outcome("rsync", "-a", "-e", shell, source, target)
        assert outcome.code == 0, outcome
    assert (back / "below" / "file").read_text() == "by rsync\n"


ECHO = (
    "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True);"
    " c, _ = s.accept(); [c.sendall(b) for b in iter(lambda: c.recv(65536), b'')]"
)


async def test_a_local_port_leads_inside(ssh: OpenSsh) -> None:
    server = await ssh.spawn("ssh", *ssh.options(), ssh.target, f'python3 -c "{ECHO}"')
    assert server.stdout is not None
    there = int(await server.stdout.readline())
    with socket.create_server(("127.0.0.1", 0)) as free:
        here = free.getsockname()[1]
    forward = ("-N", "-o", "ExitOnForwardFailure=yes", "-L", f"127.0.0.1:{here}:localhost:{there}")
    tunnel = await ssh.spawn("ssh", *ssh.options(), *forward, ssh.target)
    try:
        reader, writer = await _connected(here)
        payload = b"through the tunnel " * 50_000
        writer.write(payload)
        writer.write_eof()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await reader.read() == payload
        writer.close()
        await writer.wait_closed()
    finally:
        for process in (tunnel, server):
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def _connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)


async def test_forwarding_to_nobody_is_refused(ssh: OpenSsh) -> None:
    outcome = await ssh.outcome("ssh", *ssh.options(), "-W", "127.0.0.1:1", ssh.target)
    assert outcome.code == 255
    assert "refused" in outcome.err.lower()


async def test_remote_forwarding_is_refused(ssh: OpenSsh) -> None:
    options = ("-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:22")
    assert (await ssh.run("true", options=options)).code == 255


async def test_a_wrong_key_is_refused(real: SandboxBench, ssh: OpenSsh, tmp_path: Path) -> None:
    (tmp_path / "eve").mkdir()
    outcome = await OpenSsh(tmp_path / "eve", ssh.environment, Key()).run("true")
    assert outcome.code == 255
    assert "Permission denied (publickey)" in outcome.err


async def test_a_revoked_key_is_refused_and_its_session_told(real: SandboxBench, own_ssh: OpenSsh) -> None:
    session = await own_ssh.spawn("ssh", *own_ssh.options(), own_ssh.target, "echo in; exec sleep 1000")
    assert session.stdout is not None
    await session.stdout.readline()
    id = own_ssh.environment.allocation_id
    await real.engine.set_keys(id, keys(9))
    async with asyncio.timeout(PATIENCE_SECONDS):
        _, err = await session.communicate()
    assert session.returncode == 255
    assert b"this key no longer admits" in err
    assert (await own_ssh.run("true")).code == 255


async def test_home_survives_a_restart_and_processes_do_not(real: SandboxBench, own_ssh: OpenSsh) -> None:
    await own_ssh.says("echo kept > ~/file; nohup sleep 1000 > /dev/null 2>&1 &")
    id = own_ssh.environment.allocation_id
    again = await real.engine.ensure(spec(id, keys(1), boot=2), ignore)
    assert again.boot == 2
    ada = Key()
    await real.engine.set_keys(id, keys(3, ada))
    way = await real.log_in(again, ada)
    assert isinstance(way, SshWay)
    result = await way.connection.run("cat ~/file; pgrep -x sleep; cat /etc/gpuaas/boot")
    assert result.stdout == "kept\n2\n"
    way.connection.close()
    await way.ended()
