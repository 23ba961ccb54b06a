"""Creating, watching, releasing: what a person sees meanwhile and gets in the end."""

import io
import json
from datetime import timedelta

import pytest
from msgspec import to_builtins
from msgspec.structs import replace
from rich.console import Console

from gpuaas.cli.progress import Picture
from gpuaas.wire.allocations import (
    Consequence,
    Consequences,
    CreateAllocation,
    Disruption,
    Limits,
    LimitsNow,
    Status,
    SubmittedAllocations,
    UseSignal,
)
from gpuaas.wire.common import Money
from gpuaas.wire.images import AllocationImage
from gpuaas.wire.storage import LaunchAttachment
from gpuaas.wire.timeline import OperationStatus, Outcome
from gpuaas.wire.usage import Cost
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page, problem

ROUTE = f"/allocations/{samples.ALLOCATION}"
LIST = f"/projects/{samples.PROJECT}/allocations"
OPERATION = f"/operations/{samples.OPERATION}"
REQUESTED = samples.allocation(status=Status.REQUESTED, connection=None)
SUBMITTED = Answer(SubmittedAllocations(allocations=[REQUESTED], group_id=None, operation_id=samples.OPERATION), 202)
RUNNING = samples.operation(OperationStatus.RUNNING, samples.phase("placing", 0.01), samples.phase("starting", None))
DONE = samples.operation(OperationStatus.SUCCEEDED, samples.phase("placing", 0.01), samples.phase("starting", 0.42))

CONSEQUENCES = Consequences(
    of=Disruption.RELEASE,
    lost=[Consequence(what="local disk", detail="erased for good")],
    survives=[Consequence(what="volume data", detail="stays attachable")],
    billing="Billing stops.",
)


@pytest.fixture
def ready(api: FakeApi) -> FakeApi:
    """An API that makes an allocation in two steps."""
    api.on("GET", "/skus", page(samples.sku()))
    api.on("GET", "/ssh-keys", page(samples.ssh_key("laptop", 1), samples.ssh_key("desk", 2)))
    api.on("POST", "/allocations", SUBMITTED)
    api.on("GET", f"{ROUTE}/events", Events((event(samples.entry(1)),), then="stay"))
    api.on("GET", OPERATION, Answer(RUNNING), Answer(DONE))
    api.on("GET", ROUTE, Answer(samples.allocation()))
    api.on("GET", LIST, page(samples.allocation()))
    api.on("GET", f"{ROUTE}/consequences", Answer(CONSEQUENCES))
    return api


def test_create_shows_its_phases_and_ends_with_the_way_in(terminal: Terminal, ready: FakeApi) -> None:
    ran = terminal.run("allocations", "create", "--name", "train-a")
    assert (ran.code, ran.out) == (0, "ssh -p 20001 ada@127.0.0.1\n")
    assert ran.err.splitlines() == [
        "placing  0.01 s",
        "starting  0.42 s",
        "train-a is active. Get in with: gpuaas ssh train-a",
    ]


def test_create_fills_in_what_there_is_no_choice_about(terminal: Terminal, ready: FakeApi) -> None:
    terminal.run("allocations", "create", "--no-wait")
    (seen,) = ready.asked("POST", "/allocations")
    assert seen.key
    assert seen.body == {
        "sku": "sim-h200-slice",
        "ssh_key_ids": [samples.id_of("key", 1), samples.id_of("key", 2)],
        "project_id": samples.PROJECT,
    }


def test_create_sends_what_it_was_told(terminal: Terminal, ready: FakeApi) -> None:
    line = "create --sku big --gpus 4 --size large --region eu-1 --key desk --name x --no-wait -o json"
    ran = terminal.run("allocations", *line.split())
    assert json.loads(ran.out)["status"] == "requested"
    body = ready.asked("POST", "/allocations")[0].body
    assert [body[name] for name in ("sku", "gpu_count", "size", "region", "name")] == ["big", 4, "large", "eu-1", "x"]
    assert body["ssh_key_ids"] == [samples.id_of("key", 2)]


def test_create_makes_volumes_in_the_same_submit(terminal: Terminal, ready: FakeApi) -> None:
    words = ("--new-volume", "out:50:/data", "--new-volume", "cache:5:/scratch:local")
    assert terminal.run("allocations", "create", *words, "--no-wait").code == 0
    sent = ready.asked("POST", "/allocations")[0].body["storage_attachments"]
    made = [(one["mount_path"], *(one["new_volume"][of] for of in ("name", "size_gib"))) for one in sent]
    assert made == [("/data", "out", 50), ("/scratch", "cache", 5)]
    assert sent[1]["new_volume"]["backend"] == "local"
    assert terminal.run("allocations", "create", "--new-volume", "out:/data").code == 1


