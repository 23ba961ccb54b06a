"""SEC7: one unauthenticated connection cannot stall the front end or hold it open; SEC9: who may speak for others.

Each attack runs twice: with the limits it is refused, and with the limits taken away (the red twin) it succeeds.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from gpuaas.core import settings
from gpuaas.core.settings import Settings
from gpuaas.main.front_end import FrontEndLimits
from gpuaas.main.server import listener
from gpuaas.main.websockets import FIRST_BYTES
from tests.attacks.web_server import HOST, UNLIMITED, WebServer, app, web_server
from tests.patience import PATIENCE_SECONDS

PIECE = b"a" * 8_192
LIMITS = FrontEndLimits()
PATIENT = replace(LIMITS, head_seconds=600.0, request_seconds=600.0)
HASTY = replace(LIMITS, head_seconds=0.2, request_seconds=0.2)
ENDLESS = {
    "header": (b"GET / HTTP/1.1\r\nHost: x\r\nX-Endless: ", PIECE),
    "headers": (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-Another: one\r\n" * 500),
    "url": (b"GET /", PIECE),
    "blank lines": (b"\r\n", b"\r\n" * 4_096),
    "method": (b"G", PIECE),
    "chunk extension": (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", PIECE),
    "trailer": (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Endless: ", PIECE),
    "pipeline": (b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 300),
}
REFUSED_BY_PARSER = {"method"}  # with or without limits
ATTACK_BYTES = 2 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("front-end")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[WebServer]:
    """Bytes decide here, never a loaded machine's clock."""
    with web_server(folder, PATIENT) as made:
        yield made


@pytest.fixture(scope="module")
def twin(folder: Path) -> Iterator[WebServer]:
    """The red twin: the same server with its limits taken away."""
    with web_server(folder, UNLIMITED) as made:
        yield made


@pytest.fixture(scope="module")
def hasty(folder: Path) -> Iterator[WebServer]:
    with web_server(folder, HASTY) as made:
        yield made


async def ended(reader: asyncio.StreamReader) -> bytes:
    received = b""
    with suppress(ConnectionResetError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while data := await reader.read(4_096):
                received += data
    return received


async def is_cut_off(server: WebServer, attack: str) -> bool:
    """Whether the server hung up before it had taken 2 MiB; responses are read and thrown away."""
    reader, writer = await server.open()
    first, piece = ENDLESS[attack]

    async def drain() -> None:
        with suppress(OSError):
            while await reader.read(1 << 16):
                pass

    reading = asyncio.create_task(drain())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            for data in [first, *repeat(piece, ATTACK_BYTES // len(piece))]:
                if reading.done():
                    return True
                writer.write(data)
                await writer.drain()
    except OSError:
        return True
    finally:
        reading.cancel()
        await asyncio.wait([reading])
        writer.close()
    return False


@pytest.mark.parametrize("attack", ENDLESS)
async def test_an_endless_request_is_refused_and_others_are_answered(attack: str, server: WebServer) -> None:
    attacking = asyncio.create_task(is_cut_off(server, attack))
    answers = await asyncio.gather(*(server.get() for _ in range(5)))
    assert all(answer.startswith("0 ") for answer in answers)
    assert await attacking
    assert (await server.get()).startswith("0 ")


@pytest.mark.parametrize("attack", sorted(ENDLESS.keys() - REFUSED_BY_PARSER))
async def test_without_limits_an_endless_request_is_taken(attack: str, twin: WebServer) -> None:
    assert not await is_cut_off(twin, attack)


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 20_000 + b"\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-One: 1\r\n" * 80 + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 10_000 + b"\r\nConnection: close\r\n\r\n", b"200"),
    ],
)
async def test_a_head_over_a_limit_gets_its_own_status(request_head: bytes, status: bytes, server: WebServer) -> None:
    reader, writer = await server.open()
    writer.write(request_head)
    assert (await ended(reader)).split()[1] == status
    writer.close()


