"""`gpuaas ssh-keys`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, Find, Question, action_command, show_command
from gpuaas.cli.complaints import Complaint
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.cli.process_context import ProcessContext, process_context
from gpuaas.cli.words import age
from gpuaas.wire.access import SshKey

command = new_group("Your SSH public keys: what lets you into your allocations.")
COMMENT = 2  # type, blob, comment


def columns(process: ProcessContext) -> list[Column[SshKey]]:
    return [
        Column("Title", lambda key: key.title, may_shrink=True),
        Column("Type", lambda key: key.type.removeprefix("ssh-")),
        Column("Fingerprint", lambda key: key.fingerprint),
        Column("Opens", lambda key: ", ".join(machine.name for machine in key.opens), may_shrink=True),
        Column("Age", lambda key: key.created_at, lambda created: age(created, process.now()), align="right"),
    ]


@command.command("list")
def list_keys(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List your keys."""
    with connected(ctx) as client:
        show_rows(
            client.ssh_keys.list(),
            [*columns(process_context(ctx)), *([Column("Id", lambda key: key.id)] if output is Output.CSV else [])],
            output,
            empty="You have no key here yet: gpuaas ssh-keys add",
        )


@show_command(command, "add", columns)
def add_key(
    call: Call,
    file: Annotated[str, typer.Argument(help="A public key file, or - for stdin.")] = "~/.ssh/id_ed25519.pub",
    title: Annotated[str, typer.Option("--title", help="Otherwise the key's comment, or this machine's name.")] = "",
) -> SshKey:
    """Add a public key.

    \b
    Examples:
      gpuaas ssh-keys add
      gpuaas ssh-keys add ~/.ssh/work.pub --title work
      ssh-add -L | head -1 | gpuaas ssh-keys add -
    """
    public_key = sys.stdin.read() if file == "-" else read_public_key(call.process, file)
    return call.client.ssh_keys.add(title or title_of(public_key, call.process), public_key.strip())


def chosen_key(call: Call, word: str) -> SshKey:
    return choose(word, call.client.ssh_keys.list(), lambda one: (one.title, one.fingerprint, one.id), "key")


@action_command(command, "remove")
def remove_key(
    call: Call, key: Annotated[SshKey, Find(typer.Argument(help="Title, fingerprint or id."), chosen_key)]
) -> Action[None]:
    """Remove one of your keys."""
    return Action(
        ask=Question(
            words=f"Remove the key {key.title}?",
            lost=f"{key.title} ({key.fingerprint}) opens nothing any more.",
            survives="your allocations, your other keys, and the private key on your disk.",
        ),
        run=lambda: call.client.ssh_keys.remove(key.id),
        done=lambda _: f"Removed {key.title}.",
    )


def read_public_key(process: ProcessContext, name: str) -> str:
    file = process.home / name[2:] if name.startswith("~/") else Path(name)
    try:
        text = file.read_text()
    except FileNotFoundError as error:
        raise Complaint(
            f"There is no key at {file}.",
            next_step="make one with: ssh-keygen -t ed25519 — then run this again, or name another file",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise Complaint(f"{file} cannot be read as a public key: {error}") from error
    if "PRIVATE KEY" in text:
        raise Complaint(f"{file} is the private half; it was not sent.", next_step=f"gpuaas ssh-keys add {name}.pub")
    return text


def title_of(public_key: str, process: ProcessContext) -> str:
    words = public_key.split(maxsplit=COMMENT)
    comment = words[COMMENT].strip() if len(words) > COMMENT else ""
    return (comment or process.hostname() or "key")[:100]
