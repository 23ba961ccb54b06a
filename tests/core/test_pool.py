"""Connections that are lent, and when one is not used again."""

import asyncio
from typing import Any

from gpuaas.core.pool import Pool


class StubConnection:
    is_terminated = False

    def is_closed(self) -> bool:
        return self.is_terminated

    def is_in_transaction(self) -> bool:
        return False

    def terminate(self) -> None:
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
