"""`gpuaas sessions`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.names import choose
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.cli.speech import YesOption, confirm, note
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age, until
from gpuaas.wire.identity import Session

command = new_app("Where you are signed in.")


def columns(around: Surroundings) -> list[Column[Session]]:
    now = around.now
    return [
        Column(" ", lambda session: "*" if session.current else ""),
        Column("Device", lambda session: session.device, may_shrink=True),
        Column("Address", lambda session: session.address),
        Column("Age", lambda session: session.created_at, lambda created: age(created, now()), align="right"),
        Column("Expires", lambda session: session.expires_at, lambda moment: until(moment, now()), align="right"),
        Column("Id", lambda session: session.id),
    ]


@command.command("list")
def list_sessions(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List your sessions; a star marks this one."""
    with connected(ctx) as client:
        show_rows(client.sessions.list(), columns(surroundings_of(ctx)), output)


@command.command("revoke")
def revoke_session(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(help="Its id.")],
    yes: YesOption = False,
) -> None:
    """Sign out somewhere else."""
    with connected(ctx) as client:
        found = choose(session, client.sessions.list(), lambda one: (one.id,), "session", listed="gpuaas sessions list")
        confirm(
            f"End the session on {found.device}?",
            lost=f"{found.device} ({found.address}) has to sign in again.",
            survives="everything it made, and your other sessions.",
            yes=yes,
        )
        client.sessions.revoke(found.id)
    note(f"Ended the session on {found.device}.")
