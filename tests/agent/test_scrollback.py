"""What a terminal showed survives an agent that is killed at any store into its memory; a loss is said."""

import os
import pty
import signal
import tty
from collections.abc import Callable

import pytest

from gpuaas.agent import scrollback
from gpuaas.agent.scrollback import CUT, PTY, RING, Scrollback
from gpuaas.wire.terminals import WINDOW

DATA = bytes(range(32, 127)) * 40  # less than a terminal holds
NOTICE = CUT % PTY
STORES = 12  # of one read and one confirmation, and some beyond


class Mortal(Scrollback):
    """Killed before its n-th store."""

    left = 1_000_000

    def _set(self, field: int, value: int) -> None:
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        super()._set(field, value)


class Careless(Mortal):
    """The planted bug: it does not mark that it reads."""

    def _set(self, field: int, value: int) -> None:
        if field != scrollback._READING:
            super()._set(field, value)


def shown_after_a_kill(kind: type[Mortal], store: int) -> bytes:
    """All that the next agent shows: what it finds, and what is still in the terminal."""
    memory = os.memfd_create("terminal")
    master, slave = pty.openpty()
    try:
        tty.setraw(slave)
        Scrollback(memory).close()
        os.write(slave, DATA)
        child = os.fork()
        if child == 0:
            mortal = kind(memory)
            mortal.left = store
            mortal.confirm(mortal.end + mortal.read_from(master) // 2)
            mortal.trim(mortal.confirmed)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        os.set_blocking(master, False)
        kept = Scrollback(memory)
        assert kept.is_found
        read_all(kept, master)
        shown = kept.part(kept.first, RING)
        kept.close()
        return shown
    finally:
        for descriptor in (memory, master, slave):
            os.close(descriptor)


def read_all(kept: Scrollback, master: int) -> None:
    try:
        while kept.read_from(master):
            kept.trim(kept.end)
    except BlockingIOError:
        return


def loses_silently(kind: type[Mortal]) -> list[int]:
    return [store for store in range(STORES) if shown_after_a_kill(kind, store) not in (DATA, NOTICE, DATA + NOTICE)]


def test_an_agent_killed_at_any_store_loses_nothing_without_saying_so() -> None:
    assert loses_silently(Mortal) == []
    assert NOTICE in {shown_after_a_kill(Mortal, store) for store in range(STORES)}


def test_the_twin_that_does_not_mark_its_reads_is_caught() -> None:
    assert loses_silently(Careless)


@pytest.mark.parametrize("make", [lambda: -1, lambda: os.memfd_create("terminal")], ids=["own", "kept"])
def test_the_last_window_is_kept_around_the_ring_and_unconfirmed_bytes_longer(make: Callable[[], int]) -> None:
    memory = make()
    kept, (reading, writing) = Scrollback(memory), os.pipe()
    written, number = b"", 0
    while kept.end < 3 * RING:
        data = b"%08d" % number * 4_000
        number += 1
        os.write(writing, data)
        written += data
        assert kept.read_from(reading) == len(data)
        kept.confirm(kept.end)
        kept.trim(kept.confirmed)
        assert kept.part(kept.first, RING) == written[kept.first :]
    assert kept.end - kept.first == WINDOW
    confirmed = kept.confirmed
    for _ in range(4):
        os.write(writing, data)
        kept.read_from(reading)
        kept.trim(kept.confirmed)
    assert kept.part(confirmed, RING) == data * 4
    for descriptor in (reading, writing, memory):
        if descriptor >= 0:
            os.close(descriptor)
    kept.close()
