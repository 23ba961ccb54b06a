"""`gpuaas tokens`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, Find, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose
from gpuaas.cli.output import Column, Output, show_json
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.speech import note, say
from gpuaas.cli.words import age, until
from gpuaas.wire.identity import NewToken, Scope, Token

command = new_group("Personal tokens for programs: scoped, expiring, revocable.")


def columns(process: ProcessContext) -> list[Column[Token]]:
    now = process.now
    return [
        Column("Title", lambda token: token.title, may_shrink=True),
        Column("Scopes", lambda token: ",".join(token.scopes)),
        Column("Age", lambda token: token.created_at, lambda created: age(created, now()), align="right"),
        Column("Expires", lambda token: token.expires_at, lambda moment: until(moment, now()), align="right"),
        Column("Id", lambda token: token.id),
    ]


def chosen_token(call: Call, word: str) -> Token:
    return choose(word, call.client.tokens.list(), lambda one: (one.title, one.id), "token")


@list_command(command, "list", columns, empty="You have no tokens: gpuaas tokens create TITLE")
def list_tokens(call: Call) -> Iterable[Token]:
    """List your tokens; never the secrets themselves."""
    return call.client.tokens.list()


def show_created(call: Call, made: NewToken) -> None:
    if call.output is Output.JSON:
        show_json(made)
        return
    say(made.token)
    note(f"Shown this once. It may {', '.join(made.details.scopes)} until {made.details.expires_at:%Y-%m-%d}.")


@show_command(command, "create", show=show_created)
def create_token(
    call: Call,
    title: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[list[Scope], typer.Option("--scope", help="What it may do at most; repeat for several.")] = [  # noqa: B006 - Typer's way
        Scope.READ
    ],
    days: Annotated[int, typer.Option("--days", min=1, max=365, help="How long it lives.")] = 30,
) -> NewToken:
    """Make a token and print it, this once.

    \b
    Examples:
      gpuaas tokens create "nightly job" --scope read --scope write --days 90
      export GPUAAS_TOKEN=$(gpuaas tokens create notebook --scope write)
    """
    return call.client.tokens.create(title, scope, expires_in_days=days)


@action_command(command, "revoke")
def revoke_token(
    call: Call, token: Annotated[Token, Find(typer.Argument(help="Title or id."), chosen_token)]
) -> Action[None]:
    """End a token at once."""
    return Action(
        ask=Question(
            words=f"Revoke {token.title}?",
            lost=f"programs that use {token.title} are refused from now on.",
            survives="whatever they made.",
        ),
        run=lambda: call.client.tokens.revoke(token.id),
        done=lambda _: f"Revoked {token.title}.",
    )
