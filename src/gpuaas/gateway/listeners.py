"""Listening sockets of the gateway: one port and one session socket per environment, and the control socket."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

from gpuaas.engines.node.ports import PAUSE_SECONDS, try_listen

BACKLOG = 128
ACCEPTS = 64  # per iteration of the event loop


async def listen(address: str, port: int, seconds: float) -> socket.socket | None:
    """Bind the port; None if another program uses it for that long. A forked child may hold a copy of the previous
    listener until its exec."""
    for _ in range(max(1, round(seconds / PAUSE_SECONDS))):
        if (listener := try_listen(address, port)) is not None:
            return listener
        await asyncio.sleep(PAUSE_SECONDS)
    return None


def listen_unix(path: Path, mode: int) -> socket.socket:
    """Bind through the folder's descriptor, because a socket path is limited to 107 bytes. Replace the socket of an
    ended gateway."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    previous = os.umask(0o777 & ~mode)
    try:
        fresh = f"{path.name}.new"
        path.with_name(fresh).unlink(missing_ok=True)
        listener.bind(f"/proc/self/fd/{folder}/{fresh}")
        listener.listen(BACKLOG)
        listener.setblocking(False)
        path.with_name(fresh).rename(path)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(previous)
        os.close(folder)
    return listener


class Acceptor:
    """Calls `on_accept` with each connection in the event loop."""

    def __init__(self, listener: socket.socket, on_accept: Callable[[socket.socket], None]) -> None:
        self.listener, self._on_accept = listener, on_accept
        listener.setblocking(False)
        asyncio.get_running_loop().add_reader(listener.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(ACCEPTS):
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # no connection is waiting, or it was closed again
            connection.setblocking(False)
            self._on_accept(connection)

    def pause(self) -> None:
        if self.listener.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self.listener.fileno())

    def close(self) -> None:
        self.pause()
        self.listener.close()
