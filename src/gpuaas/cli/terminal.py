"""`gpuaas terminal`."""

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import signed_in
from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_allocation
from gpuaas.cli.openssh import connection_of
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import note
from gpuaas.cli.terminal_client import HAS_TERMIOS, Outcome, connect_terminal

ATTEMPTS = 5  # to come back into a terminal whose connection was lost


def command(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Exact name or id.")],
    *,
    session: Annotated[str, typer.Option(help="Go back into this terminal instead of opening a new one.")] = "",
    record: Annotated[bool, typer.Option("--record", help="Keep what it shows; see docs/howto/terminal.md.")] = False,
    project: ProjectOption = "",
) -> None:
    """Open a terminal on an allocation over HTTPS, without SSH and without a key.

    Ctrl-] leaves it; the shell goes on for some minutes, and --session leads back. A lost connection is mended.

    \b
    Examples:
      gpuaas terminal train-a
      gpuaas terminal train-a --record
      gpuaas terminal train-a --session term_01hx…
    """
    require_terminal(f"gpuaas ssh {name} -- COMMAND runs a command")
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        connection_of(found)

        def mint(session_id: str | None) -> str:
            return client.allocations.mint_terminal_token(found.id, session_id=session_id, record=record).token

        session, outcome = run_terminal(ctx, found.id, mint, session)
    conclude(found.name, session, outcome)


def require_terminal(next_step: str) -> None:
    if not HAS_TERMIOS:
        raise Complaint("This system has no POSIX terminals.", next_step="gpuaas ssh NAME")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Complaint("A terminal needs a terminal.", next_step=next_step)


def run_terminal(
    ctx: typer.Context, allocation_id: str, mint: Callable[[str | None], str], session: str = ""
) -> tuple[str, Outcome]:
    """Until the terminal ends or its person leaves; a lost connection is opened again, with a new token."""
    url = signed_in(process_context(ctx)).url.rstrip("/")
    address = f"ws{url.removeprefix('http')}/api/v1/terminal/{allocation_id}"
    for attempt in range(ATTEMPTS):
        outcome = asyncio.run(connect_terminal(address, mint(session or None), pause=min(attempt, 1)))
        session = outcome.session_id or session
        if not outcome.is_lost:
            break
        note("The connection was lost; trying to come back.")
    return session, outcome


def conclude(name: str, session: str, outcome: Outcome) -> None:
    if outcome.has_left:
        note(f"\nLeft. The shell goes on for some minutes: gpuaas terminal {name} --session {session}")
        return
    if outcome.exit_code is None:
        reason = outcome.reason or "the connection was lost"
        raise Complaint(f"The terminal ended: {reason}.", next_step=f"gpuaas terminal {name}", code=ExitCode.SERVER)
    if outcome.exit_code != 0:
        raise typer.Exit(outcome.exit_code if outcome.exit_code > 0 else 128 - outcome.exit_code)
