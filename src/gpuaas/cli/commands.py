"""Commands of common shapes: list, show, and an action with its question and its wait.

A command is declared as a function that describes it; what all such commands do is here. Each parameter of the function
is an argument or option of the command. For a parameter with `Find` in its annotation people type an exact name or id,
and the function gets the object. `--project`, `--yes`, `--no-wait` and `--output` are added where they apply.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Concatenate, Generic, ParamSpec, TypeVar, get_args, get_type_hints, overload

import typer
from typer.models import ArgumentInfo, OptionInfo

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_allocation, chosen_project
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.process_context import ProcessContext, process_context
from gpuaas.cli.progress import follow
from gpuaas.cli.speech import YesOption, confirm, note
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import OperationStatus

P = ParamSpec("P")
T = TypeVar("T")
NoWaitOption = Annotated[bool, typer.Option("--no-wait", help="Return as soon as the request is accepted.")]
Columns = Sequence[Column[T]] | Callable[[ProcessContext], Sequence[Column[T]]]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One run of a command."""

    ctx: typer.Context
    client: Client
    project: str  # as typed; empty for the default
    output: Output
    no_wait: bool = False

    @property
    def process(self) -> ProcessContext:
        return process_context(self.ctx)

    @cached_property
    def project_id(self) -> str:
        return chosen_project(self.ctx, self.client, self.project)

    def columns(self, columns: Columns[T]) -> Sequence[Column[T]]:
        return columns(self.process) if callable(columns) else columns


Declared = Callable[Concatenate[Call, P], T]


@dataclass(frozen=True)
class Find(Generic[T]):
    """How a typed word becomes one object. A word that is left out becomes None."""

    parameter: ArgumentInfo | OptionInfo
    find: Callable[[Call, str], T]
    in_project: bool = False


def found_allocation(call: Call, word: str) -> Allocation:
    return chosen_allocation(call.ctx, call.client, word, call.project)


NAME = typer.Argument(metavar="NAME", help="Exact name or id.")
FoundAllocation = Annotated[Allocation, Find(NAME, found_allocation, in_project=True)]


@dataclass(frozen=True)
class InProject:
    """The id of the project that `--project` names, or of the default project."""


ProjectId = Annotated[str, InProject()]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Asked before anything is done: what is lost and what is kept."""

    words: str
    lost: str
    survives: str


@dataclass(frozen=True, kw_only=True)
class Wait(Generic[T]):
    """Follow the operation that the answer names, and look at the object again."""

    look: Callable[[T], T]
    again: str  # shows the state after Ctrl-C
    next_step: str  # after a failure
    failure: Callable[[str], str] = lambda reason: reason or "It failed."
    allocation_id: str | None = None
    project_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Action(Generic[T]):
    """One change. `done` is a remark for a person, after the result."""

    run: Callable[[], T]
    ask: Question | None = None
    wait: Wait[T] | None = None
    done: Callable[[T], str] | None = None


def list_command(
    app: typer.Typer, name: str, columns: Columns[T], *, empty: str = "Nothing here."
) -> Callable[[Declared[P, Iterable[T]]], Declared[P, Iterable[T]]]:
    """Rows of a table. `empty` is the next step when there is no row."""

    def finish(call: Call, found: Iterable[T], _given: Mapping[str, Any]) -> None:
        show_rows(found, call.columns(columns), call.output, empty=empty)

    return lambda function: declare(app, name, function, finish, output=True)


def show_command(
    app: typer.Typer,
    name: str,
    columns: Columns[T] = (),
    *,
    show: Callable[[Call, T], None] | None = None,
) -> Callable[[Declared[P, T]], Declared[P, T]]:
    """One object, read or changed; for changes that need no question."""

    def finish(call: Call, found: T, _given: Mapping[str, Any]) -> None:
        if show:
            show(call, found)
        else:
            show_one(found, call.columns(columns), call.output)

    return lambda function: declare(app, name, function, finish, output=True)


@overload
def action_command(
    app: typer.Typer, name: str, *, asks: bool = True
) -> Callable[[Declared[P, Action[Any]]], Declared[P, Action[Any]]]: ...
@overload
def action_command(
    app: typer.Typer,
    name: str,
    columns: Columns[T] = (),
    *,
    show: Callable[[Call, T], None] | None = None,
    asks: bool = True,
    no_wait: bool = False,
) -> Callable[[Declared[P, Action[T]]], Declared[P, Action[T]]]: ...
def action_command(
    app: typer.Typer,
    name: str,
    columns: Columns[Any] = (),
    *,
    show: Callable[[Call, Any], None] | None = None,
    asks: bool = True,
    no_wait: bool = False,
) -> Callable[[Declared[P, Action[Any]]], Declared[P, Action[Any]]]:
    """A change: its question, its phases, and the object afterwards. Without columns only a remark is shown."""

    def finish(call: Call, action: Action[Any], given: Mapping[str, Any]) -> None:
        result = carry_out(call, action, yes=given.get("yes", False))
        if show:
            show(call, result)
        elif columns:
            show_one(result, call.columns(columns), call.output)
        if action.done and (remark := action.done(result)):
            note(remark)

    has_output = bool(columns or show)
    return lambda function: declare(app, name, function, finish, yes=asks, no_wait=no_wait, output=has_output)


def carry_out(call: Call, action: Action[T], *, yes: bool = False) -> T:
    """Done, or accepted if nobody waits. A failure of the operation is the command's own."""
    if action.ask:
        confirm(action.ask.words, lost=action.ask.lost, survives=action.ask.survives, yes=yes)
    result, wait = action.run(), action.wait
    operation_id = getattr(result, "operation_id", None)
    if wait is None or call.no_wait or not operation_id:
        return result
    end = follow(
        call.ctx,
        call.client,
        operation_id,
        come_back=wait.again,
        allocation_id=wait.allocation_id,
        project_id=wait.project_id,
    )
    if end.status is OperationStatus.FAILED:
        raise Complaint(wait.failure(end.reason), next_step=wait.next_step, code=ExitCode.SERVER)
    return wait.look(result)