def test_create_as_json_keeps_progress_off_stdout(terminal: Terminal, ready: FakeApi) -> None:
    ran = terminal.run("allocations", "create", "-o", "json")
    assert json.loads(ran.out)["connection"]["port"] == 20001
    assert "starting" in ran.err


def test_a_group_is_watched_by_its_project(terminal: Terminal, ready: FakeApi) -> None:
    two = [samples.allocation(name=name, id=samples.id_of("alloc", place)) for place, name in enumerate(("s-0", "s-1"))]
    submitted = SubmittedAllocations(allocations=two, group_id="grp_1", operation_id=samples.OPERATION)
    ready.on("POST", "/allocations", Answer(submitted, 202))
    ready.on("GET", f"/projects/{samples.PROJECT}/events", Events((event(samples.entry(1)),), then="stay"))
    for one in two:
        ready.on("GET", f"/allocations/{one.id}", Answer(one))
    ran = terminal.run("allocations", "create", "--count", "2")
    assert ran.code == 0
    assert ran.err.count("is active. Get in with: gpuaas ssh s-") == 2


def test_a_failed_create_says_why_and_where_to_read_more(terminal: Terminal, ready: FakeApi) -> None:
    failed = samples.phase("starting", 0.2, outcome=Outcome.FAILED)
    ready.on("GET", OPERATION, Answer(samples.operation(OperationStatus.FAILED, failed, reason="no root view")))
    ready.on("GET", ROUTE, Answer(samples.allocation(status=Status.FAILED, connection=None)))
    ran = terminal.run("allocations", "create")
    assert (ran.code, ran.out) == (2, "")
    assert "train-a could not be made: no root view" in ran.err
    assert f"gpuaas allocations timeline {samples.ALLOCATION}" in ran.err


def test_without_a_key_nothing_is_created(terminal: Terminal, ready: FakeApi) -> None:
    ready.on("GET", "/ssh-keys", page())
    ran = terminal.run("allocations", "create")
    assert (ran.code, ready.asked("POST", "/allocations")) == (1, [])
    assert "gpuaas ssh-keys add" in ran.err


def test_with_several_skus_one_must_be_chosen(terminal: Terminal, ready: FakeApi) -> None:
    ready.on("GET", "/skus", page(samples.sku("a"), samples.sku("b")))
    ran = terminal.run("allocations", "create")
    assert ran.code == 1
    assert "There are a, b." in ran.err


def test_the_server_may_choose_the_only_project(stranger: Terminal, ready: FakeApi) -> None:
    stranger.sign_in(ready.url, project="")
    stranger.run("allocations", "create", "--no-wait")
    assert ready.asked("POST", "/allocations")[0].body.get("project_id") is None
    stranger.environ["GPUAAS_PROJECT"] = "vision"
    ready.on("GET", "/me", Answer(samples.me("default", "vision")))
    stranger.run("allocations", "create", "--no-wait")
    assert ready.asked("POST", "/allocations")[1].body["project_id"] == samples.id_of("proj", 2)


def test_a_listing_with_several_projects_asks_which(stranger: Terminal, ready: FakeApi) -> None:
    stranger.sign_in(ready.url, project="")
    ready.on("GET", "/me", Answer(samples.me("vision", "speech")))
    ran = stranger.run("allocations", "list")
    assert ran.code == 1
    assert "acme/vision, acme/speech" in ran.err


def test_get_shows_everything_below_each_other(terminal: Terminal, ready: FakeApi) -> None:
    out = terminal.run("allocations", "get", "train-a").out
    shown = dict(line.rstrip().split(None, 1) for line in out.splitlines())
    assert (shown["id"], shown["status"], shown["address"]) == (samples.ALLOCATION, "active", "127.0.0.1:20001")
    assert shown["holder"] == "ada@example.com"


def test_get_shows_the_cost_so_far(terminal: Terminal, ready: FakeApi) -> None:
    assert "cost so far" not in terminal.run("allocations", "get", samples.ALLOCATION).out
    cost = Cost(amount=Money(amount_minor=1234, currency="USD"), seconds=9872, runs=True, at=samples.NOON)
    ready.on("GET", ROUTE, Answer(samples.allocation(cost_so_far=cost)))
    out = terminal.run("allocations", "get", samples.ALLOCATION).out
    assert any(line.split() == ["cost", "so", "far", "12.34", "USD"] for line in out.splitlines())


