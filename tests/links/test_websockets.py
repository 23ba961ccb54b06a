"""Sockets that are quick with what is plain do the same as the library with everything."""

import asyncio
from struct import pack
from typing import Any

import pytest
import uvicorn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Opcode

from gpuaas.core import frames
from gpuaas.main.websockets import QuickProtocol

MOST = 300  # bytes in a message
REQUEST = (
    b"GET /socket HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
MALFORMED = {1002, 1007, 1009}
TURNS = 30  # of the loop, in which all that can happen has


class Wire:
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        self.written, self.is_over, self.is_held = b"", False, False

    def write(self, data: bytes) -> None:
        self.written += b"" if self.is_over else data

    def close(self) -> None:
        self.is_over = True

    def is_closing(self) -> bool:
        return self.is_over

    def pause_reading(self) -> None:
        self.is_held = True

    def resume_reading(self) -> None:
        self.is_held = False

    def get_extra_info(self, name: str) -> Any:
        return {"sockname": ("127.0.0.1", 80), "peername": ("127.0.0.1", 1)}.get(name)


async def heard(
    kind: type[WebSocketsSansIOProtocol], pieces: list[bytes], *, early: bytes = b"", echo: bool = False
) -> tuple[Any, ...]:
    """What an application was told, what went out, and whether that was the end of it."""
    told: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            told.append(message)
            if message["type"] == "websocket.connect":
                await send({"type": "websocket.accept"})
            elif echo:
                await send({**message, "type": "websocket.send"})
        told.append(message)

    config = uvicorn.Config(app, ws_max_size=MOST, ws_per_message_deflate=False, ws_ping_interval=None, log_config=None)
    config.load()
    protocol, wire = kind(config=config, server_state=ServerState(), app_state={}), Wire()
    protocol.connection_made(wire)  # type: ignore[arg-type] # as much of a transport as it is asked for
    protocol.data_received(REQUEST)
    if early:
        protocol.data_received(early)
    for piece in [b"", *pieces]:
        await turns(wire)
        if piece and not wire.is_over:
            protocol.data_received(piece)
    await turns(wire)
    ended = wire.is_over
    protocol.connection_lost(None)
    await turns(wire)
    return told, wire.written, ended


async def turns(wire: Wire) -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert wire.is_over or not wire.is_held  # whoever takes messages is sent more


def frame(first: int, data: bytes, *, is_masked: bool = True, width: int = 0) -> bytes:
    """Also as none should be: `width` is that of the length, which may be wider than it need be."""
    flag, size = (frames.MASKED if is_masked else 0), len(data)
    width = max(width, (size > 125) + (size > 65_535))
    length = pack("!B", flag | size) if width == 0 else pack("!BH" if width == 1 else "!BQ", flag | 125 + width, size)
    mask = b"\x01\x02\x03\x04" if is_masked else b""
    body = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)) if is_masked else data
    return bytes([first]) + length + mask + body


plain = st.builds(frame, st.just(frames.BINARY), st.binary(max_size=MOST), width=st.integers(0, 2))
usual = st.builds(
    frame,
    st.sampled_from([0x82, 0x81, 0x02, 0x01, 0x00, 0x80, 0x89, 0x8A, 0x88, 0x08, 0x83, 0xC2, 0xFF]),
    st.one_of(
        st.binary(max_size=20), st.text(max_size=20).map(str.encode), st.just(b"\x03\xe8bye"), st.binary(max_size=400)
    ),
    is_masked=st.sampled_from([True] * 20 + [False]),
    width=st.integers(0, 2),
)
streams = st.lists(st.one_of(plain, usual, st.binary(max_size=12)), max_size=12).map(b"".join)


lengths = st.lists(st.integers(1, 200), max_size=30)


@settings(max_examples=50, deadline=None)
@given(streams, lengths)
@example(frame(0x82, b"a") + frame(0x02, b"b") + frame(0x89, b"p") + frame(0x82, b"c"), [])
@example(frame(0x02, b"a") + frame(0x80, b"b") + frame(0x82, b"c"), [1, 5, 1])
@example(frame(0x82, bytes(MOST)) + frame(0x82, bytes(MOST + 1)), [7])
@example(frame(0x82, b"a") + frame(0x82, b"b", is_masked=False), [3])
@example(frame(0x88, b"\x03\xe8") + frame(0x82, b"after the end"), [])
@example(frame(0x82, b"a") * 9, [])
def test_whatever_comes_in_whatever_pieces_the_same_is_told_and_answered(data: bytes, cuts: list[int]) -> None:
    check_that_the_same_is_told_and_answered(data, cuts)


@pytest.mark.soak
@settings(max_examples=500, deadline=None)
@given(streams, lengths)
def test_of_many_more_streams_the_same_is_told_and_answered(data: bytes, cuts: list[int]) -> None:
    check_that_the_same_is_told_and_answered(data, cuts)


def check_that_the_same_is_told_and_answered(data: bytes, cuts: list[int]) -> None:
    """The library gets one byte after the other: what came in one piece with something malformed, it forgets."""
    pieces, at = [], 0
    for length in cuts:
        pieces.append(data[at : at + length])
        at += length
    pieces.append(data[at:])
    slowly = [data[at : at + 1] for at in range(len(data))]

    async def both() -> None:
        ours, librarys = await heard(QuickProtocol, pieces), await heard(WebSocketsSansIOProtocol, slowly)
        if librarys[0][-1]["code"] in MALFORMED:
            *messages, end = ours[0]
            assert (messages, end["code"] in MALFORMED, ours[2]) == (librarys[0][: len(messages)], True, True)
        else:
            assert ours == librarys

    asyncio.run(both())


async def test_a_frame_that_came_before_the_answer_is_not_lost() -> None:
    first, second = frame(0x82, b"before"), frame(0x82, b"after")
    for cut in range(1, len(first) + 1):
        pieces, early = [first[cut:] + second], first[:cut]
        assert await heard(QuickProtocol, pieces, early=early) == await heard(
            WebSocketsSansIOProtocol, pieces, early=early
        )


async def test_the_quick_way_is_taken() -> None:
    """Or all of the above would say nothing."""
    taken: list[bytes] = []

    class Watched(QuickProtocol):
        def _take(self, data: bytes) -> None:
            taken.append(data)
            super()._take(data)

    sent = [frame(0x82, b"plain") + frame(0x81, b"text") + frame(0x89, b"")]
    told, written, ended = await heard(Watched, sent, echo=True)
    assert taken == [b"plain"]
    assert [message.get("bytes") or message.get("text") for message in told[1:-1]] == [b"plain", "text"]
    assert (written.partition(b"\r\n\r\n")[2], ended) == (b"\x8a\x00\x82\x05plain\x81\x04text", False)
    assert Opcode.BINARY == frames.BINARY & 0x0F
