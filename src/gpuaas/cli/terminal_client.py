"""The client side of a terminal: sends typed keys to the terminal of an allocation and prints its output."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from gpuaas.wire.terminals import SUBPROTOCOL, Error, Exit, Notice, Resize, Session, to_browser

HAS_TERMIOS = find_spec("termios") is not None  # not on Windows
if HAS_TERMIOS:
    import termios
    import tty

LEAVE = b"\x1d"  # Ctrl-]
READ = 65_536


@dataclass
class Outcome:
    session_id: str = ""
    exit_code: int | None = None
    reason: str = ""
    has_left: bool = False
    is_lost: bool = True  # until it is known to be anything else


async def connect_terminal(url: str, token: str, *, pause: float = 0) -> Outcome:
    await asyncio.sleep(pause)
    outcome, protocols = Outcome(), [SUBPROTOCOL, token]
    try:
        dialled: Any = connect(url, subprotocols=protocols, compression=None, open_timeout=15)  # type: ignore[arg-type]
        async with dialled as socket:
            with raw(sys.stdin.fileno()):
                await converse(socket, outcome)
    except (OSError, WebSocketException) as error:
        outcome.reason = outcome.reason or str(error)
    return outcome


@contextmanager
def raw(descriptor: int) -> Iterator[None]:
    """Every key goes to the machine; put back whatever happens."""
    before = termios.tcgetattr(descriptor)
    tty.setraw(descriptor)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


async def converse(socket: ClientConnection, outcome: Outcome) -> None:
    loop, keys = asyncio.get_running_loop(), asyncio.Queue[bytes]()
    resized = asyncio.Event()
    resized.set()
    loop.add_reader(sys.stdin.fileno(), lambda: keys.put_nowait(os.read(sys.stdin.fileno(), READ)))
    loop.add_signal_handler(signal.SIGWINCH, resized.set)
    tasks = {
        asyncio.create_task(show(socket, outcome)),
        asyncio.create_task(type_keys(socket, keys, outcome)),
        asyncio.create_task(tell_size(socket, resized)),
    }
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        loop.remove_reader(sys.stdin.fileno())
        loop.remove_signal_handler(signal.SIGWINCH)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def show(socket: ClientConnection, outcome: Outcome) -> None:
    async for message in socket:
        if isinstance(message, bytes):
            sys.stdout.buffer.write(message)
            sys.stdout.buffer.flush()
            continue
        match to_browser.decode(message):
            case Session(session_id=id, notice=notice):
                outcome.session_id = id
                if notice:
                    sys.stdout.buffer.write(f"{notice}\r\n".encode())
            case Exit(code=code):
                outcome.exit_code, outcome.is_lost = code, False
            case Error(reason=reason, reattach=reattach):
                outcome.reason, outcome.is_lost = reason, reattach
            case Notice(text=text):
                sys.stdout.buffer.write(f"\r\n{text}\r\n".encode())
    if socket.close_code is not None and not outcome.session_id:  # refused before it began
        outcome.reason, outcome.is_lost = outcome.reason or "the token was refused", False


async def type_keys(socket: ClientConnection, keys: asyncio.Queue[bytes], outcome: Outcome) -> None:
    while typed := await keys.get():
        before, found, _ = typed.partition(LEAVE)
        if before:
            await socket.send(before)
        if found:
            break
    outcome.has_left, outcome.is_lost = True, False


async def tell_size(socket: ClientConnection, resized: asyncio.Event) -> None:
    while True:
        await resized.wait()
        resized.clear()
        await socket.send(msgspec.json.encode(size_of(sys.stdout.fileno())).decode())


def size_of(descriptor: int) -> Resize:
    """A serial line or a script's terminal says 0 by 0: it does not know, and is taken for an ordinary one."""
    size = os.get_terminal_size(descriptor)
    return Resize(cols=size.columns or 80, rows=size.lines or 24)
