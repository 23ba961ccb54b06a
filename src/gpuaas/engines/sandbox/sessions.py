"""SSH channels joined to processes and connections inside; bytes pass through and are never kept."""

# ruff: noqa: ARG002 (the signatures are AsyncSSH's)

import asyncio
import fcntl
import re
import signal
import struct
import termios
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from gpuaas.engines.base import EngineError
from gpuaas.engines.descriptors import Share
from gpuaas.engines.sandbox.inside import Inside, Process
from gpuaas.engines.sandbox.streams import Reader, SocketWriter, Writer

COMMAND_LIMIT = 100_000
PASSED_VARIABLES = re.compile(r"(LANG|LANGUAGE|LC_[A-Z]+|COLORTERM|NO_COLOR)")
PASSED_LIMIT = 256
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a reason is text that somebody else wrote
SFTP_SERVERS = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
    "/usr/libexec/sftp-server",
)
SHELLS = ("/bin/bash", "/bin/sh")
Size = tuple[int, int, int, int]


@dataclass
class Traffic:
    """Bytes of one connection, over all that goes through it."""

    into: int = 0
    out: int = 0


def shell() -> str:
    return next((path for path in SHELLS if Path(path).exists()), SHELLS[-1])


def sftp_server() -> str | None:
    return next((path for path in SFTP_SERVERS if Path(path).exists()), None)


def _window(size: Size) -> Size:
    """What SSH calls width, height, pixels, as the kernel calls it: rows, columns, pixels; each 16 bits."""
    columns, rows, width, height = (min(value, 0xFFFF) for value in size)
    return rows, columns, width, height


