"""The platform at a glance, as an operator sees it."""

import json

from gpuaas.wire.overview import Capacity, Operations, Overview, Queue, Requests
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi

OVERVIEW = Overview(
    at=samples.NOON,
    queues=[Queue(name="node_tasks", waiting=3, oldest_seconds=61.0)],
    operations=Operations(running=2, oldest_running_seconds=5.0, ended_last_hour=9, failed_last_hour=1),
    nodes={"active": 4, "offline": 1},
    capacity=Capacity(approved=32, claimed=10, free=20, blocked=2),
    allocations={"active": 7, "release_failed": 1},
    links=3,
    replicas=2,
    requests=Requests(
        replica_started_at=samples.NOON,
        total=100,
        server_errors=1,
        refused=9,
        raced=0,
        p50_seconds=0.0025,
        p95_seconds=0.01,
        p99_seconds=None,
    ),
    alerts=[],
    workers=[samples.worker()],
)


def test_an_operator_sees_what_waits_what_fails_and_what_there_is(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/admin/overview", Answer(OVERVIEW))
    ran = terminal.run("admin", "overview")
    assert ran.code == 0
    for words in (
        "4 active, 1 offline",
        "32 approved: 10 claimed, 20 free, 2 blocked",
        "7 active, 1 release failed",
        "2 running, the oldest for 5.00 s; of 9 ended in an hour 1 failed",
        "half within 2.5 ms, 95 % within 10 ms",
        "1 m 01 s",
    ):
        assert words in ran.out


def test_a_program_gets_all_of_it(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/admin/overview", Answer(OVERVIEW))
    ran = terminal.run("admin", "overview", "-o", "json")
    assert json.loads(ran.out)["capacity"]["blocked"] == 2