def test_get_says_what_to_do_about_an_outdated_image(terminal: Terminal, ready: FakeApi) -> None:
    image = AllocationImage(version="one", distribution="debian-12", python="3.11", built_at=samples.NOON)
    ready.on("GET", ROUTE, Answer(samples.allocation(image=image)))
    out = terminal.run("allocations", "get", samples.ALLOCATION).out
    assert "one (debian-12, Python 3.11)" in out
    assert "Outdated" not in out
    outdated = replace(image, outdated_since=samples.NOON, advice="Create a new allocation.")
    ready.on("GET", ROUTE, Answer(samples.allocation(image=outdated)))
    assert "Outdated. Create a new allocation." in terminal.run("allocations", "get", samples.ALLOCATION).out


def test_what_is_released_shows_no_way_in_any_more(terminal: Terminal, ready: FakeApi) -> None:
    ready.on("GET", ROUTE, Answer(samples.allocation(status=Status.RELEASED, released_at=samples.NOON)))
    out = terminal.run("allocations", "get", samples.ALLOCATION).out
    assert "ssh" not in out
    assert "20001" not in out


@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_watch_tells_each_change_until_the_end(terminal: Terminal, ready: FakeApi, output: str) -> None:
    states = (Status.ACTIVE, Status.RELEASING, Status.RELEASING, Status.RELEASED)
    ready.on("GET", f"{ROUTE}/events", Events(tuple(event(samples.entry(n)) for n in range(4)), then="stay"))
    seen = [Answer(samples.allocation(status=state)) for state in states]
    ready.on("GET", ROUTE, seen[0], *seen)  # the first answers the name, the rest the watch
    ran = terminal.run("allocations", "get", samples.ALLOCATION, "--watch", "-o", output)
    lines = ran.out.splitlines()[1 if output == "csv" else 0 :]
    assert ran.code == 0
    said = [json.loads(line)["status"] if output == "json" else line.replace(",", " ") for line in lines]
    assert len(said) == 3
    assert all(state in words for state, words in zip(("active", "releasing", "released"), said, strict=True))


def test_restart_says_what_ends_and_shows_the_way_back_in(terminal: Terminal, ready: FakeApi) -> None:
    accepted = samples.allocation(status=Status.RESTARTING, operation_id=samples.OPERATION)
    ready.on("POST", f"{ROUTE}/restart", Answer(accepted, 202))
    ready.on("GET", OPERATION, Answer(samples.operation(OperationStatus.SUCCEEDED, samples.phase("booting", 0.1))))
    ran = terminal.run("allocations", "restart", "train-a", "--yes", "--reason", "hung")
    assert ran.code == 0
    assert "gpuaas ssh train-a" in ran.err
    assert ready.asked("POST", f"{ROUTE}/restart")[0].body == {"reason": "hung"}


def test_a_resize_that_failed_names_both_ways_out(terminal: Terminal, ready: FakeApi) -> None:
    accepted = samples.allocation(status=Status.RESTARTING, operation_id=samples.OPERATION)
    ready.on("POST", f"{ROUTE}/resize", Answer(accepted, 202))
    ready.on(
        "GET", OPERATION, Answer(samples.operation(OperationStatus.FAILED, samples.phase("booting", 0.1), reason="no"))
    )
    ran = terminal.run("allocations", "resize", "train-a", "--gpus", "2", "--yes")
    assert ran.code == 2
    assert "finishes it" in ran.err
    assert "--gpus 1 reverts it" in ran.err


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("--hours 4", {"hours": 4.0}),
        ("--forever", {"expires_at": None}),
        ("--idle 90", {"idle_minutes": 90}),
        ("--no-idle", {"idle_minutes": None}),
        ("--until 2030-01-01T00:00:00 --idle 5", {"idle_minutes": 5}),
    ],
)
def test_extend_sends_only_what_changes(terminal: Terminal, ready: FakeApi, line: str, body: dict[str, object]) -> None:
    ready.on("POST", f"{ROUTE}/extend", Answer(samples.allocation()))
    assert terminal.run("allocations", "extend", "train-a", *line.split()).code == 0
    sent = ready.asked("POST", f"{ROUTE}/extend")[0].body
    if "--until" in line:
        assert sent.pop("expires_at").startswith("20")
    assert sent == body


