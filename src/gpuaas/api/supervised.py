"""A streamed answer that counts as an open stream, and is cut when its reader loses the right to read it."""

from collections.abc import AsyncIterator, Awaitable, Callable

from gpuaas.domain.quotas.open_streams import OpenStream


async def supervised(
    body: AsyncIterator[bytes], held: OpenStream, judge: Callable[[], Awaitable[object]]
) -> AsyncIterator[bytes]:
    """A body that counts as an open stream until it is sent. `judge` raises when the reader has lost the right to read:
    then the connection is cut, so that an incomplete answer cannot be mistaken for a complete one."""
    try:
        async for part in body:
            await judge()
            yield part
    finally:
        held.close()
