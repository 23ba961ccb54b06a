"""One machine that goes through everything that can be done with it, and what is around it."""

from functools import partial
from typing import Any

import asyncssh

from tests.crash import guests
from tests.crash.harness import unsettled
from tests.crash.portraits import differences, portrait
from tests.crash.stages import Stage
from tests.crash.verbs import access, machines, runtimes, sessions, storage
from tests.crash.verbs.cases import Case

MEASURED_LONG_AGO = """
    with told as (update node_tasks set result = null where lane = 'volume:' || $1)
    update volumes set used_at = used_at - interval '1 hour' where id = $1
"""
MEASURED = "select from node_tasks where kind = 'volume.measure' and status = 'done'"
CONFORMED = "select passed from storage_conformance_runs where ended_at is not null"
LOOK_SECONDS = 15.0  # what is due by itself is looked for every five


class Life:
    """Of its guests one was let in and shut out, one is in, one held it for a while; one key of its person opened it
    for a while."""

    def __init__(self, on: Stage) -> None:
        self.on, self.case = on, Case("life")
        self.gone, self.kept, self.heir, self.other = (Case(name) for name in ("gone", "kept", "heir", "other"))

    @property
    def id(self) -> str:
        return self.case.allocation_id

    async def begin(self) -> None:
        await machines.furnished(self.on, self.case)
        for one in (self.gone, self.kept, self.heir, self.other):
            one.allocation_id, one.notes["boot"] = self.id, self.case.notes["boot"]

    async def extend(self) -> None:
        await machines.limit(self.on, self.case)
        await machines.extend(self.on, self.case)
        await self.on.reach(lambda: machines.not_extended(self.on, self.case))

    async def share(self) -> None:
        on = self.on
        for guest in (self.gone, self.kept):
            guest.notes |= await guests.welcome(on, self.id, guest.key)
            await access.grant(on, guest)
            await on.reach(partial(access.not_let_in, on, guest))
        await access.revoke(on, Case("revoke", self.id, self.gone.notes))
        await on.reach(lambda: access.not_shut_out(on, self.gone))

    async def pass_around(self) -> None:
        """To somebody else and back, to another key and back."""
        on, person = self.on, (await self.on.row(self.id))["holder_id"]
        self.heir.notes |= await guests.welcome(on, self.id, self.heir.key)
        await access.hand_over(on, self.heir)
        await on.reach(lambda: access.not_handed_over(on, self.heir))
        keys: dict[str, object] = {"ssh_key_ids": [on.key_id]}
        place, token = f"/allocations/{self.id}", self.heir.notes["token"]
        await on.post(f"{place}/handover", {"user_id": person, **keys}, key="back", token=token)
        await on.reach(lambda: access.not_shut_out(on, self.heir))
        await access.add_key(on, self.other)
        await access.change_keys(on, self.other)
        await on.reach(lambda: access.not_exchanged(on, self.other))
        await on.post(f"{place}/ssh-keys", keys, key="keys-back", method="PUT")
        await on.reach(lambda: access.not_shut_out(on, self.other))

    async def seat(self, guest: Case) -> None:
        """By SSH, and in it until somebody cuts them."""
        guest.connection = await self.on.enter(self.id, asyncssh.import_private_key(guest.notes["key"]))

    async def end_a_session(self) -> None:
        sitting = Case("sitting", self.id)
        await sessions.sit_down(self.on, sitting)
        await sessions.end(self.on, sitting)
        await self.on.reach(lambda: sessions.not_cut(self.on, sitting))

    async def mount(self) -> None:
        await storage.store(self.on, self.case)
        await storage.attach(self.on, self.case)
        await self.on.reach(lambda: storage.not_attached(self.on, self.case))

    async def copy(self) -> None:
        """A snapshot, a volume made of it that goes its own way, and the end of the snapshot and of another volume."""
        on, case = self.on, self.case
        await storage.snapshot(on, case)
        await on.reach(lambda: storage.not_taken(on, case))
        await on.says(self.id, "echo later > /data/kept")
        await storage.restore(on, case)
        await on.reach(lambda: storage.not_restored(on, case))
        await on.says(self.id, "echo kept > /data/kept")
        (on.storage / case.notes["restored"] / "data" / "kept").write_text("its own\n")
        await storage.drop_snapshot(on, case)
        brief = await storage.make_volume(on, case, "brief")
        await on.reach(lambda: storage.volume_is_not(on, brief, "available"))
        await storage.erase(on, case, brief)

    async def look_after(self) -> None:
        """What the platform itself wants to know of storage."""
        on = self.on
        ((node_id,),) = await on.query("select id from nodes")
        place = "/admin/storage-backends/shared/conformance"
        await on.post(place, {"node_id": node_id}, key="conformance", token=on.operator)

        async def not_done(sql: str) -> str:
            return "" if await on.query(sql) else f"nothing yet of {sql}"

        await on.reach(lambda: not_done(CONFORMED))
        await on.query(MEASURED_LONG_AGO, self.case.notes["volume"])
        await on.reach(lambda: not_done(MEASURED), LOOK_SECONDS)

    async def unstage(self) -> None:
        case = Case("unstaged")
        await runtimes.shelved(self.on, case)
        await runtimes.unstage(self.on, case)
        await self.on.reach(lambda: runtimes.not_unstaged(self.on, case))

    async def equip(self) -> None:
        on, case = self.on, self.case
        await runtimes.equip(on, case)
        await runtimes.clear(on, case)
        await on.reach(lambda: runtimes.not_cleared(on, case))

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

    async def end(self) -> None:
        """The machine, its volume and the copy of that, if there is one."""
        await storage.give_all_back(self.on, self.case)
        if copy := self.case.notes.get("restored"):
            await storage.erase(self.on, self.case, copy)
        await self.on.reach(lambda: unsettled(self.on))

    async def portrait(self) -> dict[str, Any]:
        known = (self.gone, self.kept, self.heir, self.other)
        seen = await portrait(self.on, self.id, {one.key: one.notes["key"] for one in known if "key" in one.notes})
        return seen | {"kept is inside": not self.kept.is_cut}

    async def expect_unchanged(self, before: dict[str, Any]) -> None:
        await self.on.reach(lambda: unsettled(self.on))
        after = await self.portrait()
        assert {name: (before[name], after[name]) for name in differences(before, after)} == {}
