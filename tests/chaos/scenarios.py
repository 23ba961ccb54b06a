"""What happens to a rig while its clients work. Each scenario leaves everything running again."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.chaos.rig import Rig

Scenario = Callable[[Rig], Awaitable[None]]
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
TERMINATE = (
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'gpuaas' and pid <> pg_backend_pid()"
)


class Unavailable(Exception):
    """This machine lacks what the scenario needs."""


async def sigkill_in_flight(rig: Rig) -> None:
    for replica in rig.replicas:
        await rig.rest(1.5)
        replica.kill()
        await rig.rest(1.5)


async def repeated_kills(rig: Rig) -> None:
    for number in range(12):
        rig.programs[number % len(rig.programs)].kill()
        await rig.rest(1.2)


async def agents_killed(rig: Rig) -> None:
    for _ in range(3):
        for agent in rig.agents:
            agent.kill()
        await rig.rest(2)


async def database_restart(rig: Rig) -> None:
    await asyncio.to_thread(rig.servers.primary.stop, "fast")
    await rig.rest(3)
    await asyncio.to_thread(rig.servers.primary.start)
    await rig.rest(2)


async def immediate_stops(rig: Rig) -> None:
    for _ in range(50):
        await asyncio.to_thread(rig.servers.primary.stop, "immediate")
        await asyncio.to_thread(rig.servers.primary.start)
        await rig.rest(0.4)


async def backends_terminated(rig: Rig) -> None:
    for _ in range(15):
        await sql(rig, TERMINATE)
        await rig.rest(0.4)


async def failover(rig: Rig) -> None:
    """No acknowledged write is lost: commits wait for the standby."""
    await asyncio.to_thread(rig.servers.add_standby)
    await sql(rig, "alter system set synchronous_standby_names = '*'")
    await asyncio.to_thread(rig.servers.primary.reload)
    await rig.rest(4)
    await asyncio.to_thread(rig.servers.fail_over)
    await rig.rest(4)


async def failover_that_lost_writes(rig: Rig) -> None:
    """The standby is seconds behind: what was acknowledged meanwhile is gone, and environments of it are unknown."""
    await asyncio.to_thread(rig.servers.add_standby)
    await asyncio.to_thread(rig.servers.lose_touch)
    await rig.rest(5)
    await asyncio.to_thread(rig.servers.fail_over)
    await rig.rest(6)


async def out_of_connections(rig: Rig) -> None:
    await sql(rig, "alter database gpuaas connection limit 2")
    await sql(rig, TERMINATE)
    await rig.rest(6)
    await sql(rig, "alter database gpuaas connection limit -1")
    await rig.rest(2)


async def pool_exhausted(rig: Rig) -> None:
    """Every statement that needs this table waits: connections, then clients."""
    async with rig.database() as database:
        for _ in range(3):
            async with database.transaction():
                await database.execute("lock table operations in access exclusive mode")
                await rig.rest(4)
            await rig.rest(1)


async def retry_storm(rig: Rig) -> None:
    """Clients that do not wait between two tries, while nothing answers, and then everything at once."""
    assert rig.load is not None
    usual, rig.load.pause = rig.load.pause, 0.01
    try:
        for _ in range(3):
            await asyncio.to_thread(rig.servers.primary.stop, "immediate")
            await rig.rest(2)
            await asyncio.to_thread(rig.servers.primary.start)
            await rig.rest(2)
    finally:
        rig.load.pause = usual


async def slow_database(rig: Rig) -> None:
    for _ in range(12):
        rig.servers.primary.freeze()
        await rig.rest(0.8)
        rig.servers.primary.thaw()
        await rig.rest(0.2)


async def frozen_database(rig: Rig) -> None:
    rig.servers.primary.freeze()
    await rig.rest(10)
    rig.servers.primary.thaw()
    await rig.rest(2)


async def read_only(rig: Rig) -> None:
    await sql(rig, "alter system set default_transaction_read_only = on")
    await asyncio.to_thread(rig.servers.primary.reload)
    await rig.rest(7)
    async with rig.database() as database:
        await database.execute("set default_transaction_read_only = off")
        await database.execute("alter system reset default_transaction_read_only")
    await asyncio.to_thread(rig.servers.primary.reload)
    await rig.rest(3)


async def disk_full(rig: Rig) -> None:
    """The database's own disk, a small one, until nothing can be written; it is started again if it stopped."""
    if not rig.servers.is_small:
        raise Unavailable("a small disk needs root: it is a mount of its own")
    with rig.servers.full_disk():
        await rig.rest(8)
    if not await asyncio.to_thread(rig.servers.primary.is_up):
        await asyncio.to_thread(rig.servers.primary.stop, "immediate")
        await asyncio.to_thread(rig.servers.primary.start)
    await rig.rest(2)


async def frozen_replica(rig: Rig) -> None:
    rig.replicas[0].freeze()
    await rig.rest(9)
    rig.replicas[0].thaw()
    await rig.rest(3)


async def frozen_agent(rig: Rig) -> None:
    rig.agents[0].freeze()
    await rig.rest(9)
    rig.agents[0].thaw()
    await rig.rest(3)


async def links_cut(rig: Rig) -> None:
    rig.balancer.is_cut = True
    rig.balancer.cut()
    await rig.rest(20)
    rig.balancer.is_cut = False
    await rig.rest(3)


async def clock_wrong(rig: Rig) -> None:
    """One replica runs ten minutes ahead, and an allocation that ends in eight is told to people by its holder."""
    assert rig.load is not None
    if not FAKETIME.exists():
        raise Unavailable("Debian's package faketime is not installed")
    for id in sorted(rig.load.record.kept):
        await rig.load.ask("POST", f"/allocations/{id}/extend", {"hours": 0.13})
    replica, usual = rig.replicas[0], dict(rig.replicas[0].environ)
    replica.environ |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME": "+10m", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    replica.kill()
    try:
        await rig.rest(float(os.environ.get("GPUAAS_CHAOS_CLOCK_SECONDS", "90")))
    finally:
        replica.environ = usual
        replica.kill()
    for id in sorted(rig.load.record.kept):
        await rig.load.ask("POST", f"/allocations/{id}/extend", {"hours": 24})
    await rig.rest(2)


async def sql(rig: Rig, statement: str) -> None:
    """As the superuser, on whichever server is in service."""
    async with rig.database() as database:
        await database.execute(statement)


SCENARIOS: dict[str, Scenario] = {
    each.__name__: each
    for each in (
        sigkill_in_flight,
        repeated_kills,
        agents_killed,
        database_restart,
        immediate_stops,
        backends_terminated,
        failover,
        out_of_connections,
        pool_exhausted,
        retry_storm,
        slow_database,
        frozen_database,
        read_only,
        disk_full,
        frozen_replica,
        frozen_agent,
        links_cut,
        clock_wrong,
        failover_that_lost_writes,
    )
}
