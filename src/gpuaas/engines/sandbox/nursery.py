"""Pid 1 before it has an environment: in its namespaces, interpreter loaded, waiting for orders.

One is kept ready, because starting an interpreter takes longer than all that it has to do. If the agent dies, its end
of the pipe closes and the waiting process leaves by itself.
"""

# ruff: noqa: ASYNC240 (single looks at /proc, /sys and /run, which answer from memory)

import contextlib
import json
import os
import sys
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox import commands, init, processes
from gpuaas.engines.sandbox.streams import readable

READY_SECONDS = 20.0
ANSWER_LIMIT = 4096
STANDARD_ERROR = 2
SOURCE = Path(init.__file__).parents[3]
INSIDE_UID = 1000
ROOT_NAMESPACES = ("--mount", "--pid", "--fork", "--ipc", "--uts")
USER_NAMESPACES = (
    "--user",
    f"--map-user={INSIDE_UID}",
    f"--map-group={INSIDE_UID}",
    "--keep-caps",
    *ROOT_NAMESPACES,
)


class Newborn:
    """A process in new namespaces; `orders` makes it pid 1 of an environment."""

    def __init__(self, pid: int, orders: int, answers: int) -> None:
        self.pid, self._orders, self._answers = pid, orders, answers

    async def settle(self, orders: dict[str, object]) -> None:
        """Give the orders and wait until it serves."""
        try:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._orders, json.dumps(orders).encode() + b"\n")
            answer = await self._answer()
        except BaseException:
            await self.end()
            raise
        finally:
            self.close()
        if answer != "ready":
            await self.end()
            raise EngineError("the environment did not start", answer or "its first process ended")

    async def _answer(self) -> str:
        try:
            await readable(self._answers, READY_SECONDS)
        except TimeoutError:
            return f"no answer in {READY_SECONDS:.0f} s"
        return os.read(self._answers, ANSWER_LIMIT).decode().strip()

    async def end(self) -> None:
        """`unshare` waits for its child and follows it."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                await processes.end(int(child), lambda pid: processes.parent(pid) == self.pid)
        await processes.end(self.pid)

    def close(self) -> None:
        for descriptor in (self._orders, self._answers):
            if descriptor >= 0:
                os.close(descriptor)
        self._orders = self._answers = -1


class Nursery:
    """Keeps a few newborns ready; `mark` is an argument by which leftovers of a killed agent are found."""

    def __init__(self, mark: str, log: Path, *, is_root: bool, spare: int) -> None:
        self._mark, self._log, self._spare = mark, log, spare
        self._namespaces = self.flags(is_root=is_root)
        self._waiting: list[Newborn] = []
        self.is_isolated = True

    @staticmethod
    def flags(*, is_root: bool) -> tuple[str, ...]:
        """As root the user namespace comes later, from pid 1: it takes two uids, which only root can map."""
        return ROOT_NAMESPACES if is_root else USER_NAMESPACES

    def fill(self) -> None:
        while len(self._waiting) < self._spare:
            self._waiting.append(self._spawn())

    def take(self) -> Newborn:
        return self._waiting.pop(0) if self._waiting else self._spawn()

    async def close(self) -> None:
        for newborn in self._waiting:
            newborn.close()
            await newborn.end()
        self._waiting.clear()

    def _spawn(self) -> Newborn:
        argv = [os.path.realpath(sys.executable), "-S", "-s", "-P", str(init.__file__), self._mark]
        if self.is_isolated:
            argv = [commands.find("unshare") or "unshare", *self._namespaces, "--", *argv]
        orders_read, orders = os.pipe2(os.O_CLOEXEC)
        answers, answers_write = os.pipe2(os.O_CLOEXEC)
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            pid = os.posix_spawn(
                argv[0],
                argv,
                {"PYTHONPATH": str(SOURCE), "PATH": commands.PATH, "LC_ALL": "C.UTF-8"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, orders_read, 0),
                    (os.POSIX_SPAWN_DUP2, answers_write, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                    *((os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in _inheritable()),
                ],
                setsid=True,  # a signal to the agent's terminal is none of its business
            )
        finally:
            for descriptor in (orders_read, answers_write, log):
                os.close(descriptor)
        return Newborn(pid, orders, answers)


def _inheritable() -> list[int]:
    """A log or a supervisor's pipe that the agent itself was given: not for a process that outlives it."""
    found = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if int(path.name) > STANDARD_ERROR and os.get_inheritable(int(path.name)):
                found.append(int(path.name))
    return found
