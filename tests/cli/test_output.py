"""Tables, JSON and CSV; ages and money; what fits into eighty columns."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from datetime import timedelta

import msgspec
import pytest
from rich.console import Console

from gpuaas.cli.admin_nodes import columns as node_columns
from gpuaas.cli.admin_slots import COLUMNS as SLOT_COLUMNS
from gpuaas.cli.admin_workers import COLUMNS as WORKER_COLUMNS
from gpuaas.cli.allocation_views import SUMMARY, outcome, summary, timeline_rows
from gpuaas.cli.output import table_of
from gpuaas.cli.words import age, memory, plain, span, took
from gpuaas.wire.allocations import Status
from gpuaas.wire.capacity import Sku
from gpuaas.wire.timeline import OperationStatus, Outcome
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page

LISTINGS = {
    "skus": ("/skus", samples.sku()),
    "ssh-keys list": ("/ssh-keys", samples.ssh_key()),
    "tokens list": ("/auth/tokens", samples.token()),
    "sessions list": ("/auth/sessions", samples.session()),
    "projects list": ("/projects", samples.project()),
    "allocations list": (f"/projects/{samples.PROJECT}/allocations", samples.allocation()),
    "operations list": ("/operations", samples.operation(OperationStatus.SUCCEEDED)),
    "admin nodes list": ("/admin/nodes", samples.node()),
    f"admin slots list {samples.NODE}": (f"/admin/nodes/{samples.NODE}/slots", samples.slot()),
    "admin unknown-environments list": ("/admin/unknown-environments", samples.unknown_environment()),
    "admin unknown-volumes list": ("/admin/unknown-volumes", samples.unknown_volume()),
    "admin allocations list": ("/admin/allocations", samples.allocation()),
    "admin operations list": ("/admin/operations", samples.operation(OperationStatus.FAILED)),
    "admin invariants": ("/admin/invariants", samples.invariant()),
    "admin workers list": ("/admin/workers", samples.worker()),
    "admin tenants list": ("/admin/tenants", samples.admin_tenant()),
    "admin projects list": ("/admin/projects", samples.admin_project()),
    "admin users list": ("/admin/users", samples.admin_user()),
    "admin task-keys list": ("/admin/task-keys", samples.task_key()),
}


@pytest.mark.parametrize("line", LISTINGS)
def test_every_listing_speaks_table_json_and_csv(terminal: Terminal, api: FakeApi, line: str) -> None:
    path, thing = LISTINGS[line]
    api.on("GET", path, page(thing))
    api.on("GET", f"/admin/nodes/{samples.NODE}", Answer(samples.node()))
    api.on("GET", "/me", Answer(samples.me()))
    table = terminal.run(*line.split())
    as_json = terminal.run(*line.split(), "--output", "json")
    as_csv = terminal.run(*line.split(), "-o", "csv")
    assert [ran.code for ran in (table, as_json, as_csv)] == [0, 0, 0]
    assert json.loads(as_json.out) == [msgspec.to_builtins(thing)]
    header, *rows = csv.reader(io.StringIO(as_csv.out))
    assert rows
    assert {len(row) for row in rows} == {len(header)}
    assert all(len(line) <= 80 for line in table.out.splitlines())
    assert "\x1b" not in table.out + as_json.out + as_csv.out


@pytest.mark.parametrize("line", LISTINGS)
def test_an_empty_listing_keeps_stdout_for_programs(terminal: Terminal, api: FakeApi, line: str) -> None:
    api.on("GET", LISTINGS[line][0], page())
    api.on("GET", f"/admin/nodes/{samples.NODE}", Answer(samples.node()))
    api.on("GET", "/me", Answer(samples.me()))
    ran = terminal.run(*line.split())
    assert (ran.code, ran.out) == (0, "")
    assert ran.err
    assert terminal.run(*line.split(), "-o", "json").out == "[]\n"


def test_a_table_reads_well(terminal: Terminal, api: FakeApi) -> None:
    failed = samples.allocation(name="old", status=Status.FAILED)
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation(), failed))
    ran = terminal.run("allocations", "list")
    assert ran.out.splitlines() == [
        "NAME     STATUS  HEALTH  SKU             GPUS  REGION  ADDRESS          AGE",
        "train-a  active  ok      sim-h200-slice     1  local   127.0.0.1:20001  3 m",
    ]
    assert "1 released or failed not shown" in ran.err
    assert "old" in terminal.run("allocations", "list", "--all").out


def test_skus_show_size_price_and_what_is_free(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/skus", page(samples.sku()))
    lines = terminal.run("skus").out.splitlines()
    assert lines[1].split() == "sim-h200-slice 1 small 8 64 GiB 20 GiB plain 3.50 EUR 7 sim".split()  # noqa: SIM905
    parsed = json.loads(terminal.run("skus", "-o", "json").out)
    assert msgspec.convert(parsed, list[Sku], strict=False) == [samples.sku()]


def render(table: object, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100])
def test_long_names_give_way_and_nothing_else_does(terminal: Terminal, width: int) -> None:
    long = samples.allocation(name="n" * 63, sku="s" * 40, status=Status.RELEASE_FAILED)
    text = render(table_of([long], summary(lambda: samples.NOON), width), width)
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    assert {"release_failed", "127.0.0.1:20001", "local"} <= set(text.split())
    for table in (
        table_of([samples.node("n" * 63)], node_columns(terminal.process), width),
        table_of([samples.slot()], SLOT_COLUMNS, width),
        table_of([samples.worker()], WORKER_COLUMNS, width),
    ):
        assert all(len(line.rstrip()) <= width for line in render(table, width).splitlines())


@pytest.mark.parametrize("last", [Outcome.DONE, Outcome.FAILED, Outcome.BEGAN])
def test_a_phase_ends_as_the_next_entry_says(last: Outcome) -> None:
    begun, follower = samples.entry(1, "starting"), samples.entry(2, "active", outcome=last)
    assert outcome(begun, follower) is (Outcome.FAILED if last is Outcome.FAILED else Outcome.DONE)
    assert outcome(begun, None) is Outcome.BEGAN


def test_a_timeline_runs_forward_and_says_how_long_each_phase_took(terminal: Terminal, api: FakeApi) -> None:
    entries = [
        samples.entry(3, "active", outcome=Outcome.DONE),
        samples.entry(2, "starting"),
        samples.entry(1, "placing"),
    ]
    assert render(table_of([*timeline_rows(entries)], SUMMARY, 80), 80)
    api.on("GET", f"/allocations/{samples.ALLOCATION}", Answer(samples.allocation()))
    api.on("GET", f"/allocations/{samples.ALLOCATION}/timeline", page(*entries))
    ran = terminal.run("allocations", "timeline", samples.ALLOCATION, "-o", "csv")
    assert [row[1:4] for row in csv.reader(io.StringIO(ran.out))][1:] == [
        ["placing", "done", "1.0"],
        ["starting", "done", "1.0"],
        ["active", "done", ""],
    ]


def test_words_of_others_do_not_steer_the_terminal(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/ssh-keys", page(samples.ssh_key("\x1b]0;owned\x07[red]bold\x9b31m")))
    out = terminal.run("ssh-keys", "list").out
    assert not {"\x1b", "\x07", "\x9b"} & set(out)
    assert "[red]" in out
    assert plain("tab\tand ümlaut") == "tab\tand ümlaut"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (59, "59 s"), (60, "1 m"), (3599, "59 m"), (3600, "1 h"), (172_799, "47 h"), (172_800, "2 d")],
)
def test_ages_take_one_unit(seconds: int, shown: str) -> None:
    assert span(timedelta(seconds=seconds)) == shown
    assert age(samples.NOON, samples.NOON + timedelta(seconds=seconds)) == shown


def test_other_numbers_read_well_too() -> None:
    assert [took(None), took(0.617), took(75)] == ["", "0.62 s", "1 m 15 s"]
    assert [memory(512), memory(65536)] == ["512 MiB", "64 GiB"]
    assert age(samples.NOON, samples.NOON - timedelta(seconds=5)) == "0 s"  # clocks differ


@pytest.mark.parametrize("no_color", [False, True])
def test_colours_are_for_terminals_that_want_them(terminal: Terminal, api: FakeApi, no_color: bool) -> None:
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(samples.allocation()))
    environ = {**terminal.environ, "TERM": "xterm", "COLUMNS": "80", "PATH": os.defpath}
    if no_color:
        environ["NO_COLOR"] = "1"
    ours, theirs = pty.openpty()
    try:
        script = "from gpuaas.main.cli import main; main()"
        line = [sys.executable, "-c", script, "allocations", "list"]
        done = subprocess.run(line, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environ, check=False)
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "train-a" in shown
    assert ("\x1b[32m" in shown) is not no_color
