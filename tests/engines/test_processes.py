"""Processes of the node: who lives, and that nobody but the one that was meant is ended."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from gpuaas.engines.node import processes

THREAD_OUTLIVES_THE_FIRST = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1e6,)).start()
print("in", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


@contextlib.contextmanager
def started(*argv: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


async def test_a_process_whose_first_thread_ended_lives_on() -> None:
    """It is a zombie by its state, and still holds its files."""
    with started(sys.executable, "-c", THREAD_OUTLIVES_THE_FIRST) as child:
        assert child.stdout
        assert child.stdout.readline() == "in\n"
        birth, uid = processes.born(child.pid), int(processes.status(child.pid)["Uid"].split()[0])
        while not processes.status(child.pid)["State"].startswith("Z"):
            pass
        assert processes.is_alive(child.pid, birth)
        assert not processes.has_ended(child.pid)
        assert processes.has_uid(child.pid, (uid,))
        assert await processes.end(child.pid, lambda pid: processes.is_alive(pid, birth))
    assert not processes.is_alive(child.pid, birth)


async def test_a_process_that_is_not_meant_any_more_is_left_alone() -> None:
    with started("sleep", "1000000") as child:
        assert not await processes.end(child.pid, lambda _: False)
        processes.send(processes.Process(child.pid, "1"), 9)
        assert child.poll() is None
