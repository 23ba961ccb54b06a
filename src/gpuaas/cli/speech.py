"""What a command says in words, and what it asks first. Apart from tables, so that `gpuaas ssh` need not load them."""

import sys
from typing import Annotated

import typer

from gpuaas.cli.words import plain


def say(message: str) -> None:
    """A result in words."""
    typer.echo(plain(message))


def note(message: str) -> None:
    """A remark for a person: never in the way of a pipe."""
    typer.echo(plain(message), err=True)


def confirm(question: str, *, lost: str, survives: str, yes: bool) -> None:
    """Every disruptive act says first what is lost and what survives."""
    note(f"Lost: {lost}\nKept: {survives}")
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("there is nobody to ask; repeat with --yes to confirm")
    typer.confirm(question, abort=True, err=True)


YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; written on the timeline.")]
