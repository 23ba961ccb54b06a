"""Sockets that the gateway listens on: one port and one session socket per environment, and the control socket."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path

from gpuaas.engines.node.ports import PAUSE_SECONDS, try_listen

BACKLOG = 128
ACCEPTS = 64  # per turn of the loop


async def listen(address: str, port: int, seconds: float) -> socket.socket | None:
    """None when another program has the port for that long. A child that has not run its program yet may hold a copy
    of the last listener for a moment."""
    for _ in range(max(1, round(seconds / PAUSE_SECONDS))):
        if (listener := try_listen(address, port)) is not None:
            return listener
        await asyncio.sleep(PAUSE_SECONDS)
    return None


def listen_unix(path: Path, mode: int) -> socket.socket:
    """Bound through the folder's descriptor: a socket path may not be longer than 107 bytes. A socket of a gateway
    that is gone is replaced."""
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
    """Calls `on_accept` with each connection, in the loop."""

    def __init__(self, listener: socket.socket, on_accept: Callable[[socket.socket], None]) -> None:
        self.listener, self._on_accept = listener, on_accept
        listener.setblocking(False)
        asyncio.get_running_loop().add_reader(listener.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(ACCEPTS):
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # nobody is left, or whoever came has gone again
            connection.setblocking(False)
            self._on_accept(connection)

    def pause(self) -> None:
        if self.listener.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self.listener.fileno())

    def close(self) -> None:
        self.pause()
        self.listener.close()
