"""Why environments end, and that a lack of memory ends sessions and not the environment; with both inits."""

import asyncio
import contextlib
import itertools
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuaas.domain.metrics.findings import findings
from gpuaas.wire.environments import Environment, EnvironmentSpec, EnvironmentState, ExitCause, Init
from gpuaas.wire.metrics import MemoryKills, Sample
from gpuaas.wire.spares import form_of
from tests.engines.benches import Key, OciBench, eventually, ignore, keys, spec
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS

ADA = Key()
BOTH = pytest.mark.parametrize("init", list(Init))
CROWD = """
for i in $(seq 200); do
    (x=$(head -c 2000000 /dev/zero | tr '\\0' x); sleep 1000; true) &
done
wait
"""
"""Each is smaller than systemd."""


def wanted(id: str, init: Init, boot: int) -> EnvironmentSpec:
    return replace(spec(id, keys(1, ADA), boot=boot), init=init, memory_mib=256)


async def seen(bench: OciBench, id: str) -> Environment:
    return next(one for one in await bench.engine.observe() if one.allocation_id == id)


async def stopped(bench: OciBench, id: str) -> ExitCause | None:
    """The cause that is told once it stopped."""

    async def has_stopped() -> bool:
        found = await seen(bench, id)
        return found.state is EnvironmentState.STOPPED and found.exit_cause is not None

    await eventually(has_stopped)
    return (await seen(bench, id)).exit_cause


