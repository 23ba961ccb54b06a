"""Long work while it runs: its phases as they begin and end, each with how long it took."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

import typer
from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from gpuaas.cli.output import stderr
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import note
from gpuaas.cli.words import BAD, GOOD, QUIET, plain, took
from gpuaas.sdk import Client
from gpuaas.wire.timeline import Operation, OperationStatus, Outcome, Phase

INTERRUPTED = 130  # as shells say it


def follow(
    ctx: typer.Context,
    client: Client,
    operation_id: str,
    *,
    come_back: str,
    allocation_id: str | None = None,
    project_id: str | None = None,
) -> Operation:
    """Long work phase by phase until it has ended. `come_back` is what to type after Ctrl-C."""
    with waiting_kindly(come_back):
        seen = client.operations.watch(operation_id, allocation_id=allocation_id, project_id=project_id)
        return show_progress(seen, process_context(ctx).now)


@contextmanager
def waiting_kindly(come_back: str) -> Iterator[None]:
    """Ctrl-C ends the waiting, not the work; say so."""
    try:
        yield
    except KeyboardInterrupt as stop:
        note(f"The work goes on without you. Look again with: {come_back}")
        raise typer.Exit(INTERRUPTED) from stop


def show_progress(operations: Iterable[Operation], now: Callable[[], datetime]) -> Operation:
    """Draw the operation until it has ended, and hand over its end. On stderr: a pipe gets only the result."""
    console = stderr()
    if not console.is_terminal:
        return tell_phases(operations)
    with Live(console=console, refresh_per_second=10, transient=False) as live:
        return draw(operations, live, now)


def draw(operations: Iterable[Operation], live: Live, now: Callable[[], datetime]) -> Operation:
    for operation in operations:
        live.update(Picture(operation, now))
        if operation.status is not OperationStatus.RUNNING:
            live.refresh()
            return operation
    raise AssertionError("a watch ends only when it is settled")


def tell_phases(operations: Iterable[Operation]) -> Operation:
    """Without a terminal: a line for every phase that ended, once."""
    told: set[tuple[str, datetime]] = set()
    for operation in operations:
        for phase in operation.phases:
            mark = (phase.phase, phase.started_at)
            if phase.seconds is not None and mark not in told:
                told.add(mark)
                note(f"{words(phase)}  {took(phase.seconds)}")
        if operation.status is not OperationStatus.RUNNING:
            return operation
    raise AssertionError("a watch ends only when it is settled")


class Picture:
    """Drawn again ten times a second, so that the running phase counts up."""

    def __init__(self, operation: Operation, now: Callable[[], datetime]) -> None:
        self._operation, self._now = operation, now
        self._spinner = Spinner("dots")

    def __rich__(self) -> Group:
        phases = Table.grid(padding=(0, 2, 0, 0))
        phases.add_column(width=1)
        phases.add_column(no_wrap=True)
        phases.add_column(justify="right", no_wrap=True)
        phases.add_column(style=QUIET, overflow="ellipsis", no_wrap=True)
        for phase in self._operation.phases:
            running = phase.seconds is None and self._operation.status is OperationStatus.RUNNING
            seconds = (self._now() - phase.started_at).total_seconds() if running else phase.seconds
            mark = self._spinner if running else mark_of(phase)
            phases.add_row(mark, words(phase), took(seconds), plain(phase.note))
        if not self._operation.phases:
            phases.add_row(self._spinner, "waiting for the first phase", "", "")
        return Group(phases)


def mark_of(phase: Phase) -> Text:
    return Text("✗", style=BAD) if phase.outcome is Outcome.FAILED else Text("✓", style=GOOD)


def words(phase: Phase) -> str:
    return plain(phase.phase.replace("_", " ").replace(".", " "))
