"""The agent's side of the socket of pid 1: one connection per process or forwarded connection."""

import asyncio
import json
import os
import socket
import struct
from pathlib import Path
from typing import Any

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox.streams import readable

MESSAGE_LIMIT = 200_000
ANSWER_SECONDS = 20.0


class Line:
    """One connection to pid 1, message by message."""

    def __init__(self, folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._socket = socket.socket(
                socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
            )
        except OSError:
            os.close(descriptor)
            raise
        try:
            self._socket.connect(f"/proc/self/fd/{descriptor}/init.sock")  # the path itself may be too long
        except OSError:
            self._socket.close()
            raise
        finally:
            os.close(descriptor)

    @property
    def peer_pid(self) -> int:
        """The process that listens there, as this process numbers it."""
        credentials = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[0])

    def say(self, message: dict[str, object]) -> None:
        """Short messages to a socket of our own: it takes them at once or the other side is gone."""
        self._socket.send(json.dumps(message).encode())

    async def hear(self) -> tuple[dict[str, Any], list[int]]:
        """The next message; an empty one when pid 1 closed the line."""
        await readable(self._socket.fileno())
        try:
            data, descriptors, _, _ = socket.recv_fds(self._socket, MESSAGE_LIMIT, 4)
        except ConnectionError:
            return {}, []
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        return (json.loads(data) if data else {}), descriptors

    async def ask(self, message: dict[str, object]) -> tuple[dict[str, Any], list[int]]:
        try:
            self.say(message)
            async with asyncio.timeout(ANSWER_SECONDS):
                answer, descriptors = await self.hear()
        except (OSError, TimeoutError) as error:
            raise EngineError("the environment does not answer", repr(error)) from error
        if not answer or "error" in answer:
            raise EngineError("the environment refused", str(answer.get("error", "it closed the line")))
        return answer, descriptors

    def close(self) -> None:
        self._socket.close()


class Process:
    """A process inside, and the descriptors to talk to it: one for a terminal, three for pipes."""

    def __init__(self, line: Line, descriptors: list[int]) -> None:
        self._line, self.descriptors = line, descriptors

    async def wait(self) -> int:
        """Its exit code; negative for the signal that ended it, as pid 1 saw it."""
        answer, _ = await self._line.hear()
        return int(answer.get("exit", -9))

    def send_signal(self, number: int) -> None:
        try:
            self._line.say({"ask": "signal", "signal": number})
        except OSError:
            return  # it has just ended

    def close(self) -> None:
        """Let go: pid 1 hangs up on the process if it still runs."""
        self._line.close()


class Inside:
    """What the agent can ask of a running environment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def banner(self) -> str:
        """What a person is told at login."""
        try:
            return (self._folder / "etc" / "gpuaas" / "storage").read_text()
        except OSError:
            return ""

    def _line(self) -> Line:
        try:
            return Line(self._folder)
        except OSError as error:
            raise EngineError("the environment cannot be reached", repr(error)) from error

    async def run(
        self, path: str, argv: list[str], environment: dict[str, str], *, terminal: tuple[int, int, int, int] | None
    ) -> Process:
        """Start a process as the person; `terminal` is rows, columns and pixels."""
        line = self._line()
        try:
            _, descriptors = await line.ask(
                {
                    "ask": "run",
                    "path": path,
                    "argv": argv,
                    "environment": environment,
                    "terminal": {"size": terminal} if terminal else None,
                }
            )
        except BaseException:
            line.close()
            raise
        return Process(line, descriptors)

    async def variables(self) -> dict[str, str] | None:
        """What every session inside is given, as pid 1 has it; None of one that cannot say."""
        line = self._line()
        try:
            answer, _ = await line.ask({"ask": "variables"})
        finally:
            line.close()
        found = answer.get("variables")
        return None if found is None else {str(name): str(value) for name, value in found.items()}

    async def connect(self, host: str, port: int) -> int:
        """A connected socket, opened from inside."""
        line = self._line()
        try:
            _, descriptors = await line.ask({"ask": "connect", "host": host, "port": port})
            return descriptors[0]
        finally:
            line.close()

    def stop(self, grace: float) -> None:
        """Ask pid 1 to end everything; the caller watches it go."""
        line = self._line()
        try:
            line.say({"ask": "stop", "grace": grace})
        except OSError:
            return
        finally:
            line.close()
