"""Tasks that come twice, late or out of order leave a machine as it would have been without."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gpuaas.wire.tasks import TaskKind
from tests.crash.harness import unsettled
from tests.crash.lives import Life
from tests.crash.portraits import differences
from tests.crash.stages import Stage, stage
from tests.crash.theatres import Theatre

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolated networks need root")

# Whatever is sent the first time is sent once more at once.
SEND_TWICE = """
    create function send_twice() returns trigger language plpgsql as $$
    begin
        if new.status = 'sent' and new.attempt = 1 then
            new.status := 'queued';
            perform pg_notify('gpuaas_hints', json_build_array(
                'twice', json_build_array(json_build_array('node_tasks', new.node_id)))::text);
        end if;
        return new;
    end $$;
    create trigger send_twice before update on node_tasks for each row execute function send_twice();
"""
FORGET_TWICE = "drop function send_twice cascade"
LAST = "select coalesce(max(id), '') from node_tasks"
TASKS = "select id, kind from node_tasks where id > $1 order by id"
NEWEST = """
    select distinct on (node_id, allocation_id, lane) id from node_tasks
    order by node_id, allocation_id, lane, seq desc
"""
# The others are for environments and volumes that the database does not know.
OF_A_LIFE = set(TaskKind) - {TaskKind.REMOVE_UNKNOWN, TaskKind.VOLUME_REMOVE_UNKNOWN}
# As the server would send it after losing its own memory; or as one that the node never heard of, which was held up.
AGAIN = "update node_tasks set status = 'queued', result = null, ended_at = null where id = $1 returning id, node_id"
LATE = """
    update node_tasks set id = id || 'l', status = 'queued', result = null, ended_at = null
    where id = $1 returning id, node_id
"""
# To a node that does not remember what came before: nothing it was told is newer than this, keys by their generation.
FORGOTTEN = """
    update node_tasks t set id = id || 'f', status = 'queued', result = null, ended_at = null,
        seq = (select max(seq) + 1 from node_tasks),
        wants = case when wants ? 'keys' then jsonb_set(wants, '{keys,generation}', '1000') else wants end
    where id = $1 returning id, node_id
"""
FORGETTING = {
    TaskKind.INSTALL_KEYS: "keys",  # a generation beyond the server's, which it overtakes with the wanted keys
    TaskKind.VOLUME_ATTACH: "mounts inside",
    TaskKind.WRITE_RUNTIME: "runtime inside",
    TaskKind.STAGE_RUNTIME: "bundles on disk",
}
HINT = """
    select pg_notify('gpuaas_hints',
        json_build_array('test', json_build_array(json_build_array('node_tasks', $1::text)))::text)
"""


async def deliver(on: Stage, sql: str, task_id: str) -> str:
    """Once more, and how it was answered."""
    ((id, node_id),) = await on.query(sql, task_id)
    await on.query(HINT, node_id)
    answered: list[str] = []

    async def is_open() -> str:
        answered[:] = [row["status"] for row in await on.query("select status from node_tasks where id = $1", id)]
        return f"{id} is {answered[0]}" if answered[0] in ("queued", "sent") else ""

    await on.reach(is_open)
    return answered[0]


async def deliver_all(on: Stage, sql: str, *, after: str = "") -> set[str]:
    """Each task after this one once more, the newest first; the kinds they were of. An older task of a lane is too
    late. The newest may be done again, which changes nothing, or is of an earlier boot and refused: its result may have
    been lost with other writes of the database."""
    tasks = await on.query(TASKS, after)
    newest = {row["id"] for row in await on.query(NEWEST)}
    for row in reversed(tasks):
        answer = await deliver(on, sql, row["id"])
        assert answer == "superseded" or (answer in ("done", "refused") and row["id"] in newest), (row, answer)
    return {row["kind"] for row in tasks}


@asynccontextmanager
async def sending_twice(on: Stage) -> AsyncIterator[None]:
    async with on.connected() as connection:
        await connection.execute(SEND_TWICE)
        try:
            yield
        finally:
            await connection.execute(FORGET_TWICE)


async def test_a_sample_of_tasks_that_come_twice_late_and_out_of_order_changes_nothing(theatre: Theatre) -> None:
    on = await theatre.stage()
    ((last,),) = await on.query(LAST)
    life = Life(on)
    async with sending_twice(on):
        await life.begin()
        await life.share()
        await life.mount()
        await on.reach(lambda: unsettled(on))
        before = await life.portrait()
        assert {name for name in ("gone", "kept") if before[f"{name} is let in"]} == {"kept"}
        twice = {row["kind"] for row in await on.query("select kind from node_tasks where attempt > 1")}
        assert TaskKind.ENSURE in twice  # a quick one may be done before its second sending
        await deliver_all(on, LATE, after=last)
        await life.expect_unchanged(before)
        await life.leave_a_volume()
        await life.end()
        delivered = await deliver_all(on, AGAIN, after=last)
        assert delivered >= {TaskKind.ENSURE, TaskKind.INSTALL_KEYS, TaskKind.VOLUME_ATTACH, TaskKind.REMOVE}
        await on.reach(lambda: unsettled(on))
    assert on.machine.processes_of(life.id) == set()


@pytest.mark.soak
async def test_a_life_whose_tasks_come_twice_late_and_out_of_order_is_as_any_other() -> None:
    async with stage() as on, sending_twice(on):
        life = Life(on)
        await go_through_all(life)
        before = await life.portrait()
        assert {name for name in ("gone", "kept", "heir", "other") if before[f"{name} is let in"]} == {"kept"}
        twice = {row["kind"] for row in await on.query("select kind from node_tasks where attempt > 1")}
        assert twice >= {TaskKind.ENSURE, TaskKind.STAGE_RUNTIME}
        for sql in (AGAIN, LATE):
            await deliver_all(on, sql)
            await life.expect_unchanged(before)
        await life.leave_a_volume()
        before = await life.portrait()
        assert await deliver_all(on, AGAIN) == OF_A_LIFE - {TaskKind.REMOVE}
        await life.expect_unchanged(before)
        await life.end()
        assert await deliver_all(on, AGAIN) == OF_A_LIFE
        await on.reach(lambda: unsettled(on))
        assert on.machine.processes_of(life.id) == set()


async def go_through_all(life: Life) -> None:
    await life.begin()
    await life.extend()
    await life.share()
    await life.pass_around()
    await life.end_a_session()
    await life.mount()
    await life.copy()
    await life.look_after()
    await life.unstage()
    await life.equip()
    await life.boot_again()
    await life.seat(life.kept)
    await life.on.reach(lambda: unsettled(life.on))


@pytest.mark.soak
async def test_a_node_that_forgot_the_order_of_things_is_seen() -> None:
    """The twin: the oldest task of a lane, taken for the newest."""
    async with stage() as on:
        life = Life(on)
        await life.begin()
        await life.share()
        await life.mount()
        await life.unstage()
        await life.equip()
        await life.leave_a_volume()
        for kind, seen in FORGETTING.items():
            before = await life.portrait()
            (oldest,) = await on.query("select id from node_tasks where kind = $1 order by id limit 1", kind)
            assert await deliver(on, FORGOTTEN, oldest["id"]) == "done"
            assert seen in differences(before, await life.portrait())
