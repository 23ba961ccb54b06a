"""The gateway ends, is killed or replaced, and connections go on."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import msgspec
import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.base import EngineError
from gpuaas.engines.node.processes import gone
from gpuaas.engines.oci.gateway import GatewayClient
from gpuaas.engines.oci.gateway_protocol import AdoptTerminal
from gpuaas.gateway.kernel import birth_of
from gpuaas.gateway.limits import Limits
from gpuaas.gateway.service import Gateway
from gpuaas.gateway.terminals import Terminal, TerminalRecord, Terminals
from tests.gateway.node import ALLOCATION, Node, free_port, until


async def kill_gateway(node: Node) -> int:
    pid = (await node.gateway.status()).pid
    os.kill(pid, signal.SIGKILL)
    assert await gone(pid)

    async def another() -> int | None:
        status = await node.gateway.status()
        return status.pid if status.pid != pid else None

    return await until(another)


async def test_a_connection_survives_the_gateway_and_the_next_one_can_cut_it(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        before = await node.wait_for_connections(1)
        await kill_gateway(node)
        await live.say("echo $((50 + 1)) goes on\n")
        await live.see("51 goes on")
        assert await node.wait_for_connections(1) == before
        assert await node.gateway.end_connections(ALLOCATION, None, "found again") == 1
        code, shown = await live.end()
    assert code == 255
    assert "found again" in shown
    assert list((node.root / "connections").iterdir()) == []


async def test_a_command_that_outlives_the_gateway_reports_its_exit_code(node: Node) -> None:
    async with node.session(command="echo ready; read line; exit 23") as live:
        await live.see("ready")
        await kill_gateway(node)
        await node.wait_for_connections(1)
        await live.say("\n")
        assert (await live.end())[0] == 23


async def test_an_upgrade_closes_nothing(node: Node) -> None:
    async with node.session("-tt") as live, node.session(command="echo ready; read line; exit 24") as command:
        await live.see("$")
        await command.see("ready")
        terminal = await node.gateway.terminals.open(ALLOCATION, 1, "term_1")
        before = await node.wait_for_connections(2)
        old = (await node.gateway.status()).pid
        await node.gateway.upgrade()
        assert (await node.gateway.status()).pid != old
        assert sorted(await node.wait_for_connections(2)) == sorted(before)
        assert (await node.ssh("exit 8"))[0] == 8
        await command.say("\n")
        assert (await command.end())[0] == 24
        os.write(terminal.descriptor, b"exit 6\n")
        assert (await terminal.ended()).exit_code == 6
        terminal.close()
        await live.say("exit 25\n")
        assert (await live.end())[0] == 25
    assert await gone(old)


async def test_descriptors_of_a_terminal_that_has_ended_are_closed(node: Node) -> None:
    pid = (await node.gateway.status()).pid
    opened = Path(f"/proc/{pid}/fd")
    before = sorted(opened.iterdir())
    with Path("/dev/null").open() as one, Path("/dev/null").open() as other:
        for _ in range(3):
            asked = node.gateway.terminals.ask(AdoptTerminal("none"), None, descriptors=(one.fileno(), other.fileno()))
            with pytest.raises(EngineError):
                await asked
    assert sorted(opened.iterdir()) == before


async def test_a_closed_environment_has_no_listener_connection_or_terminal(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        terminal = await node.gateway.terminals.open(ALLOCATION, 1, "term_1")
        await node.gateway.close_environment(ALLOCATION, "the allocation was released")
        assert (await node.gateway.connections(None), await node.gateway.terminals.listed()) == ([], [])
        assert (await terminal.ended()).reason == "the allocation was released"
        terminal.close()
        assert "the allocation was released" in (await live.end())[1]
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", node.port)
    running = node.container.run("ps", "-eo", "stat,args").splitlines()
    assert [line for line in running if "bash" in line and not line.startswith("Z")] == []


async def test_a_taken_port_is_the_answer_and_is_retried(node: Node) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        state = await node.sync(msgspec.structs.replace(node.access, port=port))
        assert (state.is_open, state.detail) == (False, f"another program has port {port}")
    assert (await node.gateway.sync(ALLOCATION)).is_open
    assert (await node.sync(msgspec.structs.replace(node.access, port=free_port()))).is_open


async def test_silent_newcomers_never_keep_anybody_out(node: Node) -> None:
    silent = [await asyncio.open_connection("127.0.0.1", node.port) for _ in range(25)]
    try:
        assert (await node.ssh("exit 5"))[0] == 5
        (first, _), *_ = silent
        assert (await first.read()).startswith(b"SSH-2.0-") or first.at_eof()
    finally:
        for _, writer in silent:
            writer.close()


async def test_a_terminal_is_found_again_by_another_agent(node: Node) -> None:
    terminal = await node.gateway.terminals.open(ALLOCATION, 1, "term_1")
    other = GatewayClient(node.root)
    await other.start()
    ((name, allocation_id, attached),) = await other.terminals.take_over()
    assert (name, allocation_id) == ("term_1", ALLOCATION)
    os.write(attached.descriptor, b"exit 7\n")
    assert (await attached.ended()).exit_code == (await terminal.ended()).exit_code == 7
    attached.close()
    terminal.close()
    await other.close(stop=False)


async def test_a_terminal_survives_the_gateway_while_an_agent_has_it(node: Node) -> None:
    terminal = await node.gateway.terminals.open(ALLOCATION, 1, "term_1")
    await kill_gateway(node)
    os.write(terminal.descriptor, b"exit 9\n")
    assert (await terminal.ended()).exit_code == 9
    terminal.close()


async def test_a_terminal_is_refused_at_another_boot(node: Node) -> None:
    with pytest.raises(EngineError, match="not running, or has restarted"):
        await node.gateway.terminals.open(ALLOCATION, 2, "term_1")


async def test_a_terminal_that_no_agent_has_ends_and_one_that_an_agent_has_goes_on(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, clock=SystemClock(), version="", limits=Limits(unclaimed_seconds=0.0))
    terminals, agent = gateway.terminals, object()
    claimed, unclaimed = (shell(terminals, id) for id in ("claimed", "unclaimed"))
    terminals.claim("claimed", agent)
    assert (await terminals.wait("unclaimed")).reason == "no agent returned to it"
    await asyncio.shield(unclaimed.process.ended)
    assert [state.name for state in terminals.states(None)] == ["term_claimed"]
    terminals.release(agent)
    assert (await terminals.wait("claimed")).reason == "no agent returned to it"
    await asyncio.shield(claimed.process.ended)
    terminals.hand_over()


def shell(terminals: Terminals, id: str) -> Terminal:
    """A process on a terminal, that ends when it is hung up on."""
    pid, master = os.forkpty()
    if pid == 0:
        os.execv("/bin/cat", ["cat"])  # noqa: S606 (no shell is wanted)
    record = TerminalRecord(
        id=id, allocation_id="a", boot=1, pid=pid, born=birth_of(pid), machine_boot="", name=f"term_{id}"
    )
    return terminals.add(record, os.pidfd_open(pid), (master, os.memfd_create(id)))