SHARED = {
    "yes": inspect.Parameter("yes", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=YesOption),
    "project": inspect.Parameter("project", inspect.Parameter.KEYWORD_ONLY, default="", annotation=ProjectOption),
    "no_wait": inspect.Parameter("no_wait", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=NoWaitOption),
    "output": inspect.Parameter(
        "output", inspect.Parameter.KEYWORD_ONLY, default=Output.TABLE, annotation=OutputOption
    ),
}


def declare(
    app: typer.Typer,
    name: str,
    function: Declared[P, T],
    finish: Callable[[Call, T, Mapping[str, Any]], None],
    **shared: bool,
) -> Declared[P, T]:
    """Add the command that finds what the function needs, calls it, and finishes with what it returns."""
    own = list(inspect.signature(function).parameters.values())[1:]
    hints = get_type_hints(function, include_extras=True)
    marks = {one.name: mark_of(hints[one.name]) for one in own}
    needs_project = any(isinstance(mark, InProject) or (mark and mark.in_project) for mark in marks.values())
    wanted = {**shared, "project": needs_project}
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(typed(one, hints[one.name], marks[one.name]) for one in own if not isinstance(marks[one.name], InProject)),
        *(parameter for shared_name, parameter in SHARED.items() if wanted.get(shared_name)),
    ]

    def command(ctx: typer.Context, **given: Any) -> None:
        with connected(ctx) as client:
            call = Call(
                ctx=ctx,
                client=client,
                project=given.get("project") or "",
                output=given.get("output", Output.TABLE),
                no_wait=given.get("no_wait", False),
            )
            values = {one.name: value_of(call, marks[one.name], given.get(one.name)) for one in own}
            finish(call, function(call, **values), given)  # type: ignore[call-arg]  # by name, as declared

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
    app.command(name)(command)
    return function


def mark_of(hint: Any) -> Find[Any] | InProject | None:
    return next((one for one in get_args(hint)[1:] if isinstance(one, Find | InProject)), None)


def typed(parameter: inspect.Parameter, hint: Any, mark: Find[Any] | InProject | None) -> inspect.Parameter:
    """As it is typed on the command line: an object by its name or id."""
    if isinstance(mark, Find):
        is_optional = parameter.default is not parameter.empty
        hint = Annotated[str | None, mark.parameter] if is_optional else Annotated[str, mark.parameter]
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint)


def value_of(call: Call, mark: Find[Any] | InProject | None, given: Any) -> Any:
    if isinstance(mark, InProject):
        return call.project_id
    return given if mark is None or given is None else mark.find(call, given)
