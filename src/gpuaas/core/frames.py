"""Encodes and decodes WebSocket messages of one binary frame, the most frequent messages of links and terminals."""

import secrets
from struct import Struct

from websockets.speedups import apply_mask

BINARY = 0x82  # final frame of an unfragmented message
MASKED, LENGTH = 0x80, 0x7F
IN_TWO, IN_EIGHT = 126, 127  # length markers: the length follows in 2 or 8 bytes
MASK_BYTES = 4
_short, _medium, _long = Struct("!BB").pack, Struct("!BBH").pack, Struct("!BBQ").pack


def plain(data: bytes) -> bytes:
    """The frame as a server sends it, without a mask."""
    return _head(len(data), 0) + data


def masked(data: bytes) -> bytes:
    """The frame as a client sends it, with the mask that RFC 6455 requires."""
    mask = secrets.token_bytes(MASK_BYTES)
    return _head(len(data), MASKED) + mask + apply_mask(data, mask)


def _head(length: int, flag: int) -> bytes:
    if length < IN_TWO:
        return _short(BINARY, flag | length)
    return _medium(BINARY, flag | IN_TWO, length) if length < 1 << 16 else _long(BINARY, flag | IN_EIGHT, length)


def cut(data: bytes, begin: int) -> tuple[int, int]:
    """Offsets of the mask and of the end of a client's frame; twice the offset of the header's end while the header is
    incomplete."""
    mask = begin + 2
    if len(data) < mask:
        return mask, mask
    length = data[begin + 1] & LENGTH
    if length >= IN_TWO:
        mask += 2 if length == IN_TWO else 8
        if len(data) < mask:
            return mask, mask
        length = int.from_bytes(data[begin + 2 : mask], "big")
    return mask, mask + MASK_BYTES + length


def unmasked(data: bytes, mask: int, end: int) -> bytes:
    body = mask + MASK_BYTES
    return apply_mask(data[body:end], data[mask:body])
