"""What has served its time is swept out, and nothing else."""

import pytest

from gpuaas.domain import registry
from gpuaas.domain.workers.janitor import Janitor
from gpuaas.wire.allocations import Status
from tests import peek
from tests.world import World

KEYS = "insert into idempotency (caller, route, key, request_hash, expires_at) values ('system', 'r', $1, 'h', {at})"


async def test_expired_keys_go_and_live_ones_stay(world: World) -> None:
    async with world.services.worker_db.write() as tx:
        await tx.run(KEYS.format(at="clock_timestamp() - interval '1 second'"), "old")
        await tx.run(KEYS.format(at="clock_timestamp() + interval '1 hour'"), "live")
    await Janitor(world.services.worker_db, world.clock, sweeps=registry.SWEEPS)("expired")
    async with world.services.worker_db.read() as tx:
        assert await tx.column("select key from idempotency where caller = 'system'") == ["live"]


async def test_an_event_nobody_has_seen_is_kept_however_old(world: World) -> None:
    async with world.services.worker_db.write() as tx:
        await tx.run("delete from outbox")
        await tx.run(
            "insert into outbox (topic, payload, created_at, delivered_at) values "
            "('waiting', '{}', 'epoch', null), ('told', '{}', 'epoch', 'epoch')"
        )
    await Janitor(world.services.worker_db, world.clock, sweeps=registry.SWEEPS)("expired")
    async with world.services.worker_db.read() as tx:
        assert await tx.column("select topic from outbox") == ["waiting"]


@pytest.mark.parametrize("table", ["sessions", "tokens"])
@pytest.mark.parametrize(
    ("expired", "revoked", "stays"),
    [(None, None, True), (29, None, True), (31, None, False), (None, 29, True), (None, 31, False), (40, 29, False)],
)
async def test_credentials_go_a_month_after_their_end(
    world: World, table: str, expired: int | None, revoked: int | None, stays: bool
) -> None:
    made = {
        "sessions": "(id, token_hash, user_id, device, address, created_at, expires_at, revoked_at) values "
        "('it', 'h', $1, '', '', 'epoch', {expires}, {revoked})",
        "tokens": "(id, token_hash, user_id, title, scopes, created_at, expires_at, revoked_at) values "
        "('it', 'h', $1, '', '{{read}}', 'epoch', {expires}, {revoked})",
    }
    values = {
        "expires": f"now() - interval '{expired} days'" if expired else "now() + interval '1 hour'",
        "revoked": f"now() - interval '{revoked} days'" if revoked else "null",
    }
    await peek.plant(world.db, f"insert into {table} {made[table].format(**values)}", world.ada.id)
    await Janitor(world.services.worker_db, world.clock, sweeps=registry.SWEEPS)("expired")
    assert await world.value(f"select count(*) from {table} where id = 'it'") == int(stays)
    assert (await world.http.get("/api/v1/me")).status_code == 200


async def test_an_enrolment_token_goes_a_day_after_its_use_or_its_end(world: World) -> None:
    node = await world.nodes.add()
    await peek.plant(
        world.db,
        "insert into enrolment_tokens (token_hash, node_id, created_by, expires_at, used_at) values "
        "('old', $1, '', now() - interval '25 hours', null), ('used', $1, '', now(), now() - interval '25 hours'), "
        "('fresh', $1, '', now() + interval '1 hour', null), ('just', $1, '', now() - interval '1 hour', null)",
        node.id,
    )
    await Janitor(world.services.worker_db, world.clock, sweeps=registry.SWEEPS)("expired")
    left = {bytes(row["token_hash"]) for row in await peek.rows(world.db, "select token_hash from enrolment_tokens")}
    assert left >= {b"fresh", b"just"}
    assert not left & {b"old", b"used"}


async def test_of_a_machine_long_gone_only_its_last_task_is_kept(world: World) -> None:
    gone, recent, live = [await world.allocation(Status.ACTIVE) for _ in range(3)]
    for id in (gone, recent):
        await world.bring(id, Status.RELEASED)
    await peek.plant(world.db, "update node_tasks set ended_at = now() - interval '31 days'")
    await peek.plant(
        world.db,
        "insert into task_logs (operation_id, tenant_id, allocation_id, task_id, seq, at, line)"
        " select operation_id, '', allocation_id, id, 0, now() - interval '31 days', 'x' from node_tasks",
    )
    await peek.plant(
        world.db, "update allocations set cleanup_proven_at = now() - interval '31 days' where id = $1", gone
    )
    await Janitor(world.services.worker_db, world.clock, sweeps=registry.SWEEPS)("expired")
    kept = {gone: ["environment.remove"], recent: ["environment.ensure", "environment.remove"]}
    for id, kinds in {**kept, live: ["environment.ensure"]}.items():
        rows = await peek.rows(world.db, "select id, kind from node_tasks where allocation_id = $1 order by seq", id)
        assert [row["kind"] for row in rows] == kinds
        logs = await world.value(
            "select count(*) from task_logs where task_id = any ($1)", [str(row["id"]) for row in rows]
        )
        assert logs == (0 if id == gone else len(kinds))


async def test_of_a_node_the_newest_task_of_each_lane_is_kept(world: World) -> None:
    """The next one is numbered on from it."""
    node = await world.nodes.add()
    await peek.plant(
        world.db,
        "insert into node_tasks (id, node_id, lane, seq, boot, kind, wants, status, created_at, ended_at)"
        " select lane || seq, $1, lane, seq, 0, 'volume.measure', '{}', 'done', now(), now() - age * interval '1 day'"
        " from (values ('a', 1, 40), ('a', 2, 31), ('a', 3, 31), ('b', 1, 40), ('c', 1, 29), ('c', 2, 1))"
        " as old (lane, seq, age)",
        node.id,
    )
    await Janitor(world.services.worker_db, world.clock, sweeps=registry.SWEEPS)("expired")
    left = await peek.rows(world.db, "select id from node_tasks where node_id = $1 order by id", node.id)
    assert [row["id"] for row in left] == ["a3", "b1", "c1", "c2"]
