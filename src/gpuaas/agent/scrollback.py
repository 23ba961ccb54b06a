"""The last output of a terminal, in memory that outlives the agent if the engine keeps it.

Bytes have offsets: the first byte of a terminal's output is byte 0. A ring buffer holds the last ones. If the engine
provides a file in memory, the ring buffer is in it, with everything that the next agent needs if this one is killed.
"""

import mmap
import os
import struct

from gpuaas.wire.terminals import WINDOW

READ = 65_536  # bytes per read
PTY = 4_095  # the most that a pty returns per read
RING = WINDOW + 3 * READ  # a window, two reads beyond it, and room for a notice
HEADER = mmap.PAGESIZE
FORMAT = 0x6770757474793031  # of this layout
CUT = b"\r\n[The agent of this node was restarted here. Up to %d bytes of output may be missing.]\r\n"
_FORMAT, _FIRST, _END, _CONFIRMED, _READING, _LIFE = range(0, 48, 8)


class Scrollback:
    """The agent is the only writer. Every field changes by a single store, so a kill leaves all of them consistent."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is a file in memory that the engine keeps, or -1 for memory that ends with this process."""
        if descriptor >= 0 and os.fstat(descriptor).st_size < HEADER + RING:
            os.ftruncate(descriptor, HEADER + RING)
        self._memory = mmap.mmap(descriptor, HEADER + RING)
        self._ring = memoryview(self._memory)[HEADER:]
        self.is_found = self._get(_FORMAT) == FORMAT
        if not self.is_found:
            self._memory[:HEADER] = bytes(HEADER)
            self._set(_FORMAT, FORMAT)
        elif self._get(_READING):
            self._set(_READING, 0)
            self._add(CUT % PTY)

    def close(self) -> None:
        self._ring.release()
        self._memory.close()

    def _get(self, field: int) -> int:
        return int(struct.unpack_from("Q", self._memory, field)[0])

    def _set(self, field: int, value: int) -> None:
        struct.pack_into("Q", self._memory, field, value)

    @property
    def first(self) -> int:
        """The offset of the first byte that is kept."""
        return self._get(_FIRST)

    @property
    def end(self) -> int:
        """The offset of the next byte of output."""
        return self._get(_END)

    @property
    def confirmed(self) -> int:
        return self._get(_CONFIRMED)

    def confirm(self, offset: int) -> None:
        self._set(_CONFIRMED, max(self.confirmed, min(offset, self.end)))

    def read_from(self, terminal: int) -> int:
        """Returns the number of bytes read. Raises the errors of `read`."""
        place = self.end % RING
        with self._ring[place : place + READ] as whole, self._ring[: max(0, place + READ - RING)] as rest:
            self._set(_READING, 1)  # a kill before the end offset moves loses what was read
            try:
                found = os.readv(terminal, [whole, rest])
                self._set(_END, self.end + found)
            finally:
                self._set(_READING, 0)
        return found

    def _add(self, data: bytes) -> None:
        place = self.end % RING
        split = RING - place
        self._ring[place : place + len(data)] = data[:split]
        self._ring[: max(0, len(data) - split)] = data[split:]
        self._set(_END, self.end + len(data))
        self.trim(self.confirmed)

    def trim(self, needed: int) -> None:
        """Delete all but the last window, but nothing from `needed` on."""
        self._set(_FIRST, max(self.first, min(self.end - WINDOW, needed), 0))

    def part(self, offset: int, count: int) -> bytes:
        """Bytes from this offset on, at most `count`."""
        place, count = offset % RING, min(count, self.end - offset)
        return bytes(self._ring[place : place + count]) + bytes(self._ring[: max(0, place + count - RING)])

    # Limits, for an agent that takes over

    def keep_limits(self, ends: float, detached_seconds: float) -> None:
        """Store the latest end, by the monotonic clock of the node, and how long the terminal stays open while
        detached.
        """
        struct.pack_into("dd", self._memory, _LIFE, ends, detached_seconds)

    def limits(self) -> tuple[float, float]:
        ends, detached = struct.unpack_from("dd", self._memory, _LIFE)
        return float(ends), float(detached)
