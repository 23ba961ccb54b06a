"""`gpuaas sessions`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, Find, Question, action_command, list_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose
from gpuaas.cli.output import Column
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.words import age, until
from gpuaas.wire.identity import Session

command = new_group("Where you are signed in.")


def columns(process: ProcessContext) -> list[Column[Session]]:
    now = process.now
    return [
        Column(" ", lambda session: "*" if session.current else ""),
        Column("Device", lambda session: session.device, may_shrink=True),
        Column("Address", lambda session: session.address),
        Column("Age", lambda session: session.created_at, lambda created: age(created, now()), align="right"),
        Column("Expires", lambda session: session.expires_at, lambda moment: until(moment, now()), align="right"),
        Column("Id", lambda session: session.id),
    ]


def chosen_session(call: Call, word: str) -> Session:
    sessions = call.client.sessions.list()
    return choose(word, sessions, lambda one: (one.id,), "session", listed="gpuaas sessions list")


@list_command(command, "list", columns)
def list_sessions(call: Call) -> Iterable[Session]:
    """List your sessions; a star marks this one."""
    return call.client.sessions.list()


@action_command(command, "revoke")
def revoke_session(
    call: Call, session: Annotated[Session, Find(typer.Argument(help="Its id."), chosen_session)]
) -> Action[None]:
    """Sign out somewhere else."""
    return Action(
        ask=Question(
            words=f"End the session on {session.device}?",
            lost=f"{session.device} ({session.address}) has to sign in again.",
            survives="everything it made, and your other sessions.",
        ),
        run=lambda: call.client.sessions.revoke(session.id),
        done=lambda _: f"Ended the session on {session.device}.",
    )
