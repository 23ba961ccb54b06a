"""A streamed response that counts as an open stream, and is aborted when its reader loses the permission."""

from collections.abc import AsyncIterator, Awaitable, Callable

from gpuaas.domain.quotas.open_streams import OpenStream


async def supervised(
    body: AsyncIterator[bytes], held: OpenStream, judge: Callable[[], Awaitable[object]]
) -> AsyncIterator[bytes]:
    """A body that counts as an open stream until it is sent. `judge` raises when the reader has lost the permission:
    then the connection is aborted, so that an incomplete response cannot be mistaken for a complete one.
    """
    try:
        async for part in body:
            await judge()
            yield part
    finally:
        held.close()
