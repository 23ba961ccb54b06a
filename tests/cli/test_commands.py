"""Declared commands: the options of each shape, questions, waits, and objects by name or id."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner, Result

from gpuaas.cli import commands
from gpuaas.cli.commands import (
    Action,
    Call,
    Find,
    FoundAllocation,
    ProjectId,
    Question,
    Wait,
    action_command,
    list_command,
    show_command,
)
from gpuaas.cli.complaints import Complaint
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.cli.speech import ReasonOption
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import OperationStatus
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, event, page

COLUMNS: list[Column[Allocation]] = [Column("Name", lambda one: one.name), Column("Status", lambda one: one.status)]
ALLOCATIONS, MACHINE = f"/projects/{samples.PROJECT}/allocations", f"/allocations/{samples.ALLOCATION}"
QUESTION = Question(words="Restart it?", lost="processes.", survives="files.")
ASKED = samples.allocation(operation_id=samples.OPERATION)
app = new_group("Examples of each shape.")


@list_command(app, "list", COLUMNS, empty="None here.")
def list_them(call: Call, project_id: ProjectId) -> Iterable[Allocation]:
    """List them."""
    return call.client.allocations.list(project_id)


@show_command(app, "get", COLUMNS)
def get_one(_call: Call, name: FoundAllocation) -> Allocation:
    """Show one."""
    return name


@action_command(app, "restart", COLUMNS, no_wait=True)
def restart(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[Allocation]:
    """Restart one."""
    return Action(
        ask=QUESTION,
        run=lambda: call.client.allocations.restart(name.id, reason=reason),
        wait=Wait(
            look=lambda asked: call.client.allocations.get(asked.id),
            again="gpuaas again",
            next_step="gpuaas next",
            allocation_id=name.id,
        ),
        done=lambda one: f"{one.name} was restarted.",
    )


@action_command(app, "refuse", asks=False)
def refuse(call: Call, id: Annotated[str, typer.Argument()]) -> Action[None]:
    """Change something that needs no question."""
    return Action(run=lambda: call.client.allocations.end_break_glass(id), done=lambda _: "Ended.")


@dataclass
class Shell:
    """Runs the commands above, without anybody who could answer a question."""

    terminal: Terminal
    runner: CliRunner = field(default_factory=CliRunner)

    def run(self, *line: str) -> Result:
        return self.runner.invoke(app, line, obj=self.terminal.process)


@pytest.fixture
def shell(terminal: Terminal, api: FakeApi) -> Shell:
    api.on("GET", "/me", Answer(samples.me()))
    api.on("GET", ALLOCATIONS, page(samples.allocation()))
    api.on("GET", MACHINE, Answer(samples.allocation()))
    api.on("GET", f"{MACHINE}/events", Events((event(samples.entry(1)),), then="stay"))
    api.on("POST", f"{MACHINE}/restart", Answer(ASKED, 202))
    return Shell(terminal)


def options(name: str) -> list[str]:
    group: Any = get_command(app)
    return [one.name for one in group.commands[name].params if one.name != "help"]


def test_each_shape_has_its_options_in_one_order() -> None:
    assert options("list") == ["project", "output"]
    assert options("get") == ["name", "project", "output"]
    assert options("restart") == ["name", "reason", "yes", "project", "no_wait", "output"]
    assert options("refuse") == ["id"]


def test_the_docstring_is_the_help(shell: Shell) -> None:
    assert "Restart one." in shell.run("restart", "--help").output


def test_a_list_shows_its_rows_or_what_to_do_without_any(shell: Shell, api: FakeApi) -> None:
    assert "train-a" in shell.run("list").output
    api.on("GET", ALLOCATIONS, page())
    assert shell.run("list").output == "None here.\n"
    assert shell.run("list", "-o", "json").output == "[]\n"


@pytest.mark.parametrize("typed", ["train-a", samples.ALLOCATION])
def test_an_object_is_found_by_its_exact_name_or_id(shell: Shell, typed: str) -> None:
    assert "train-a" in shell.run("get", typed).output


@pytest.mark.parametrize("typed", ["train", "train-", samples.ALLOCATION[:-1], ""])
def test_part_of_a_name_or_id_finds_nothing(shell: Shell, typed: str) -> None:
    ran = shell.run("get", typed)
    assert isinstance(ran.exception, Complaint)
    assert "There is no allocation" in str(ran.exception)


def test_a_question_without_anybody_to_answer_changes_nothing(shell: Shell, api: FakeApi) -> None:
    ran = shell.run("restart", "train-a")
    assert ran.exit_code == 2
    assert "Lost: processes.\nKept: files." in ran.output
    assert api.asked("POST", f"{MACHINE}/restart") == []


def test_a_confirmed_action_follows_its_operation_and_looks_again(shell: Shell, api: FakeApi) -> None:
    running = samples.operation(OperationStatus.RUNNING)
    ended = samples.operation(OperationStatus.SUCCEEDED, samples.phase("reboot", 1.5))
    api.on("GET", f"/operations/{samples.OPERATION}", Answer(running), Answer(ended))
    api.on("GET", f"{MACHINE}/events", Events((event(samples.entry(1)), event(samples.entry(2)))))
    ran = shell.run("restart", samples.ALLOCATION, "--yes", "--reason", "hung")
    assert ran.exit_code == 0, ran.output
    assert "reboot" in ran.output
    assert "train-a was restarted." in ran.output
    (asked,) = api.asked("POST", f"{MACHINE}/restart")
    assert asked.body == {"reason": "hung"}
    assert len(api.asked("GET", MACHINE)) == 2  # to find it, and afterwards


def test_a_failed_operation_is_the_failure_of_the_command(shell: Shell, api: FakeApi) -> None:
    failed = samples.operation(OperationStatus.FAILED, reason="the node is gone")
    api.on("GET", f"/operations/{samples.OPERATION}", Answer(failed))
    ran = shell.run("restart", "train-a", "--yes")
    assert isinstance(ran.exception, Complaint)
    assert (ran.exception.why, ran.exception.next_step) == ("the node is gone", "gpuaas next")
    assert "was restarted" not in ran.output


def test_no_wait_returns_what_was_accepted(shell: Shell, api: FakeApi) -> None:
    assert shell.run("restart", "train-a", "--yes", "--no-wait").exit_code == 0
    assert api.asked("GET", f"/operations/{samples.OPERATION}") == []


def test_an_action_without_columns_only_remarks(shell: Shell, api: FakeApi) -> None:
    api.on("DELETE", f"{MACHINE}/break-glass", Answer(status=204))
    assert shell.run("refuse", samples.ALLOCATION).output == "Ended.\n"


def test_a_word_that_is_left_out_is_none(shell: Shell) -> None:
    seen: list[Allocation | None] = []
    group = new_group("One more.")
    optional = Find(typer.Option("--beside"), commands.found_allocation, in_project=True)

    @list_command(group, "beside", COLUMNS)
    def beside(_call: Call, of: Annotated[Allocation | None, optional] = None) -> list[Allocation]:
        seen.append(of)
        return []

    for line in (["beside"], ["beside", "--beside", "train-a"]):
        assert shell.runner.invoke(group, line, obj=shell.terminal.process).exit_code == 0
    assert [one and one.id for one in seen] == [None, samples.ALLOCATION]