@contextlib.asynccontextmanager
async def session(ssh: OpenSsh, command: str, *, is_left: bool = False) -> AsyncIterator[None]:
    """One that ends when the environment does, or is left here."""
    process = await ssh.spawn("ssh", *ssh.options(), ssh.target, command)
    try:
        yield
        if not is_left:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def crash(pid: int) -> None:
    """Its next instruction is none: signals from outside do not end the first process of a pid namespace."""
    while (call := Path(f"/proc/{pid}/syscall").read_text().split())[0] == "running":
        time.sleep(0.01)  # the kernel names the place of a process that waits
    place = int(call[-1], 16)
    with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
        memory.seek(place)
        memory.write(b"\x0f\x0b" if os.uname().machine == "x86_64" else bytes(4))
    os.kill(pid, signal.SIGCHLD)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def terminate(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


FROM_INSIDE = {
    Init.PLAIN: {
        "reboot": ExitCause.REBOOTED_INSIDE,
        "sudo reboot -f": ExitCause.REBOOTED_INSIDE,
        "sudo shutdown -r now": ExitCause.REBOOTED_INSIDE,
        "sudo poweroff --force": ExitCause.POWERED_OFF_INSIDE,
    },
    Init.SYSTEMD: {
        "reboot": ExitCause.REBOOTED_INSIDE,
        "sudo poweroff": ExitCause.POWERED_OFF_INSIDE,
        "sudo systemctl exit 7": ExitCause.EXITED,
    },
}
FROM_OUTSIDE: dict[Init, dict[Callable[[int], None], ExitCause]] = {
    Init.PLAIN: {kill: ExitCause.KILLED, crash: ExitCause.CRASHED, terminate: ExitCause.EXITED},
    Init.SYSTEMD: {kill: ExitCause.KILLED, crash: ExitCause.CRASHED},
}


@BOTH
async def test_each_end_has_its_cause_and_the_next_boot_is_the_same_environment(
    oci_bench: OciBench, allocation_id: str, tmp_path: Path, init: Init
) -> None:
    before = await oci_bench.engine.ensure(wanted(allocation_id, init, 1), ignore)
    ssh = OpenSsh(tmp_path, before, ADA)
    boot = 1

    async def boot_again(cause: ExitCause, what: object) -> None:
        nonlocal boot
        assert await stopped(oci_bench, allocation_id) is cause, what
        boot += 1
        after = await oci_bench.engine.ensure(wanted(allocation_id, init, boot), ignore)
        assert (after.port, after.host_key, after.exit_cause) == (before.port, before.host_key, None)
        assert await ssh.says("wc -l < kept; pgrep -x sleep || echo none") == f"{boot - 1}\nnone"

    for command, cause in FROM_INSIDE[init].items():
        await ssh.says(f"echo {boot} >> kept; nohup sleep 600 > /dev/null 2>&1 & cat /etc/gpuaas/boot")
        async with session(ssh, f"{command}; exec sleep 600"):
            await boot_again(cause, command)
    for end, cause in FROM_OUTSIDE[init].items():
        await ssh.says(f"echo {boot} >> kept")
        end(oci_bench.first_process(allocation_id))
        await boot_again(cause, end)
    await oci_bench.engine.remove(allocation_id, ignore)


@BOTH
async def test_help_is_help_and_a_lack_of_memory_ends_processes_and_not_the_environment(
    oci_bench: OciBench, allocation_id: str, tmp_path: Path, init: Init
) -> None:
    made = await oci_bench.engine.ensure(wanted(allocation_id, init, 1), ignore)
    ssh, pid_1 = OpenSsh(tmp_path, made, ADA), oci_bench.first_process(allocation_id)
    for name in ("reboot", "poweroff", "halt", "shutdown"):
        assert f"Usage: {name}" in await ssh.says(f"{name} --help && sudo {name} --help"), name
    if init is Init.PLAIN:
        refusal = await ssh.run("sudo poweroff")
        assert (refusal.code, "gpuaas allocations release" in refusal.err) == (1, True), refusal
    scores = "cat /proc/1/oom_score_adj /proc/self/oom_score_adj; sudo cat /proc/self/oom_score_adj"
    assert await ssh.says(scores) == "0\n500\n500"
    if init is Init.SYSTEMD:
        service = "cat /proc/$(systemctl show -P MainPID mine)/oom_score_adj"
        assert await ssh.says(f"sudo systemd-run -q -u mine sleep 1000; {service}") == "500"
    async with session(ssh, CROWD, is_left=True):
        await eventually(lambda: has_kills(oci_bench, allocation_id))
        await eventually(lambda: answers(ssh))
        assert (await seen(oci_bench, allocation_id)).state is EnvironmentState.RUNNING
    assert oci_bench.first_process(allocation_id) == pid_1
    assert Path(f"/proc/{pid_1}").exists()
    taken = await sample(oci_bench, allocation_id)
    kills = taken.memory_kills
    assert kills is not None
    (finding,) = [one for one in findings(taken) if one.code == "out_of_memory"]
    assert f"{kills.at:%H:%M:%S}" in finding.words
    later = itertools.count(1)  # the kernel may still be ending the crowd

    async def is_forgotten() -> bool:
        at = datetime.now(UTC) + timedelta(hours=next(later))
        return await kills_of(oci_bench, allocation_id, at) is None

    await eventually(is_forgotten)
    if init is Init.SYSTEMD:  # the red twin: processes with the score of pid 1, which is larger than each of them
        async with session(ssh, f"echo 0 > /proc/self/oom_score_adj\n{CROWD}"):
            assert await stopped(oci_bench, allocation_id) is ExitCause.OUT_OF_MEMORY
    await oci_bench.engine.remove(allocation_id, ignore)


async def test_a_lack_of_memory_is_reported_also_of_an_environment_that_was_a_spare(
    oci_bench: OciBench, allocation_id: str, tmp_path: Path
) -> None:
    told = wanted(allocation_id, Init.PLAIN, 1)
    await oci_bench.engine.spares.want([form_of(told)])
    while await oci_bench.engine.spares.keep():
        pass
    used = (await oci_bench.engine.spares.report()).used
    made = await oci_bench.engine.ensure(told, ignore)
    assert (await oci_bench.engine.spares.report()).used == used + 1
    async with session(OpenSsh(tmp_path, made, ADA), CROWD, is_left=True):
        await eventually(lambda: has_kills(oci_bench, allocation_id))
    await oci_bench.engine.spares.want([])
    await oci_bench.engine.remove(allocation_id, ignore)


async def answers(ssh: OpenSsh) -> bool:
    """A second login, whose command may be ended for lack of memory as any other process of a session."""
    return (await ssh.run("echo second")).out == "second\n"


async def sample(bench: OciBench, id: str, at: datetime | None = None) -> Sample:
    return next(one for one in await bench.engine.samples.take(at or datetime.now(UTC)) if one.allocation_id == id)


async def kills_of(bench: OciBench, id: str, at: datetime | None = None) -> MemoryKills | None:
    return (await sample(bench, id, at)).memory_kills


async def has_kills(bench: OciBench, id: str) -> bool:
    return await kills_of(bench, id) is not None