class ProcessSession(asyncssh.SSHServerSession[bytes]):
    """A shell, a command or the sftp server, running inside."""

    def __init__(self, inside: Inside, variables: dict[str, str], traffic: Traffic, share: Share) -> None:
        self._inside, self._variables, self._traffic = inside, variables, traffic
        self._share = share
        share.belongs_to(self)
        self._wants_terminal = self._wants_shell = False
        self._argv: list[str] = []
        self._path = shell()
        self._process: Process | None = None
        self._input: Writer | None = None
        self._outputs: list[Reader] = []
        self._early: list[bytes] = []
        self._open_outputs = 0
        self._drained = asyncio.Event()
        self._input_ended = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = chan

    def pty_requested(self, term_type: str, term_size: Size, term_modes: object) -> bool:
        self._wants_terminal = True
        self._variables["TERM"] = term_type[:PASSED_LIMIT]
        return True

    def shell_requested(self) -> bool:
        self._wants_shell = True
        self._argv = [f"-{Path(self._path).name}"]  # a leading dash makes it a login shell
        return True

    def exec_requested(self, command: str) -> bool:
        self._argv = [Path(self._path).name, "-c", command]
        return len(command) <= COMMAND_LIMIT and "\0" not in command

    def subsystem_requested(self, subsystem: str) -> bool:
        path = sftp_server()
        if subsystem != "sftp" or path is None:
            return False
        self._path, self._argv = path, ["sftp-server"]
        return True

    def session_started(self) -> None:
        self._task = asyncio.create_task(self._live())

    async def _live(self) -> None:
        try:
            process = await self._start()
            code = await process.wait()
            await self._drained.wait()
            self._leave(code)
        except EngineError as error:
            self.tell(error.reason)
            if not self._channel.is_closing():
                self._channel.exit(255)
        finally:
            self._let_go()

    def tell(self, text: str) -> None:
        """A word from the platform to the person."""
        if not self._channel.is_closing():
            self._channel.write_stderr(f"gpuaas: {CONTROL.sub('?', text)}\r\n".encode())

    async def _start(self) -> Process:
        size = _window(self._channel.get_terminal_size()) if self._wants_terminal else None
        process = await self._inside.run(self._path, self._argv, self._environment(), terminal=size)
        self._process = process
        if size and self._wants_shell:
            self._channel.write(self._inside.banner().replace("\n", "\r\n").encode())
        if size:
            self._terminal = process.descriptors[0]
            writer = duplicate(self._terminal)
            sources: list[tuple[int, int | None]] = [(self._terminal, None)]
        else:
            writer, out, err = process.descriptors
            sources = [(out, None), (err, asyncssh.EXTENDED_DATA_STDERR)]
        self._input = Writer(writer, self._channel.pause_reading, self._channel.resume_reading)
        self._open_outputs = len(sources)
        self._outputs = [self._reader(descriptor, kind) for descriptor, kind in sources]
        if self._early:
            self._input.write(self._early.pop())
        self._channel.resume_reading()
        if self._input_ended:
            self._end_input()
        return process

    def _reader(self, descriptor: int, kind: int | None) -> Reader:
        def forward(data: bytes) -> None:
            self._traffic.out += len(data)
            if not self._channel.is_closing():
                self._channel.write(data, kind)

        return Reader(descriptor, forward, self._output_ended)

    def _output_ended(self) -> None:
        self._open_outputs -= 1
        if self._open_outputs == 0:
            self._drained.set()

    def _environment(self) -> dict[str, str]:
        passed = {
            name: value
            for name, value in self._channel.get_environment().items()
            if PASSED_VARIABLES.fullmatch(name) and len(value) <= PASSED_LIMIT and "\0" not in value
        }
        return {**passed, **self._variables}

    def _leave(self, code: int) -> None:
        if self._channel.is_closing():
            return
        if code >= 0:
            self._channel.exit(code)
        else:
            self._channel.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._traffic.into += len(data)
        if self._input is not None:
            self._input.write(data)
        else:
            self._early.append(data)
            self._channel.pause_reading()

    def eof_received(self) -> bool:
        self._input_ended = True
        self._end_input()
        return True  # the process may still have much to say

    def _end_input(self) -> None:
        if self._input is not None:
            if self._wants_terminal:
                self._input.write(b"\x04")  # a terminal has no end of file, only the key for it
            else:
                self._input.end()

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        if self._wants_terminal and self._open_outputs:
            size = _window((width, height, pixwidth, pixheight))
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size))

    def signal_received(self, signal: str) -> None:
        send(self._process, signal)

    def pause_writing(self) -> None:
        for reader in self._outputs:
            reader.pause()

    def resume_writing(self) -> None:
        for reader in self._outputs:
            reader.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._task is not None:
            self._task.cancel()
        else:
            self._share.give_back()

    def _let_go(self) -> None:
        for reader in self._outputs:
            reader.close()
        if self._input is not None:
            self._input.close()
        if self._process is not None:
            self._process.close()
        self._share.give_back()


class ForwardSession(asyncssh.SSHTCPSession[bytes]):
    """A forwarded connection; its far end was opened from inside."""

    def __init__(self, descriptor: int, traffic: Traffic, share: Share) -> None:
        self._descriptor, self._traffic, self._share = descriptor, traffic, share
        share.belongs_to(self)

    def connection_made(self, chan: asyncssh.SSHTCPChannel[bytes]) -> None:
        self._channel = chan
        self._writer = SocketWriter(duplicate(self._descriptor), chan.pause_reading, chan.resume_reading)
        self._reader = Reader(self._descriptor, self._forward, self._ended)

    def _forward(self, data: bytes) -> None:
        self._traffic.out += len(data)
        if not self._channel.is_closing():
            self._channel.write(data)

    def _ended(self) -> None:
        if not self._channel.is_closing():
            self._channel.write_eof()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._traffic.into += len(data)
        self._writer.write(data)

    def eof_received(self) -> bool:
        self._writer.end()
        return True

    def pause_writing(self) -> None:
        self._reader.pause()

    def resume_writing(self) -> None:
        self._reader.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self._reader.close()
        self._writer.close()
        self._share.give_back()


def duplicate(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


def send(process: Process | None, name: str) -> None:
    number = getattr(signal.Signals, f"SIG{name}", None)
    if process is not None and number is not None:
        process.send_signal(int(number))
