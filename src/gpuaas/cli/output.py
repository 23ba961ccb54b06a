"""What a command shows: a table for people, JSON and CSV for programs. Results on stdout, all else on stderr."""

import csv
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpuaas.cli.speech import note
from gpuaas.cli.words import clock, plain, style_of

T = TypeVar("T")
ROOMY = 500  # nobody reads a pipe's right edge: do not cut there
GAP = 2  # between columns
NARROWEST = 6  # a name cut shorter than this says nothing


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"


OutputOption = Annotated[Output, typer.Option("--output", "-o", help="How to print the result.")]


def worded(value: object) -> str:
    return clock(value) if isinstance(value, datetime) else str(value)


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A title, the value that CSV gets, and how a person reads it."""

    title: str
    value: Callable[[T], object]
    show: Callable[[Any], str] = worded
    align: Literal["left", "right"] = "left"
    is_state: bool = False
    may_shrink: bool = False  # the column that gives way when the terminal is narrow

    def text(self, row: T) -> Text:
        value = self.value(row)
        shown = "" if value is None else plain(self.show(value))
        return Text(shown, style=style_of(shown) if self.is_state else "")

    def raw(self, row: T) -> str:
        value = self.value(row)
        if isinstance(value, datetime):
            return value.isoformat()
        return "" if value is None else str(value)


def stdout() -> Console:
    return console(sys.stdout.isatty(), is_stderr=False)


def stderr() -> Console:
    return console(sys.stderr.isatty(), is_stderr=True)


def console(is_terminal: bool, *, is_stderr: bool) -> Console:
    """Colours only on a terminal; rich itself honours NO_COLOR."""
    return Console(
        stderr=is_stderr,
        width=None if is_terminal else ROOMY,
        force_terminal=is_terminal,
        highlight=False,
        markup=False,
        emoji=False,
    )


def show_rows(rows: Iterable[T], columns: Sequence[Column[T]], output: Output, *, empty: str = "Nothing here.") -> None:
    """A listing. `empty` tells a person what to do next; a program just gets no rows."""
    found = list(rows)
    if output is Output.JSON:
        show_json(found)
    elif output is Output.CSV:
        show_csv(found, columns)
    elif found:
        console = stdout()
        console.print(table_of(found, columns, console.width))
    else:
        note(empty)


def show_one(row: T, columns: Sequence[Column[T]], output: Output) -> None:
    """One thing: its fields below each other."""
    if output is Output.JSON:
        show_json(row)
    elif output is Output.CSV:
        show_csv([row], columns)
    else:
        stdout().print(card_of(row, columns))


def show_json(value: object) -> None:
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def show_csv(rows: Sequence[T], columns: Sequence[Column[T]], *, with_header: bool = True) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if with_header:
        writer.writerow([column.title.lower().replace(" ", "_") for column in columns])
    writer.writerows([printable(column.raw(row)) for column in columns] for row in rows)


def printable(cell: object) -> object:
    """Without control characters: a name or a reason that somebody else chose must not steer the reader's terminal."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", cell) if isinstance(cell, str) else cell


def table_of(rows: Sequence[T], columns: Sequence[Column[T]], room: int) -> Table:
    """One line per row, always: columns that may shrink do, until it fits."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column, width in zip(columns, widths_of(rows, columns, room), strict=True):
        table.add_column(column.title.upper(), justify=column.align, no_wrap=True, overflow="ellipsis", width=width)
    for row in rows:
        table.add_row(*(column.text(row) for column in columns))
    return table


def widths_of(rows: Sequence[T], columns: Sequence[Column[T]], room: int) -> list[int]:
    widths = [max(len(column.title), *(column.text(row).cell_len for row in rows)) for column in columns]
    shrinkable = [place for place, column in enumerate(columns) if column.may_shrink]
    while shrinkable and sum(widths) + GAP * (len(widths) - 1) > room:
        widest = max(shrinkable, key=lambda place: widths[place])
        if widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    return widths


def card_of(row: T, columns: Sequence[Column[T]]) -> Table:
    card = Table.grid(padding=(0, 2, 0, 0))
    card.add_column(style="bold", no_wrap=True)
    card.add_column(overflow="fold")
    for column in columns:
        if text := column.text(row):
            card.add_row(column.title.lower(), text)
    return card
