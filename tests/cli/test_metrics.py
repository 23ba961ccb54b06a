"""Metrics, health, logs and the live watch, as a person sees them."""

import json
from datetime import timedelta

import pytest

from gpuaas.wire.allocations import Health, Status
from gpuaas.wire.metrics import AllocationHealth, HealthReason, Metric, Metrics, Point, Series
from gpuaas.wire.timeline import LogLine, OperationStatus
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page

ROUTE = f"/allocations/{samples.ALLOCATION}"
OPERATION = f"/operations/{samples.OPERATION}"
FULL = HealthReason(
    code="disk_nearly_full", words="The local disk has 10 MiB left.", since=samples.NOON, next_step="Delete something."
)


def series(metric: Metric, unit: str, *values: float, why: str = "", device: str = "") -> Series:
    points = [
        Point(at=samples.NOON + timedelta(seconds=10 * number), value=value, low=value, high=value)
        for number, value in enumerate(values)
    ]
    return Series(
        metric=metric,
        device=device,
        unit=unit,
        source="a test",
        latest=None if why else values[-1],
        latest_at=samples.NOON,
        age_seconds=4.0,
        unavailable=why,
        points=points,
    )


@pytest.fixture
def measured(api: FakeApi) -> FakeApi:
    shown = Metrics(
        allocation_id=samples.ALLOCATION,
        range="1h",
        step_seconds=30,
        sampled_at=samples.NOON,
        age_seconds=4.0,
        unavailable="",
        series=[
            series(Metric.CPU, "cores", 0.0, 1.0, 2.0),
            series(Metric.MEMORY, "bytes", 1024.0, 1024.0 * 1024 * 3),
            series(Metric.GPU_UTILISATION, "percent", why="simulated GPU: there is nothing to measure", device="0"),
        ],
    )
    health = AllocationHealth(
        allocation_id=samples.ALLOCATION, health="degraded", reasons=[FULL], sampled_at=samples.NOON, age_seconds=4.0
    )
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation()))
    api.on("GET", ROUTE, Answer(samples.allocation(health=Health.DEGRADED, health_reasons=[FULL])))
    api.on("GET", f"{ROUTE}/metrics", Answer(shown))
    api.on("GET", f"{ROUTE}/health", Answer(health))
    return api


def test_metrics_show_now_a_line_over_time_source_and_age(terminal: Terminal, measured: FakeApi) -> None:
    ran = terminal.run("metrics", "train-a")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[1].split() == ["cpu", "2.00", "cores", "▁▅█", "4", "s", "a", "test"]
    assert "3.0 MiB" in lines[2]
    assert "unavailable" in lines[3]
    assert "simulated GPU" in lines[3]
    assert "disk_nearly_full" in ran.out
    assert "health degraded" in ran.err


def test_metrics_for_a_program_are_json(terminal: Terminal, measured: FakeApi) -> None:
    ran = terminal.run("metrics", "train-a", "-o", "json")
    assert [one["metric"] for one in json.loads(ran.out)["series"]] == ["cpu", "memory", "gpu_utilisation"]


def test_a_card_says_why_and_what_next(terminal: Terminal, measured: FakeApi) -> None:
    measured.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation(health_reasons=[FULL])))
    ran = terminal.run("allocations", "get", "train-a")
    assert "The local disk has 10 MiB left. Delete something." in ran.out


def test_logs_are_shown_in_the_order_they_were_said(terminal: Terminal, measured: FakeApi) -> None:
    newest_first = [LogLine(seq=number, at=samples.NOON, line=f"line {number}") for number in (2, 1)]
    measured.on("GET", f"{ROUTE}/logs", page(*newest_first))
    ran = terminal.run("logs", "train-a")
    assert [line.split("  ")[1] for line in ran.out.splitlines()] == ["line 1", "line 2"]


def test_a_watch_tells_phases_and_health_until_it_comes_to_rest(terminal: Terminal, measured: FakeApi) -> None:
    starting = samples.allocation(status=Status.PROVISIONING, operation_id=samples.OPERATION)
    active = samples.allocation(operation_id=samples.OPERATION, health=Health.DEGRADED, health_reasons=[FULL])
    measured.on("GET", ROUTE, Answer(starting), Answer(active))
    measured.on("GET", f"{ROUTE}/events", Events((event(samples.entry(1)), event(samples.entry(2))), then="stay"))
    phases = [samples.phase("booting", 0.4), samples.phase("access_ready", 0.0)]
    measured.on("GET", OPERATION, Answer(samples.operation(OperationStatus.SUCCEEDED, *phases)))
    ran = terminal.run("allocations", "watch", "train-a")
    assert ran.code == 0
    assert ran.out.count("booting") == 1
    assert "train-a is provisioning" in ran.out
    assert "train-a is active, health degraded" in ran.out
    assert "Delete something." in ran.out
