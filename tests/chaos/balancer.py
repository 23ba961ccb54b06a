"""One address for all replicas, as a load balancer gives it: whoever dials is passed on to the next that answers."""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import suppress


class Balancer:
    def __init__(self, ports: Sequence[int]) -> None:
        self._ports, self._turn = ports, itertools.count()
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.is_cut = False
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self.cut()
        if self._server:
            self._server.close()

    def cut(self) -> None:
        """End every connection; while `is_cut` stays set there are no new ones."""
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = None if self.is_cut else await self._dial()
        if upstream is None:
            writer.transport.abort()
            return
        pair = {writer, upstream[1]}
        self._open |= pair
        try:
            await asyncio.gather(copy(reader, upstream[1]), copy(upstream[0], writer))
        finally:
            self._open -= pair
            for each in pair:
                each.transport.abort()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        first = next(self._turn)
        for number in range(len(self._ports)):
            with suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", self._ports[(first + number) % len(self._ports)])
        return None


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
