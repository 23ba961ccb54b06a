"""Frames written and read by hand are those of the library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from gpuaas.core import frames

SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 100_000]


def a_message(size: int) -> bytes:
    return bytes(range(256)) * (size // 256) + bytes(size % 256)


@pytest.mark.parametrize("size", SIZES)
def test_what_a_server_sends_is_the_librarys(size: int) -> None:
    data = a_message(size)
    assert frames.plain(data) == Frame(Opcode.BINARY, data).serialize(mask=False)
    client = ClientProtocol(parse_uri("ws://here/"), state=OPEN)
    client.receive_data(frames.plain(data))
    assert client.events_received() == [Frame(Opcode.BINARY, data)]


@pytest.mark.parametrize("size", SIZES)
def test_what_a_client_sends_is_read_by_the_library_and_by_hand(size: int) -> None:
    data = a_message(size)
    sent = frames.masked(data)
    server = ServerProtocol(state=OPEN)
    server.receive_data(sent)
    assert server.events_received() == [Frame(Opcode.BINARY, data)]
    mask, end = frames.cut(b"before" + sent + b"after", len(b"before"))
    assert (end, frames.unmasked(b"before" + sent, mask, end)) == (6 + len(sent), data)


def test_a_mask_is_never_used_twice() -> None:
    assert len({frames.masked(b"\0\0\0\0") for _ in range(100)}) == 100


@given(st.binary(max_size=300).map(lambda data: Frame(Opcode.BINARY, data).serialize(mask=True)), st.data())
def test_a_part_of_a_frame_says_that_it_is_no_whole_one(sent: bytes, draw: st.DataObject) -> None:
    part = sent[: draw.draw(st.integers(0, len(sent) - 1))]
    _, end = frames.cut(part, 0)
    assert len(part) < end <= len(sent)
