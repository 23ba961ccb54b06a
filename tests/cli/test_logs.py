"""`gpuaas logs`, followed and not; and the watch of a machine that does not come to rest where it should."""

import json

import msgspec
import pytest

from gpuaas.wire.allocations import Health, Status
from gpuaas.wire.timeline import LogLine, OperationStatus, Outcome
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page

ROUTE, OPERATION = f"/allocations/{samples.ALLOCATION}", f"/operations/{samples.OPERATION}"
DONE = b"event: done\ndata: {}\n\n"


def line(number: int, text: str = "") -> LogLine:
    return LogLine(seq=number, at=samples.NOON, line=text or f"line {number}", operation_id=samples.OPERATION)


def told(*lines: LogLine) -> tuple[bytes, ...]:
    return tuple(b"id: 1-%d\ndata: %s\n\n" % (each.seq, msgspec.json.encode(each)) for each in lines)


def said(out: str) -> list[str]:
    return [each.split("  ", 1)[1] for each in out.splitlines()]


def test_an_operation_is_followed_to_its_end(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"{OPERATION}/logs", Events((*told(line(1), line(2)), DONE)))
    ran = terminal.run("logs", "-f", samples.OPERATION)
    assert (ran.code, said(ran.out)) == (0, ["line 1", "line 2"])
    assert api.asked("GET", f"{OPERATION}/logs")[0].query == {"follow": "true"}


def test_a_tail_that_was_cut_goes_on_where_it_was(terminal: Terminal, api: FakeApi) -> None:
    cut, rest = Events(told(line(1), line(2)), then="break"), Events((*told(line(3)), DONE))
    api.on("GET", f"{OPERATION}/logs", cut, rest)
    ran = terminal.run("logs", "-f", samples.OPERATION)
    assert (ran.code, said(ran.out)) == (0, ["line 1", "line 2", "line 3"])
    assert api.asked("GET", f"{OPERATION}/logs")[1].headers["last-event-id"] == "1-2"


@pytest.mark.parametrize("output", ["json", "csv"])
def test_lines_for_a_program_come_one_by_one(terminal: Terminal, api: FakeApi, output: str) -> None:
    api.on("GET", f"{OPERATION}/logs", Events((*told(line(1), line(2, "a,b")), DONE)))
    lines = terminal.run("logs", "-f", samples.OPERATION, "-o", output).out.splitlines()
    if output == "json":
        assert [json.loads(each)["line"] for each in lines] == ["line 1", "a,b"]
    else:
        assert (len(lines), lines[2].endswith('"a,b"')) == (3, True)


def test_words_of_a_machine_do_not_steer_the_terminal(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"{OPERATION}/logs", Events((*told(line(1, "\x1b]0;mine\x07\x1b[2Jgone")), DONE)))
    assert "\x1b" not in terminal.run("logs", "-f", samples.OPERATION).out


def test_the_last_lines_are_as_many_as_asked_for(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation()))
    api.on("GET", f"{ROUTE}/logs", page(*(line(number) for number in (9, 8, 7))))
    assert said(terminal.run("logs", "train-a", "-n", "2").out) == ["line 8", "line 9"]
    api.on("GET", f"{ROUTE}/logs", page())
    silent = terminal.run("logs", "train-a")
    assert (silent.out, "said nothing" in silent.err) == ("", True)


def test_a_watch_ends_where_the_machine_comes_to_rest_and_says_why(terminal: Terminal, api: FakeApi) -> None:
    seen = [
        samples.allocation(status=status, operation_id=samples.OPERATION, health=Health.UNKNOWN)
        for status in (Status.PROVISIONING, Status.PROVISIONING, Status.FAILED)
    ]
    failed = samples.phase("booting", 0.3, outcome=Outcome.FAILED, note="the disk is full")
    api.on("GET", ROUTE, *(Answer(each) for each in seen))
    api.on("GET", f"{ROUTE}/events", Events((event(samples.entry(1)), event(samples.entry(2))), then="stay"))
    api.on("GET", OPERATION, Answer(samples.operation(OperationStatus.FAILED, failed)))
    ran = terminal.run("allocations", "watch", samples.ALLOCATION)
    assert [word in ran.out for word in ("booting", "the disk is full", "train-a is failed")] == [True] * 3


def test_an_operation_is_shown_with_its_phases(terminal: Terminal, api: FakeApi) -> None:
    done = samples.operation(OperationStatus.SUCCEEDED, samples.phase("placing", 0.01), samples.phase("booting", 0.42))
    api.on("GET", f"/operations/{samples.OPERATION}", Answer(done))
    out = terminal.run("operations", "get", samples.OPERATION).out
    assert ("booting" in out, "0.42 s" in out, "succeeded" in out) == (True, True, True)