SLOW = {
    "no byte": b"",
    "head": b"GET / HTTP/1.1\r\nHost: x\r\n",
    "body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345",
    "second head": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n",
    "body of a second": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1",
}
REST = {
    "no byte": b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "head": b"Connection: close\r\n\r\n",
    "body": b"67890GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "second head": b"Host: x\r\nConnection: close\r\n\r\n",
    "body of a second": b"23456789GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("attack", SLOW)
async def test_a_slow_request_is_given_up_and_without_limits_it_is_waited_for(
    attack: str, hasty: WebServer, twin: WebServer
) -> None:
    (reader, writer), (twin_reader, twin_writer) = await hasty.open(), await twin.open()
    writer.write(SLOW[attack])
    twin_writer.write(SLOW[attack])
    given_up = await ended(reader)
    assert given_up.count(b"HTTP/1.1 200") == SLOW[attack].count(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    twin_writer.write(REST[attack])  # long after the other was given up
    assert b"HTTP/1.1 200" in await ended(twin_reader)
    writer.close()
    twin_writer.close()


@pytest.fixture
async def idle() -> AsyncIterator[list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    opened: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    yield opened
    for _, writer in opened:
        writer.close()


@pytest.mark.parametrize("is_limited", [True, False])
async def test_idle_connections_of_one_address_push_out_each_other(
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]], folder: Path, twin: WebServer, *, is_limited: bool
) -> None:
    limits = replace(PATIENT, waiting_per_source=8, grace_seconds=0.0)
    with web_server(folder, limits) if is_limited else nullcontext(twin) as server:
        for _ in range(20):
            idle.append(await server.open())
            assert (await server.get()).startswith("0 ")  # so the one before was seen
        closed = [await reader.read() for reader, _ in idle[:12]] if is_limited else []
        assert closed == [b""] * len(closed)
        for reader, writer in idle[len(closed) :][-7:]:
            writer.write(REST["no byte"])
            assert (await ended(reader)).startswith(b"HTTP/1.1 200")
        if not is_limited:
            reader, writer = idle[0]
            writer.write(REST["no byte"])
            assert (await ended(reader)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("kind", [bytes, str])
@pytest.mark.parametrize("path", ["", "admitted"])
async def test_a_message_before_admission_is_small(kind: type[bytes | str], path: str, server: WebServer) -> None:
    small: Any = kind(b"a" * FIRST_BYTES) if kind is bytes else "a" * FIRST_BYTES
    async with connect(f"ws://{HOST}:{server.port}/{path}", max_size=None) as socket:
        await socket.send(small)
        assert await socket.recv() == small
        with suppress(ConnectionClosed):
            await socket.send(small + small)
        if path:
            assert await socket.recv() == small + small
            return
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd
        assert closed.value.rcvd.code == 1009


FORWARDED = [(b"x-forwarded-for", b"203.0.113.9, 198.51.100.7"), (b"x-forwarded-proto", b"https")]


@pytest.mark.parametrize(
    ("proxies", "seen"),
    [
        ("", "0 127.0.0.1 http"),
        ("10.0.0.0/8", "0 127.0.0.1 http"),
        ("127.0.0.1", "0 198.51.100.7 https"),
        ("127.0.0.0/8, 198.51.100.0/24", "0 203.0.113.9 https"),
    ],
)
async def test_only_listed_proxies_speak_for_others(proxies: str, seen: str) -> None:
    """On the old code the first two rows believed the header: loopback was trusted."""
    config = listener(app, Settings(data=Path(), trusted_proxies=proxies)).config
    config.load()
    scope = {"type": "http", "client": (HOST, 1), "scheme": "http", "headers": FORWARDED}
    answered: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        answered.append(message)

    await config.loaded_app(scope, receive, send)
    assert answered[-1]["body"].decode() == seen


def test_a_proxy_list_that_is_no_list_of_networks_is_an_error() -> None:
    for wrong in ("*", "proxy.example.com", "10.0.0.1/8"):
        with pytest.raises(settings.SettingsError, match="GPUAAS_TRUSTED_PROXIES"):
            _ = settings.load({"GPUAAS_TRUSTED_PROXIES": wrong}, data=Path()).proxies
