"""Lines of the kernel's mount tables. Standard library only.

Root inside an environment decides how large its table is and how many characters of it are escaped: up to 100,000
mounts of 30 KiB each. A reader therefore selects lines by words that have no escapes, such as the device, and unescapes
only the words that it uses; and no table is read beyond `MOST_BYTES`.
"""

import errno
import os
from collections.abc import Iterator
from typing import NamedTuple

MOST_BYTES = 4 << 20  # some 20,000 ordinary mounts
CHUNK = 1 << 16
FIXED_WORDS = 6  # before the optional ones, which end with a dash
ESCAPES = ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\043", b"#"), (b"\\134", b"\\"))
"""All that the kernel writes. The backslash is the last: what it gives back must not be read as an escape."""


class TableTooLargeError(OSError):
    """What is mounted is unknown. A part of a table would say that the rest is not mounted."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        super().__init__(errno.EFBIG, f"its mount table is larger than {most >> 20} MiB")


class MountLine(NamedTuple):  # not a dataclass, whose module is slow to import in programs that enter environments
    """One mount, with its words as the kernel wrote them."""

    words: list[bytes]

    @property
    def id(self) -> str:
        return self.words[0].decode()

    @property
    def device(self) -> str:
        return self.words[2].decode()

    @property
    def root(self) -> str:
        return unescaped(self.words[3])

    @property
    def raw_path(self) -> bytes:
        """To compare with a path that has no character which is escaped."""
        return self.words[4]

    @property
    def path(self) -> str:
        return unescaped(self.words[4])

    @property
    def is_read_only(self) -> bool:
        return b"ro" in self.words[5].split(b",")

    @property
    def kind(self) -> str:
        return unescaped(self.words[self._dash + 1])

    @property
    def source(self) -> str:
        return unescaped(self.words[self._dash + 2])

    @property
    def _dash(self) -> int:
        return self.words.index(b"-", FIXED_WORDS)


def lines_of(table: bytes) -> Iterator[MountLine]:
    """Parted by the kernel's own blanks only: people name the folders in it as they like."""
    return (MountLine(line.split(b" ")) for line in table.split(b"\n") if line)


def unescaped(word: bytes) -> str:
    if b"\\" in word:
        for escape, character in ESCAPES:
            word = word.replace(escape, character)
    return word.decode(errors="replace")


def read_table(path: str, most: int = MOST_BYTES) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return read_opened(descriptor, most)
    finally:
        os.close(descriptor)


def read_opened(descriptor: int, most: int = MOST_BYTES) -> bytes:
    parts, size = [], 0
    while part := os.read(descriptor, CHUNK):
        size += len(part)
        if size > most:
            raise TableTooLargeError(most)
        parts.append(part)
    return b"".join(parts)


def all_lines(path: str) -> Iterator[MountLine]:
    """Of a table of any size, a part at a time. A large one takes many seconds: for a thread only."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        rest = b""
        while part := os.read(descriptor, CHUNK):
            whole, end, rest = (rest + part).rpartition(b"\n")
            if end:
                yield from lines_of(whole)
        yield from lines_of(rest)
    finally:
        os.close(descriptor)