def test_limits_show_the_time_left_and_every_signal(terminal: Terminal, ready: FakeApi) -> None:
    seen = LimitsNow(
        limits=Limits(idle_minutes=30),
        expires_in_seconds=7200,
        idle_since=samples.NOON,
        idle_ends_at=samples.NOON,
        idle_ends_in_seconds=600,
        signals=[
            UseSignal(kind="cpu", last_at=samples.NOON - timedelta(minutes=2), unavailable=""),
            UseSignal(kind="ssh_sessions", last_at=None, unavailable=""),
            UseSignal(kind="gpu", last_at=None, unavailable="simulated"),
        ],
    )
    ready.on("GET", f"{ROUTE}/limits", Answer(seen))
    ran = terminal.run("allocations", "limits", "train-a")
    assert ran.code == 0
    assert [line.split(None, 1)[1].strip() for line in ran.out.splitlines()[1:]] == [
        "2 m ago",
        "none seen",
        "simulated",
    ]
    assert ran.err == "Ends in 2.0 h. Idle; ends in 10 min unless it works.\n"


def test_extend_wants_one_end_at_most(terminal: Terminal, ready: FakeApi) -> None:
    assert terminal.run("allocations", "extend", "train-a", "--hours", "1", "--forever").code != 0
    assert terminal.run("allocations", "extend", "train-a").code != 0
    assert ready.asked("POST", f"{ROUTE}/extend") == []


def releasing(api: FakeApi, end: OperationStatus, status: Status) -> None:
    accepted = samples.allocation(status=Status.RELEASING, operation_id=samples.OPERATION)
    api.on("POST", f"{ROUTE}/release", Answer(accepted, 202))
    api.on("GET", OPERATION, Answer(samples.operation(end, samples.phase("cleaning", 0.1), reason="a mount is busy")))
    api.on("GET", ROUTE, Answer(samples.allocation(status=status)))


def test_release_says_what_is_lost_and_waits_for_the_proof(terminal: Terminal, ready: FakeApi) -> None:
    releasing(ready, OperationStatus.SUCCEEDED, Status.RELEASED)
    ran = terminal.run("allocations", "release", "train-a", "--yes", "--reason", "done")
    assert (ran.code, ran.out) == (0, "")
    assert "Lost: \n  local disk: erased for good" in ran.err
    assert "Kept: \n  volume data: stays attachable" in ran.err
    assert "train-a is released." in ran.err
    assert ready.asked("POST", f"{ROUTE}/release")[0].body == {"reason": "done"}


def test_release_without_a_yes_changes_nothing(terminal: Terminal, ready: FakeApi) -> None:
    ran = terminal.run("allocations", "release", "train-a")
    assert (ran.code, ready.asked("POST", f"{ROUTE}/release")) == (1, [])
    assert "--yes" in ran.err


def test_a_release_that_failed_may_be_tried_again(terminal: Terminal, ready: FakeApi) -> None:
    releasing(ready, OperationStatus.FAILED, Status.RELEASE_FAILED)
    ran = terminal.run("allocations", "release", "train-a", "--yes")
    assert ran.code == 2
    assert "train-a is release_failed: a mount is busy" in ran.err


def test_a_release_of_what_is_gone_is_a_conflict(terminal: Terminal, ready: FakeApi) -> None:
    ready.on("POST", f"{ROUTE}/release", problem(409, "illegal_move", "The allocation is released."))
    assert terminal.run("allocations", "release", "train-a", "-y").code == 5


def test_on_a_terminal_phases_are_drawn_with_the_running_one_counting() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(Picture(RUNNING, lambda: samples.NOON + timedelta(seconds=3)))
    assert isinstance(console.file, io.StringIO)
    placing, starting = console.file.getvalue().splitlines()
    assert placing.split() == ["✓", "placing", "0.01", "s"]
    assert starting.split()[1:] == ["starting", "3.00", "s"]


def test_a_failed_allocation_is_asked_for_again_in_one_word(terminal: Terminal, ready: FakeApi) -> None:
    again = CreateAllocation(
        sku="big",
        ssh_key_ids=["key_1"],
        project_id=samples.PROJECT,
        name="train-a",
        gpu_count=4,
        idle_minutes=60,
        expires_at=samples.NOON,
        runtime_bundle_id="rtb_1",
        storage_attachments=[LaunchAttachment(volume_id="vol_1", mount_path="/data")],
    )
    ready.on("GET", LIST, page(samples.allocation(status=Status.FAILED, name="train-a", retry=again)))
    terminal.run("allocations", "retry", "train-a", "--no-wait")
    assert ready.asked("POST", "/allocations")[0].body == to_builtins(again)


def test_what_did_not_fail_is_not_asked_for_again(terminal: Terminal, ready: FakeApi) -> None:
    ready.on("GET", LIST, page(samples.allocation(name="train-a")))
    ran = terminal.run("allocations", "retry", "train-a")
    assert (ran.code, "only a failed allocation" in ran.err) == (1, True)
    assert not ready.asked("POST", "/allocations")
