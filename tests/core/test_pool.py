"""Connections that are lent, and when one is not used again."""

import asyncio
from typing import Any

from gpuaas.core.pool import Pool
from tests.patience import PATIENCE_SECONDS


class StubConnection:
    is_terminated = False

    def is_closed(self) -> bool:
        return self.is_terminated

    def is_in_transaction(self) -> bool:
        return False

    def terminate(self) -> None:
        self.is_terminated = True

    async def close(self, timeout: float) -> None:
        self.is_terminated = True


async def test_a_connection_that_was_being_opened_during_a_renewal_is_not_used() -> None:
    """It may lead to a server that is no longer the primary."""
    opened, may_open = list[StubConnection](), asyncio.Event()

    async def open_connection() -> Any:
        await may_open.wait()
        opened.append(StubConnection())
        return opened[-1]

    pool = Pool(open_connection, 1)
    taking = asyncio.create_task(pool.take())
    await asyncio.sleep(0)
    pool.renew()
    may_open.set()
    taken: Any = await taking
    assert [one.is_terminated for one in opened] == [True, False]
    assert taken is opened[1]
    pool.give(taken)
    assert await pool.take() is taken


async def test_connections_of_a_peak_are_closed_once_they_are_idle_and_one_stays() -> None:
    opened = list[StubConnection]()

    async def open_connection() -> Any:
        opened.append(StubConnection())
        return opened[-1]

    pool = Pool(open_connection, 3, idle_seconds=0.02)
    for connection in [await pool.take() for _ in range(3)]:
        pool.give(connection)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while [one.is_terminated for one in opened] != [True, True, False]:
            await asyncio.sleep(0.005)
    kept: Any = await pool.take()
    assert kept is opened[2]
    await pool.close()


async def test_a_connection_in_use_and_one_that_was_just_used_stay_open() -> None:
    async def open_connection() -> Any:
        return StubConnection()

    pool = Pool(open_connection, 3, idle_seconds=3600.0)
    lent: Any = await pool.take()
    others: list[Any] = [await pool.take() for _ in range(2)]
    for connection in others:
        pool.give(connection)
    pool._close_idle(asyncio.get_running_loop())
    assert not any(one.is_terminated for one in (lent, *others))
    await pool.close()


async def test_a_connection_may_be_taken_while_the_pool_is_being_closed() -> None:
    closing = asyncio.Event()

    class Slow(StubConnection):
        async def close(self, timeout: float) -> None:
            closing.set()
            await asyncio.sleep(0)
            await super().close(timeout)

    async def open_connection() -> Any:
        return Slow()

    pool = Pool(open_connection, 2)
    for connection in [await pool.take() for _ in range(2)]:
        pool.give(connection)
    task = asyncio.create_task(pool.close())
    await closing.wait()
    last: Any = await pool.take()
    pool.give(last)
    await task
    assert last.is_terminated
