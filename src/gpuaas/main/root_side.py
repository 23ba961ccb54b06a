"""The supervisor's side of the root process that runs the agent of a person who is not root."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import typer

from gpuaas.cli.complaints import Complaint
from gpuaas.main.children import STOP_SECONDS, read_last_words
from gpuaas.main.root_messages import (
    PYCACHE,
    Begin,
    CrashLooping,
    Event,
    Failed,
    NeedsToken,
    Order,
    Prepared,
    Ready,
    Run,
    Stop,
    Token,
    encode,
    events,
)

SUDO, SUDO_SILENT = ("sudo", "--"), ("sudo", "-n", "--")  # it may ask for a password, or never does
PASSED_ON = ("GPUAAS_", "PIP_")  # variables for agents
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
END_SECONDS = STOP_SECONDS + 10


def passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that sudo removes, and that the agent, pip and the build of an image read."""
    return {name: value for name, value in environ.items() if name.startswith(PASSED_ON) or name.lower() in PROXIES}


def spawn(prefix: Sequence[str]) -> "RootSide":
    process = subprocess.Popen(  # noqa: S603 - ourselves, as root
        [*prefix, sys.executable, "-P", "-X", f"pycache_prefix={PYCACHE}", "-m", "gpuaas.main.root_agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    return RootSide(process)


class RootSide:
    """A child like any other for the supervisor, but it receives orders and is never signalled."""

    name = "agent"

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.log = Path(os.devnull)
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._listening: asyncio.Task[None] | None = None
        self._is_stopping = self.is_crash_looping = False

    def wait_until_ready(self) -> bool:
        """Called first, while sudo may ask for a password. False if the password was not given."""
        assert self._process.stdout is not None  # noqa: S101 (it was asked for)
        line = self._process.stdout.readline()
        if line and isinstance(events.decode(line), Ready):
            return True
        self._process.communicate()
        return False

    def last_words(self) -> tuple[str, ...]:
        return read_last_words(self.log)

    async def prepare(self, begin: Begin, token: Callable[[], Awaitable[str]]) -> str:
        """Prepare image, enrolment and server address; returns the id of the node."""
        self.log = begin.log
        self.log.touch()  # owned by the person, so root only writes to it
        self._listening = asyncio.create_task(self._listen())
        self._order(begin)
        while True:
            match await self._events.get():
                case Ready():
                    pass
                case NeedsToken():
                    self._order(Token(await token()))
                case Prepared(node_id):
                    return node_id
                case Failed(why=why, details=details, next_step=next_step):
                    raise Complaint(why, details=details, next_step=next_step)
                case _:
                    raise Complaint("the root process ended", next_step="start again")

    def start(self) -> None:
        self._order(Run())

    async def stop(self) -> None:
        self._is_stopping = True
        self._order(Stop())
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=END_SECONDS)
        self.leave()
        await asyncio.to_thread(self._process.wait)

    def leave(self) -> None:
        """Close its input, which ends it and the agent."""
        assert self._process.stdin is not None  # noqa: S101 (it was asked for)
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def _order(self, order: Order) -> None:
        assert self._process.stdin is not None  # noqa: S101 (it was asked for)
        if self._process.stdin.closed:
            return
        with suppress(BrokenPipeError):  # it has ended, and its waiters are informed
            self._process.stdin.write(encode(order))
            self._process.stdin.flush()

    async def _listen(self) -> None:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout)
        while line := await reader.readline():
            event = events.decode(line)
            self.is_crash_looping |= isinstance(event, CrashLooping)
            self._events.put_nowait(event)
        self._events.put_nowait(None)
        if not self._is_stopping:
            self.is_crash_looping = True
            self.leave()  # sudo may have ended before it
            typer.echo("The agent has ended with its root process. Stop with Ctrl-C, and start again.", err=True)
