"""Typed ids: a prefix that names the type, and a UUIDv7 in base 32, so that ids sort by creation time."""

import os
from collections.abc import Callable
from typing import Final

from gpuaas.core.clock import Clock

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH: Final = 26  # 128 bits, five per character
PAIRS: Final = [first + second for first in ALPHABET for second in ALPHABET]
SHIFTS: Final = range(5 * (LENGTH - 2), -1, -10)


class Ids:
    """Creates ids from a clock and a source of randomness."""

    def __init__(self, clock: Clock, randomness: Callable[[int], bytes] = os.urandom) -> None:
        self._clock, self._randomness = clock, randomness

    def new(self, prefix: str) -> str:
        milliseconds = int(self._clock.now().timestamp() * 1000)
        random = int.from_bytes(self._randomness(10), "big")
        uuid = (milliseconds << 80) | (7 << 76) | ((random >> 66 & 0xFFF) << 64) | (2 << 62) | (random & (1 << 62) - 1)
        return f"{prefix}_{encode(uuid)}"


def encode(number: int) -> str:
    """Encode 128 bits as 26 characters with leading zeros; two per step, because every request creates an id."""
    return "".join([PAIRS[number >> shift & 1023] for shift in SHIFTS])
