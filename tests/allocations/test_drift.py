"""What a node reports against what should be there: judged purely, then acted on."""

from datetime import timedelta

import pytest

from gpuaas.domain.allocations.observations.drift import (
    SLACK,
    UNCLEAR,
    Ahead,
    Finding,
    Lost,
    Orphan,
    Rebooted,
    Unclear,
    Unknown,
    judge,
)
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.metrics.store import Finding as HealthFinding
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.link import Report
from tests.allocations.rows import NOON, environment, row
from tests.world import World

ACTIVE = row(Status.ACTIVE)
BOOTED_TWICE = row(Status.ACTIVE, boot=2)
RELEASED = row(Status.RELEASED, cleanup_proven_at=NOON)
STOPPED, BROKEN, UNKNOWN = EnvironmentState.STOPPED, EnvironmentState.BROKEN, EnvironmentState.UNKNOWN
OLD_BOOT = "the environment was found at an older boot"


def finding(state: EnvironmentState) -> HealthFinding:
    code, words, next_step = UNCLEAR[state]
    return HealthFinding(code=code, words=f"{words}: .", next_step=next_step)


CASES: dict[str, tuple[list[AllocationRow], list[Environment], list[Finding]]] = {
    "an empty node with nothing on it is well": ([], [], []),
    "a machine where it should be is well": ([ACTIVE], [environment()], []),
    "a machine that is not there is lost": ([ACTIVE], [], [Lost(ACTIVE)]),
    "a stopped machine is booted again": (
        [ACTIVE],
        [environment(state=STOPPED)],
        [Rebooted(ACTIVE, "the environment was found stopped")],
    ),
    "a broken environment may still run, and is only shown": (
        [ACTIVE],
        [environment(state=BROKEN)],
        [Unclear(ACTIVE, finding(BROKEN))],
    ),
    "an environment that the node could not look at is only shown": (
        [ACTIVE],
        [environment(state=UNKNOWN)],
        [Unclear(ACTIVE, finding(UNKNOWN))],
    ),
    "an unknown state at an older boot is only shown": (
        [BOOTED_TWICE],
        [environment(state=UNKNOWN, boot=1)],
        [Unclear(BOOTED_TWICE, finding(UNKNOWN))],
    ),
    "what was released and could not be looked at is no orphan": ([RELEASED], [environment(state=UNKNOWN)], []),
    "a machine at an older boot is booted again": (
        [BOOTED_TWICE],
        [environment(boot=1)],
        [Rebooted(BOOTED_TWICE, OLD_BOOT)],
    ),
    "a newer boot than ordered is kept": ([ACTIVE], [environment(boot=2)], [Ahead(ACTIVE, 2)]),
    "what was released is an orphan": ([RELEASED], [environment()], [Orphan(RELEASED)]),
    "what was released and is gone is well": ([RELEASED], [], []),
    "what nobody heard of is only named": ([], [environment("alloc_x")], [Unknown(environment("alloc_x"))]),
    "a failed one is left to its own cleanup": ([row(Status.FAILED)], [environment()], []),
    **{
        f"one that is {status} is left to its reconciler": ([row(status)], [], [])
        for status in Status
        if status not in (Status.ACTIVE, Status.RELEASED)
    },
}


@pytest.mark.parametrize("case", CASES)
def test_judge(case: str) -> None:
    rows, environments, expected = CASES[case]
    assert judge(rows, Report(environments=environments, at=NOON + 2 * SLACK)) == expected


@pytest.mark.parametrize("age", [SLACK / 2, timedelta(0), -SLACK])
def test_a_report_older_than_what_it_is_judged_against_finds_nothing(age: timedelta) -> None:
    assert judge([ACTIVE, RELEASED], Report(environments=[], at=NOON + age)) == []


async def test_a_machine_missing_on_a_node_that_is_back_has_failed_with_a_reason(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    node.environments.clear()
    await world.nodes.report(node)
    shown = await world.seen(a)
    assert (shown["status"], shown["billing"]["state"]) == ("failed", "stopped")
    assert shown["status_reason"].startswith("node_lost")


async def test_a_machine_that_stopped_unasked_restarts_with_the_next_boot_number(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    node.environments[a].state = EnvironmentState.STOPPED
    await world.nodes.report(node)
    assert ((await world.get(a)).status, (await world.get(a)).boot) == (Status.RESTARTING, 2)
    await world.nodes.settle()
    row = await world.get(a)
    assert (row.status, row.boot, row.observed_boot) == (Status.ACTIVE, 2, 2)
    assert node.boots == [(a, 1), (a, 2)]
    assert row.billing_stopped_at is None


async def test_an_environment_of_unknown_state_is_shown_with_a_reason_and_never_restarted(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    node.blind = "EMFILE Too many open files"
    for _ in range(3):
        await world.nodes.report(node)
    shown = await world.seen(a)
    assert (shown["status"], shown["boot"], shown["health"]) == ("active", 1, "unknown")
    (reason,) = shown["health_reasons"]
    assert (reason["code"], "EMFILE" in reason["words"]) == ("environment_unknown", True)
    node.blind = ""
    await world.nodes.report(node)
    shown = await world.seen(a)
    assert (shown["health_reasons"], shown["health"]) == ([], "ok")
    assert node.boots == [(a, 1)]


async def test_the_same_report_twice_restarts_once(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    node.environments[a].state = EnvironmentState.STOPPED
    await world.nodes.report(node)
    await world.nodes.report(node)
    assert (await world.get(a)).boot == 2


async def test_an_orphan_of_a_released_machine_is_removed(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    kept = node.environments[a]
    await world.release(a)
    await world.nodes.settle()
    node.environments[a] = kept
    assert [type(finding) for finding in await world.nodes.report(node)] == [Orphan]
    await world.nodes.settle()
    assert node.environments == {}
    assert (await world.get(a)).status is Status.RELEASED


async def test_a_machine_nobody_heard_of_is_shown_and_never_removed(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    node.environments["alloc_of_a_lost_backup"] = node.environments[a]
    await world.nodes.report(node)
    await world.nodes.settle()
    assert "alloc_of_a_lost_backup" in node.environments
    shown = await world.value("select unknown_environments from nodes where id = $1", node.id)
    assert shown == ["alloc_of_a_lost_backup"]
