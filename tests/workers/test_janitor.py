"""What has served its time is swept out, and nothing else."""

from gpuaas.domain.workers.janitor import Janitor
from tests.world import World

KEYS = "insert into idempotency (caller, route, key, request_hash, expires_at) values ('c', 'r', $1, 'h', {at})"


async def test_expired_keys_go_and_live_ones_stay(world: World) -> None:
    async with world.services.worker_db.write() as tx:
        await tx.run(KEYS.format(at="clock_timestamp() - interval '1 second'"), "old")
        await tx.run(KEYS.format(at="clock_timestamp() + interval '1 hour'"), "live")
    await Janitor(world.services.worker_db)("expired")
    async with world.services.worker_db.read() as tx:
        assert await tx.column("select key from idempotency where caller = 'c'") == ["live"]


async def test_an_event_nobody_has_seen_is_kept_however_old(world: World) -> None:
    async with world.services.worker_db.write() as tx:
        await tx.run("delete from outbox")
        await tx.run(
            "insert into outbox (topic, payload, created_at, delivered_at) values "
            "('waiting', '{}', 'epoch', null), ('told', '{}', 'epoch', 'epoch')"
        )
    await Janitor(world.services.worker_db)("expired")
    async with world.services.worker_db.read() as tx:
        assert await tx.column("select topic from outbox") == ["waiting"]
