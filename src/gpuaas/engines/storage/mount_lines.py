"""Parses lines of the kernel's mount tables. Uses only the standard library.

Root inside an environment controls the size of its table and the number of escaped characters: up to 100,000 mounts of
30 KiB each. A reader therefore selects lines by fields without escapes, such as the device, and unescapes only the
fields that it uses. No table is read beyond `MOST_BYTES`.
"""

import errno
import os
from collections.abc import Iterator
from typing import NamedTuple

MOST_BYTES = 4 << 20  # some 20,000 ordinary mounts
CHUNK = 1 << 16
FIXED_WORDS = 6  # before the optional fields, which end with a dash
ESCAPES = ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\043", b"#"), (b"\\134", b"\\"))
"""All escapes of the kernel. The backslash is last, so that its result is not taken for an escape."""


class TableTooLargeError(OSError):
    """The mounts are unknown. A partial table would report the other mounts as missing."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        super().__init__(errno.EFBIG, f"its mount table is larger than {most >> 20} MiB")


class MountLine(NamedTuple):  # not a dataclass: its module is slow to import in programs that enter environments
    """One mount, with its fields as written by the kernel."""

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
        """For comparison with paths without escaped characters."""
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
    """Split at the kernel's separators only, because tenants choose the names of folders."""
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
    """Read a table of any size in parts. A large one takes many seconds: use a thread."""
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
