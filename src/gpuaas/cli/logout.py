"""`gpuaas logout`."""

from dataclasses import replace

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import save, saved
from gpuaas.cli.connections import connected_as
from gpuaas.cli.speech import note
from gpuaas.cli.surroundings import surroundings_of


def command(ctx: typer.Context) -> None:
    """Sign out: end the session on the server and forget the token here."""
    around = surroundings_of(ctx)
    settings = saved(around)
    if not settings.token:
        note("You were not signed in.")
        return
    save(around, replace(settings, token=""))  # first, so that it is forgotten even if the server is away
    try:
        with connected_as(around, settings) as client:
            client.auth.logout()
    except Complaint as complaint:
        if complaint.exit_code is not ExitCode.AUTH:  # a session that is over already is what was asked for
            raise
    note(f"Signed out of {settings.url}.")
