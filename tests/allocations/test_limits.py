"""Machines that end by themselves: told before, extended in one call, never ended while anything shows work."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from gpuaas.domain.allocations.limits import Calm, Decision, End, LimitsWorker, Warn, decide, idle_since
from gpuaas.domain.metrics import store as metrics
from gpuaas.domain.metrics.store import Signal
from gpuaas.wire.allocations import Status
from gpuaas.wire.metrics import Metric, Reading, Sample
from tests.allocations.rows import NOON, row
from tests.world import World

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
EXPIRING = {"expires_at": NOON + HOUR}
WARNED = {**EXPIRING, "expiry_warned_at": NOON + 50 * MINUTE}
IDLE = {"idle_minutes": 30}
TOLD_IDLE = {**IDLE, "idle_warned_at": NOON + 20 * MINUTE}


@pytest.mark.parametrize(
    ("fields", "rest", "after", "expected"),
    [
        ({}, NOON, 1000 * HOUR, None),
        (EXPIRING, None, 49 * MINUTE, None),
        (EXPIRING, None, 51 * MINUTE, Warn),
        (WARNED, None, 59 * MINUTE, None),
        (WARNED, None, 60 * MINUTE, End),
        (EXPIRING, None, 5 * HOUR, Warn),
        ({**EXPIRING, "expiry_warned_at": NOON + 5 * HOUR}, None, 5 * HOUR + MINUTE / 2, None),
        ({**EXPIRING, "expiry_warned_at": NOON + 5 * HOUR}, None, 5 * HOUR + MINUTE, End),
        (IDLE, NOON, 19 * MINUTE, None),
        (IDLE, NOON, 20 * MINUTE, Warn),
        (TOLD_IDLE, NOON, 29 * MINUTE, None),
        (TOLD_IDLE, NOON, 30 * MINUTE, End),
        (TOLD_IDLE, None, 30 * MINUTE, Calm),
        (TOLD_IDLE, NOON + 25 * MINUTE, 30 * MINUTE, Calm),
        (IDLE, None, 1000 * HOUR, None),
    ],
)
def test_a_machine_ends_only_when_it_was_told_and_its_time_is_over(
    fields: dict[str, object], rest: object, after: timedelta, expected: type[Decision] | None
) -> None:
    found = decide(row(Status.ACTIVE, **fields), rest, NOON + after)  # type: ignore[arg-type]
    assert type(found) is (expected or type(None))


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.ACTIVE, Status.RESTART_FAILED}))
def test_what_is_not_up_is_left_to_whoever_works_on_it(status: Status) -> None:
    assert decide(row(status, **WARNED), NOON, NOON + 5 * HOUR) is None


CPU = Signal(kind="cpu", last_at=NOON + MINUTE)
SSH = Signal(kind="ssh_sessions", last_at=None)
TERMINAL = Signal(kind="terminal", last_at=NOON + 2 * MINUTE)
BLIND = "no sample for 90 s"


def test_a_signal_that_cannot_be_read_is_taken_for_work() -> None:
    simulated, real = row(Status.ACTIVE, simulated=True), row(Status.ACTIVE, simulated=False)
    assert idle_since([CPU, SSH], simulated) == NOON + MINUTE
    assert idle_since([CPU, SSH, TERMINAL], simulated) == NOON + 2 * MINUTE
    assert idle_since([CPU, SSH], real) is None
    assert idle_since([CPU, replace(SSH, unavailable=BLIND)], simulated) is None
    assert idle_since([replace(CPU, unavailable=BLIND), SSH], simulated) is None
    assert idle_since([], simulated) is None


async def look(world: World, id: str) -> None:
    worker = next(worker for worker in world.services.workers if isinstance(worker, LimitsWorker))
    await worker(id)


async def test_people_are_told_and_then_it_is_released_with_the_reason(world: World) -> None:
    ends = world.clock.now() + timedelta(hours=2)
    a = await world.allocation(expires_at=ends.isoformat())
    await look(world, a)
    assert (await world.seen(a))["limits"]["expiry_warned_at"] is None
    world.clock.advance(minutes=115)
    await look(world, a)
    assert (await world.seen(a))["limits"]["expiry_warned_at"] is not None
    assert (await world.timeline(a))[-1].phase == "expiry_near"
    assert await world.value("select count(*) from outbox where topic = 'allocation.expiry_near'") == 1
    world.clock.advance(minutes=6)
    await look(world, a)
    shown = await world.seen(a)
    assert (shown["status"], shown["status_reason"]) == ("releasing", "the allocation reached its end")


async def test_one_call_extends_it_and_the_warning_starts_over(world: World) -> None:
    a = await world.allocation(expires_at=(world.clock.now() + timedelta(hours=2)).isoformat())
    world.clock.advance(minutes=115)
    await look(world, a)
    answer = await world.http.post(f"/api/v1/allocations/{a}/extend", json={"hours": 4})
    limits = answer.raise_for_status().json()["limits"]
    assert limits["expiry_warned_at"] is None
    world.clock.advance(minutes=30)
    await look(world, a)
    assert (await world.get(a)).status is Status.ACTIVE
    answer = await world.http.post(f"/api/v1/allocations/{a}/extend", json={"expires_at": None})
    assert answer.json()["limits"]["expires_at"] is None


@pytest.mark.parametrize(
    "body",
    [
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"expires_at": "2090-01-01T00:00:00"},
        {"hours": 0},
        {"hours": 1, "expires_at": None},
        {"idle_minutes": 0},
        {"idle_minutes": 1},
        {"years": 1},
    ],
)
async def test_an_end_that_cannot_be_meant_is_refused_and_changes_nothing(
    world: World, body: dict[str, object]
) -> None:
    a = await world.allocation()
    answer = await world.http.post(f"/api/v1/allocations/{a}/extend", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")
    assert (await world.seen(a))["limits"] == {
        "expires_at": None,
        "expiry_warned_at": None,
        "idle_minutes": None,
        "idle_warned_at": None,
    }


@pytest.mark.parametrize("limit", [{"idle_minutes": 0}, {"expires_at": "now"}])
async def test_an_allocation_with_a_limit_of_zero_is_not_created(world: World, limit: dict[str, Any]) -> None:
    if "expires_at" in limit:
        limit = {"expires_at": world.clock.now().isoformat()}
    await world.nodes.add()
    answer = await world.submit(**limit)
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")
    assert (await world.http.get(f"/api/v1/projects/{world.ada.project_id}/allocations")).json()["items"] == []


async def measured(world: World, id: str, cpu_seconds: float) -> None:
    """As its node would say it: so much processor time, nobody connected."""
    at = world.clock.now()
    readings = (
        Reading(metric=Metric.CPU, source="cgroup", value=cpu_seconds),
        Reading(metric=Metric.SSH_SESSIONS, source="the door", value=0),
    )
    sample = Sample(allocation_id=id, boot=1, at=at, readings=readings)
    async with world.db.write() as tx:
        await metrics.write(tx, [((await world.get(id)).node_id, sample)])


async def test_an_idle_machine_is_told_then_released_and_work_stops_the_clock(world: World) -> None:
    a = await world.allocation(idle_minutes=30)
    for minutes in (0, 25):
        world.clock.advance(minutes=minutes)
        await measured(world, a, 1.0)
    await look(world, a)
    assert (await world.timeline(a))[-1].phase == "idle"
    world.clock.advance(seconds=10)
    await measured(world, a, 9.0)
    await look(world, a)
    assert (await world.seen(a))["limits"]["idle_warned_at"] is None
    for minutes in (25, 6):
        world.clock.advance(minutes=minutes)
        await measured(world, a, 9.0)
        await look(world, a)
    assert (await world.seen(a))["status_reason"] == "idle for 30 minutes"


async def test_whoever_extends_an_idle_machine_keeps_it(world: World) -> None:
    a = await world.allocation(idle_minutes=30)
    for minutes in (0, 25):
        world.clock.advance(minutes=minutes)
        await measured(world, a, 1.0)
    await look(world, a)
    assert (await world.timeline(a))[-1].phase == "idle"
    (await world.http.post(f"/api/v1/allocations/{a}/extend", json={"hours": 4})).raise_for_status()
    world.clock.advance(minutes=10)
    await measured(world, a, 1.0)
    await look(world, a)
    shown = (await world.http.get(f"/api/v1/allocations/{a}/limits")).json()
    assert (await world.get(a)).status is Status.ACTIVE
    assert 1190 < shown["idle_ends_in_seconds"] < 1210


async def test_a_limit_shorter_than_the_rest_so_far_still_shows_the_notice_as_time_left(world: World) -> None:
    a = await world.allocation(idle_minutes=30)
    await measured(world, a, 1.0)
    world.clock.advance(minutes=60)
    await measured(world, a, 1.0)
    shown = (await world.http.get(f"/api/v1/allocations/{a}/limits")).json()
    assert shown["idle_ends_in_seconds"] == 60


async def test_the_time_left_is_shown_with_every_signal_behind_it(world: World) -> None:
    a = await world.allocation(idle_minutes=30, expires_at=(world.clock.now() + timedelta(hours=2)).isoformat())
    shown = (await world.http.get(f"/api/v1/allocations/{a}/limits")).raise_for_status().json()
    assert 7100 < shown["expires_in_seconds"] < 7200
    assert (shown["idle_since"], shown["idle_ends_at"]) == (None, None)
    await measured(world, a, 1.0)
    world.clock.advance(minutes=10)
    shown = (await world.http.get(f"/api/v1/allocations/{a}/limits")).json()
    assert 1100 < shown["idle_ends_in_seconds"] < 1210
    assert {one["kind"] for one in shown["signals"] if not one["unavailable"]} == {"cpu", "ssh_sessions"}


async def test_a_machine_nobody_measures_is_never_found_idle(world: World) -> None:
    a = await world.allocation(idle_minutes=30)
    world.clock.advance(days=30)
    await look(world, a)
    assert (await world.get(a)).status is Status.ACTIVE


async def test_what_a_release_ends_and_leaves_is_said_before(world: World) -> None:
    a = await world.allocation()
    said = {
        of: (await world.http.get(f"/api/v1/allocations/{a}/consequences", params={"of": of})).json()
        for of in ("release", "restart", "resize")
    }
    assert "local disk" in [each["what"] for each in said["release"]["lost"]]
    for of in ("restart", "resize"):
        assert "local disk" in [each["what"] for each in said[of]["survives"]]
        assert "processes" in [each["what"] for each in said[of]["lost"]]
        (gpus,) = (each["detail"] for each in said[of]["lost"] if each["what"] == "GPU memory")
        assert "GPU 0: reset (simulated) before it starts again." in gpus
    answer = await world.http.get(f"/api/v1/allocations/{a}/consequences", params={"of": "sneeze"})
    assert answer.status_code == 422
