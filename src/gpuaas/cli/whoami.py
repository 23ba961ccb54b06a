"""`gpuaas whoami`."""

import typer

from gpuaas.cli.config import effective
from gpuaas.cli.connections import connected
from gpuaas.cli.names import full_names
from gpuaas.cli.output import Column, Output, OutputOption, show_one
from gpuaas.cli.process_context import process_context
from gpuaas.wire.identity import Me


def command(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """Show who you are, where, and what you can reach."""
    with connected(ctx) as client:
        me = client.auth.me()
    url = effective(process_context(ctx)).url
    show_one(me, columns(url), output)


def columns(url: str) -> list[Column[Me]]:
    return [
        Column("Email", lambda me: me.user.email),
        Column("Id", lambda me: me.user.id),
        Column("Server", lambda _: url),
        Column("Platform role", lambda me: me.user.platform_role),
        Column("Tenants", lambda me: ", ".join(f"{one.slug} ({one.role})" for one in me.tenants)),
        Column("Projects", lambda me: ", ".join(f"{full_names(me)[one.id]} ({one.role})" for one in me.projects)),
        Column("Scopes", lambda me: ", ".join(me.scopes)),
    ]
