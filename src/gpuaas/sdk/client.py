"""The two clients: the same resources, with results or with awaitables."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Self

from gpuaas.sdk.exchange import Exchange, Options
from gpuaas.sdk.routes.all_resources import Resources
from gpuaas.sdk.runners import AsyncRunner, SyncRunner

DEFAULTS = Options()


class Client(Resources[SyncRunner]):
    """`with Client("https://gpuaas.example.com", token) as client: client.auth.me()`."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        options: Options = DEFAULTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(SyncRunner(Exchange(url, token, options), sleep=sleep))

    def close(self) -> None:
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Resources[AsyncRunner]):
    """`async with AsyncClient("https://gpuaas.example.com", token) as client: await client.auth.me()`."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        options: Options = DEFAULTS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(AsyncRunner(Exchange(url, token, options), sleep=sleep))

    async def close(self) -> None:
        await self._runner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
