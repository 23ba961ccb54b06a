"""`gpuaas tokens`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.names import choose
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_rows
from gpuaas.cli.speech import YesOption, confirm, note, say
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age, until
from gpuaas.wire.identity import Scope, Token

command = new_app("Personal tokens for programs: scoped, expiring, revocable.")


def columns(around: Surroundings) -> list[Column[Token]]:
    now = around.now
    return [
        Column("Title", lambda token: token.title, may_shrink=True),
        Column("Scopes", lambda token: ",".join(token.scopes)),
        Column("Age", lambda token: token.created_at, lambda created: age(created, now()), align="right"),
        Column("Expires", lambda token: token.expires_at, lambda moment: until(moment, now()), align="right"),
        Column("Id", lambda token: token.id),
    ]


@command.command("list")
def list_tokens(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List your tokens; never the secrets themselves."""
    empty = "You have no tokens: gpuaas tokens create TITLE"
    with connected(ctx) as client:
        show_rows(client.tokens.list(), columns(surroundings_of(ctx)), output, empty=empty)


@command.command("create")
def create_token(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[list[Scope], typer.Option("--scope", help="What it may do at most; repeat for several.")] = [  # noqa: B006 - Typer's way
        Scope.READ
    ],
    days: Annotated[int, typer.Option("--days", min=1, max=365, help="How long it lives.")] = 30,
    output: OutputOption = Output.TABLE,
) -> None:
    """Make a token and print it, this once.

    \b
    Examples:
      gpuaas tokens create "nightly job" --scope read --scope write --days 90
      export GPUAAS_TOKEN=$(gpuaas tokens create notebook --scope write)
    """
    with connected(ctx) as client:
        made = client.tokens.create(title, scope, expires_in_days=days)
    if output is Output.JSON:
        show_json(made)
        return
    say(made.token)
    note(f"Shown this once. It may {', '.join(made.details.scopes)} until {made.details.expires_at:%Y-%m-%d}.")


@command.command("revoke")
def revoke_token(
    ctx: typer.Context,
    token: Annotated[str, typer.Argument(help="Title or id.")],
    yes: YesOption = False,
) -> None:
    """End a token at once."""
    with connected(ctx) as client:
        found = choose(token, client.tokens.list(), lambda one: (one.title, one.id), "token")
        confirm(
            f"Revoke {found.title}?",
            lost=f"programs that use {found.title} are refused from now on.",
            survives="whatever they made.",
            yes=yes,
        )
        client.tokens.revoke(found.id)
    note(f"Revoked {found.title}.")
