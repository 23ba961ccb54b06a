"""Tasks that come twice, late or out of order change nothing on the node."""

import os

import pytest

from tests.crash.harness import unsettled
from tests.crash.stages import Stage, stage
from tests.crash.verbs import (
    VERBS,
    Case,
    Verb,
    detach,
    equipped,
    furnished,
    give_all_back,
    give_back,
    inhabited,
    not_attached,
    not_detached,
    with_a_volume,
)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolated networks need root")

AGAIN = "update node_tasks set status = 'queued', result = null, ended_at = null where kind = $1 returning id"
LATER = "select status from node_tasks where kind = $1 and attempt > 1"


async def deliver_again(on: Stage, kind: str) -> list[str]:
    """The same task, sent once more by the server as it would be after losing its own memory; how it was answered."""
    await on.query(AGAIN, kind)
    await on.reach(lambda: unsettled(on))
    return [row["status"] for row in await on.query(LATER, kind)]


async def test_a_task_delivered_again_or_after_its_removal_changes_nothing() -> None:
    async with stage() as on:
        case = Case("only")
        await inhabited(on, case)
        await on.reach(lambda: unsettled(on))
        before = on.machine.processes_of(case.allocation_id)
        assert before
        assert await deliver_again(on, "environment.ensure") == ["superseded"]
        assert on.machine.processes_of(case.allocation_id) == before
        await give_back(on, case)
        await on.reach(lambda: unsettled(on))
        assert await deliver_again(on, "environment.ensure") == ["superseded"]
        assert await deliver_again(on, "environment.remove") == ["superseded"]
        assert on.machine.processes_of(case.allocation_id) == set()


@pytest.mark.parametrize("verb", [VERBS["restart"], VERBS["resize"]], ids=["restart", "resize"])
async def test_an_older_boot_delivered_after_a_newer_one_changes_nothing(verb: Verb) -> None:
    async with stage() as on:
        case = Case("only")
        await furnished(on, case)
        await verb.act(on, case)
        await on.reach(lambda: verb.missing(on, case))
        await on.reach(lambda: unsettled(on))
        before = on.machine.processes_of(case.allocation_id)
        assert before
        assert await deliver_again(on, "environment.ensure") == ["superseded", "superseded"]
        assert on.machine.processes_of(case.allocation_id) == before
        assert await verb.missing(on, case) == ""
        await give_back(on, case)


async def test_a_runtime_delivered_again_late_or_out_of_order_changes_nothing() -> None:
    async with stage() as on:
        case = Case("only")
        await equipped(on, case)
        await VERBS["apply"].act(on, case)
        await on.reach(lambda: VERBS["apply"].missing(on, case))
        await on.reach(lambda: unsettled(on))
        assert set(await deliver_again(on, "runtime.write_env_file")) == {"superseded"}
        assert await VERBS["apply"].missing(on, case) == ""
        assert set(await deliver_again(on, "runtime.stage")) == {"done"}
        assert await VERBS["apply"].missing(on, case) == ""
        await give_back(on, case)
        await on.reach(lambda: unsettled(on))
        assert set(await deliver_again(on, "runtime.write_env_file")) == {"superseded"}


async def test_an_attach_delivered_after_its_detach_does_not_mount_again() -> None:
    async with stage() as on:
        case = Case("only")
        await with_a_volume(on, case)
        assert await deliver_again(on, "volume.attach") == ["superseded"]
        assert await not_attached(on, case) == ""
        detaching = Case("off", case.allocation_id, case.notes)
        await detach(on, detaching)
        await on.reach(lambda: not_detached(on, detaching))
        assert await deliver_again(on, "volume.attach") == ["superseded"]
        assert await deliver_again(on, "volume.detach") == ["superseded"]
        assert await not_detached(on, detaching) == ""
        await give_all_back(on, case)
        await deliver_again(on, "volume.ensure")
        assert not (on.folder / "storage" / case.notes["volume"]).exists()
