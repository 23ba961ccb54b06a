"""Browser terminals: login shells on terminals of the environment, which continue while no agent runs."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gpuaas.engines.base import EngineError
from gpuaas.engines.descriptors import Share
from gpuaas.engines.node.files import write_whole
from gpuaas.engines.node.processes import readable
from gpuaas.engines.oci.gateway_protocol import TERMINAL_DESCRIPTORS, TerminalResult, TerminalState
from gpuaas.gateway import kernel
from gpuaas.gateway.environments import ServedEnvironment
from gpuaas.gateway.node import Node
from gpuaas.gateway.processes import WatchedProcess
from gpuaas.gateway.sessions import HANGUP, order_of, start_inside
from gpuaas.wire.gateway import EnvironmentAccess

FIRST_SIZE = (24, 80)
VARIABLES = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
DESCRIPTOR_BUDGET = 4
OPEN_SECONDS = 10.0
KEPT_ENDS = 1_000
NOT_AT_BOOT = "the environment is not running, or has restarted"
UNKNOWN = "this terminal has ended"
UNCLAIMED = "no agent returned to it"


class TerminalRecord(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    allocation_id: str
    boot: int
    pid: int
    born: str
    machine_boot: str
    name: str = ""  # id from the server, so that the next agent can identify it


@dataclass
class Terminal:
    """`master` and `memory` are -1 for a terminal of a previous gateway, until its agent sends them."""

    record: TerminalRecord
    master: int
    memory: int  # scrollback memory of the agent
    process: WatchedProcess
    share: Share | None
    ended: "asyncio.Future[TerminalResult]"
    holder: object | None = None  # connection of the agent that uses it
    waiting: asyncio.TimerHandle | None = None  # for an agent

    def end(self, reason: str) -> None:
        """Hang up. A process that ignores SIGHUP still loses its terminal."""
        if not self.ended.done():
            self.ended.set_result(TerminalResult(exit_code=None, reason=reason))
        for number in HANGUP:
            self.process.signal_group(number)
        self.let_go()

    def let_go(self) -> None:
        """Close its descriptors."""
        self.stop_waiting()
        for descriptor in (self.master, self.memory):
            if descriptor >= 0:
                os.close(descriptor)
        self.master = self.memory = -1

    def adopt_descriptors(self, descriptors: list[int]) -> None:
        """Take back descriptors from the agent that a previous gateway lost, if they are needed."""
        if self.master < 0 and len(descriptors) == TERMINAL_DESCRIPTORS and not self.ended.done():
            self.master, self.memory = descriptors
            descriptors.clear()

    def descriptors(self) -> tuple[int, int]:
        if self.master < 0:
            raise EngineError("this terminal was lost when the SSH gateway was restarted", self.record.id)
        return self.master, self.memory

    def stop_waiting(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None


class Terminals:
    def __init__(self, node: Node) -> None:
        self._node, self._folder = node, node.root / "terminals"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.here: dict[str, Terminal] = {}
        self._ends: dict[str, TerminalResult] = {}
        self._is_handed_over = False

    def states(self, allocation_id: str | None) -> list[TerminalState]:
        return [
            TerminalState(id=each.id, allocation_id=each.allocation_id, boot=each.boot, name=each.name)
            for each in (terminal.record for terminal in self.here.values() if not terminal.ended.done())
            if allocation_id in (None, each.allocation_id)
        ]

    async def open(self, environment: ServedEnvironment | None, boot: int, name: str) -> Terminal:
        init = environment.init if environment is not None else None
        if environment is None or init is None or init.ended.done() or environment.access.boot != boot:
            raise EngineError(NOT_AT_BOOT, f"boot {boot}")
        if len(self.states(environment.id)) >= self._node.limits.terminals:
            most = self._node.limits.terminals
            raise EngineError(f"an allocation has {most} terminals at most: end one first", environment.id)
        share = self._node.descriptors.take(DESCRIPTOR_BUDGET)
        if share is None:
            raise EngineError("the node has too many connections: close some, or try again later", environment.id)
        try:
            pid, born, master = await self._start(environment.access, init.pidfd)
        except BaseException:
            share.give_back()
            raise
        record = TerminalRecord(
            id=self._node.new_id(),
            allocation_id=environment.id,
            boot=boot,
            pid=pid,
            born=born,
            machine_boot=self._node.machine_boot,
            name=name,
        )
        write_whole(self._path(record.id), msgspec.json.encode(record), durable=False)
        return self.add(record, os.pidfd_open(pid), (master, os.memfd_create("terminal")), share)

    async def _start(self, access: EnvironmentAccess, init: int) -> tuple[int, str, int]:
        """Start a process that opens a terminal inside, sends it here and executes the shell."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with mine, its:
            order = order_of(
                access,
                init,
                command=None,
                variables=VARIABLES,
                descriptors=None,
                report=its.fileno(),
            )
            pid = start_inside(order, self._node.pid_namespace)
            its.close()
            try:
                master = await _receive_terminal(mine)
            except (OSError, TimeoutError) as error:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)  # not reaped yet, so the pid is not reused
                os.waitpid(pid, 0)  # noqa: ASYNC222 (killed just now)
                raise EngineError("no terminal could be opened in this environment", str(error)) from error
        return pid, kernel.birth_of(pid), master

    def add(
        self, record: TerminalRecord, pidfd: int, descriptors: tuple[int, int], share: Share | None = None
    ) -> Terminal:
        """Wait for an agent to claim it."""

        def on_end(code: int | None) -> None:
            if not terminal.ended.done():
                terminal.ended.set_result(TerminalResult(exit_code=255 if code is None else code))
            self._forget(terminal)

        ended = asyncio.get_running_loop().create_future()
        terminal = Terminal(record, *descriptors, WatchedProcess(record.pid, pidfd, record.born, on_end), share, ended)
        self.here[record.id] = terminal
        self._await_agent(terminal)
        return terminal

    def claim(self, id: str, holder: object) -> Terminal:
        terminal = self.find(id)
        terminal.holder = holder
        terminal.stop_waiting()
        return terminal

    def release(self, holder: object) -> None:
        """The agent has disconnected. Output of the shell fills the terminal's buffer, then the shell blocks."""
        for terminal in self.here.values():
            if terminal.holder is holder:
                self._await_agent(terminal)

    def _await_agent(self, terminal: Terminal) -> None:
        terminal.holder = None
        if not self._is_handed_over and not terminal.ended.done():
            seconds = self._node.limits.unclaimed_seconds
            terminal.stop_waiting()
            terminal.waiting = asyncio.get_running_loop().call_later(seconds, terminal.end, UNCLAIMED)

    def hand_over(self) -> None:
        """Stop waiting for agents; another gateway takes over."""
        self._is_handed_over = True
        for terminal in self.here.values():
            terminal.stop_waiting()

    def _forget(self, terminal: Terminal) -> None:
        terminal.let_go()
        if terminal.share is not None:
            terminal.share.give_back()
        id = terminal.record.id
        self.here.pop(id, None)
        self._ends[id] = terminal.ended.result()
        while len(self._ends) > KEPT_ENDS:
            del self._ends[next(iter(self._ends))]
        self._path(id).unlink(missing_ok=True)
        self._node.on_session_end()

    def find(self, id: str) -> Terminal:
        terminal = self.here.get(id)
        if terminal is None or terminal.ended.done():
            raise EngineError(UNKNOWN, id)
        return terminal

    async def wait(self, id: str) -> TerminalResult:
        terminal = self.here.get(id)
        if terminal is not None:
            return await asyncio.shield(terminal.ended)
        return self._ends.get(id, TerminalResult(exit_code=None, reason=UNKNOWN))

    def close(self, id: str) -> None:
        if id in self.here:
            self.here[id].end("closed")

    def end(self, allocation_id: str, reason: str) -> list[WatchedProcess]:
        """End all terminals of one environment."""
        chosen = [each for each in self.here.values() if each.record.allocation_id == allocation_id]
        for terminal in chosen:
            terminal.end(reason)
        return [terminal.process for terminal in chosen]

    # Terminals of a previous gateway

    def recorded(self) -> Iterator[TerminalRecord]:
        for path in sorted(self._folder.iterdir()):
            if path.name.startswith("."):  # a draft file of a gateway that died
                path.unlink()
                continue
            try:
                yield msgspec.json.decode(path.read_bytes(), type=TerminalRecord)
            except msgspec.DecodeError:
                path.unlink()

    def adopt_recorded(self) -> None:
        """Terminals with a live shell. The kernel hung up shells whose terminal has no open descriptor."""
        for record in self.recorded():
            if record.id in self.here:
                continue
            is_this_boot = self._node.is_this_boot(record.machine_boot)
            pidfd = kernel.open_process(record.pid, record.born) if is_this_boot else None
            if pidfd is None:
                self._path(record.id).unlink(missing_ok=True)
            else:
                self.add(record, pidfd, (-1, -1))

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"


async def _receive_terminal(line: socket.socket) -> int:
    """Receive and verify its master, because the sender had already entered the environment."""
    await readable(line.fileno(), OPEN_SECONDS)
    _, descriptors, _, _ = socket.recv_fds(line, 1, 1)
    if not descriptors:
        raise OSError(0, "the process inside ended first")
    try:
        kernel.check_terminal(descriptors[0])
        kernel.resize_terminal(descriptors[0], *FIRST_SIZE)
    except OSError:
        os.close(descriptors[0])
        raise
    os.set_inheritable(descriptors[0], False)
    return descriptors[0]
