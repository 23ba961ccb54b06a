"""Tasks that come twice, late or out of order leave a machine as it would have been without."""

import os
from functools import partial
from typing import Any

import pytest

from tests.crash import guests
from tests.crash.harness import unsettled
from tests.crash.portraits import differences, portrait
from tests.crash.stages import Stage, stage
from tests.crash.verbs import access, machines, runtimes, storage
from tests.crash.verbs.cases import Case

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
KINDS = {
    *("environment.ensure", "allocation.install_authorized_keys", "runtime.stage", "runtime.write_env_file"),
    *("volume.ensure", "volume.attach", "volume.detach"),
}
TASKS = "select id, kind from node_tasks order by id"
# As the server would send it after losing its own memory; or as one that the node never heard of, which was held up.
AGAIN = "update node_tasks set status = 'queued', result = null, ended_at = null where id = $1 returning id, node_id"
LATE = """
    update node_tasks set id = id || 'l', status = 'queued', result = null, ended_at = null
    where id = $1 returning id, node_id
"""
# To a node that does not remember what came before: nothing it was told is newer than this, keys by their generation.
FORGOTTEN = """
    update node_tasks t set id = id || 'f', status = 'queued', result = null, ended_at = null,
        seq = (select max(seq) + 1 from node_tasks o where o.allocation_id = t.allocation_id),
        wants = case when wants ? 'keys' then jsonb_set(wants, '{keys,generation}', '1000') else wants end
    where id = $1 returning id, node_id
"""
FORGETTING = {
    "allocation.install_authorized_keys": "gone is let in",
    "volume.attach": "mounts inside",
    "runtime.write_env_file": "runtime inside",
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


class Life:
    """One machine that has been through everything, and two guests: one was let in and shut out, one is in."""

    def __init__(self, on: Stage) -> None:
        self.on, self.case = on, Case("life")
        self.gone, self.kept = Case("gone"), Case("kept")

    @property
    def id(self) -> str:
        return self.case.allocation_id

    async def begin(self) -> None:
        on, case = self.on, self.case
        await machines.furnished(on, case)
        await storage.store(on, case)
        await storage.attach(on, case)
        await on.reach(lambda: storage.not_attached(on, case))
        for guest in (self.gone, self.kept):
            guest.allocation_id = self.id
            guest.notes |= await guests.welcome(on, self.id, guest.key)
            await access.grant(on, guest)
            await on.reach(partial(access.not_let_in, on, guest))
        await access.revoke(on, Case("revoke", self.id, self.gone.notes))
        await on.reach(lambda: access.not_shut_out(on, self.gone))
        await runtimes.equip(on, case)
        await on.reach(lambda: unsettled(on))

    async def boot_again(self) -> None:
        on, case = self.on, self.case
        await machines.restart(on, Case("restart", self.id, case.notes))
        await on.reach(lambda: machines.not_back(on, case))
        case.notes["boot"] = str((await on.row(self.id))["boot"])
        await machines.resize(on, Case("resize", self.id, case.notes))
        await on.reach(lambda: machines.not_resized(on, case))
        await on.reach(lambda: storage.attachment_is_not(on, case, "attached"))
        await runtimes.apply(on, Case("apply", self.id, case.notes))
        await on.reach(lambda: runtimes.not_applied(on, case))

    async def leave_a_volume(self) -> None:
        detaching = Case("detach", self.id, self.case.notes)
        await storage.detach(self.on, detaching)
        await self.on.reach(lambda: storage.not_detached(self.on, detaching))
        await self.on.reach(lambda: unsettled(self.on))

    async def portrait(self) -> dict[str, Any]:
        return await portrait(self.on, self.id, {each.key: each.notes["key"] for each in (self.gone, self.kept)})

    async def expect_unchanged(self, before: dict[str, Any]) -> None:
        await self.on.reach(lambda: unsettled(self.on))
        after = await self.portrait()
        assert {name: (before[name], after[name]) for name in differences(before, after)} == {}


async def test_a_life_whose_tasks_come_twice_late_and_out_of_order_is_as_any_other() -> None:
    async with stage() as on:
        async with on.connected() as connection:
            await connection.execute(SEND_TWICE)
        life = Life(on)
        await life.begin()
        await life.boot_again()
        before = await life.portrait()
        assert (before["gone is let in"], before["kept is let in"]) == (False, True)
        twice = {row["kind"] for row in await on.query("select kind from node_tasks where attempt > 1")}
        assert twice >= {"environment.ensure", "runtime.stage"}  # a quick one may be done before its second sending
        await tell_again(on, life, before)
        await life.leave_a_volume()
        tasks = await on.query(TASKS)
        assert {row["kind"] for row in tasks} >= KINDS
        before = await life.portrait()
        for row in reversed(tasks):
            await deliver(on, AGAIN, row["id"])
        await life.expect_unchanged(before)
        await storage.give_all_back(on, life.case)
        await on.reach(lambda: unsettled(on))
        for row in await on.query(TASKS):
            assert await deliver(on, AGAIN, row["id"]) != "done" or row["kind"] in ("runtime.stage", "volume.delete")
        await on.reach(lambda: unsettled(on))
        assert on.machine.processes_of(life.id) == set()
        assert not (on.storage / life.case.notes["volume"]).exists()


async def tell_again(on: Stage, life: Life, before: dict[str, Any]) -> None:
    """Each as it was and under a name the node never heard, the newest first: all of the machine's are too late."""
    for sql in (AGAIN, LATE):
        for row in reversed(await on.query(TASKS)):
            answer = await deliver(on, sql, row["id"])
            belongs_to_the_node = row["kind"] in ("runtime.stage", "volume.ensure", "volume.measure")
            assert answer == ("done" if belongs_to_the_node else "superseded"), row["kind"]
        await life.expect_unchanged(before)


async def test_a_node_that_forgot_the_order_of_things_is_seen() -> None:
    """The twin: the oldest task of a lane, taken for the newest."""
    async with stage() as on:
        life = Life(on)
        await life.begin()
        await life.leave_a_volume()
        for kind, seen in FORGETTING.items():
            before = await life.portrait()
            (oldest,) = await on.query("select id from node_tasks where kind = $1 order by id limit 1", kind)
            assert await deliver(on, FORGOTTEN, oldest["id"]) == "done"
            assert seen in differences(before, await life.portrait())
