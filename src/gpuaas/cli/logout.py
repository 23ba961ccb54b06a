"""`gpuaas logout`."""

from dataclasses import replace

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import save, saved
from gpuaas.cli.connections import connected_as
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import note


def command(ctx: typer.Context) -> None:
    """Sign out: end the session on the server and forget the token here."""
    process = process_context(ctx)
    settings = saved(process)
    if not settings.token:
        note("You were not signed in.")
        return
    save(process, replace(settings, token=""))  # first, so that it is forgotten even if the server is away
    try:
        with connected_as(process, settings) as client:
            client.auth.logout()
    except Complaint as complaint:
        if complaint.exit_code is not ExitCode.AUTH:  # a session that is over already is what was asked for
            raise
    note(f"Signed out of {settings.url}.")
