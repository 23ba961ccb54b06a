"""`gpuaas grants`."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.connections import connected
from gpuaas.cli.launching import chosen_keys
from gpuaas.cli.limits import GrantHoursOption
from gpuaas.cli.names import MachineArgument, ProjectOption, choose, chosen_allocation, chosen_member, chosen_project
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, confirm, note
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age
from gpuaas.sdk import Client
from gpuaas.wire.access import AccessGrant, GrantStatus
from gpuaas.wire.allocations import Allocation

command = new_app("Share a machine: who else may enter, who asked, and with which key.")
EXTENDED_HOURS = 8.0
LIVE = (GrantStatus.ASKED, GrantStatus.AWAITING_KEY, GrantStatus.ACTIVE)
PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address or user id of a member.")]
KeyOption = Annotated[str, typer.Option("--key", "-k", help="A key of yours, by title, fingerprint or id.")]


def observed(grant: AccessGrant) -> str:
    """What the node confirmed about the key of this grant."""
    if grant.installed:
        return "admitted"
    if grant.applied:
        return "not admitted"
    return "pending"


def columns(around: Surroundings) -> list[Column[AccessGrant]]:
    return [
        Column("Person", lambda grant: grant.email or grant.user_id, may_shrink=True),
        Column("Allocation", lambda grant: grant.allocation_name),
        Column("Status", lambda grant: grant.status),
        Column("Observed", observed),
        Column("Key", lambda grant: grant.key_fingerprint or "", may_shrink=True),
        Column("Since", lambda grant: grant.status_since, lambda since: age(since, around.now()), align="right"),
        Column("Ends", lambda grant: grant.expires_at),
        Column("Id", lambda grant: grant.id),
    ]


@command.command("list")
def list_grants(
    ctx: typer.Context,
    allocation: Annotated[str, typer.Argument(help="Only of this machine, also what is over.")] = "",
    *,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List every live grant of a project, or all there ever were of one machine.

    \b
    Examples:
      gpuaas grants list
      gpuaas grants list train-a
    """
    with connected(ctx) as client:
        if allocation:
            found = list(client.access_grants.list(chosen_allocation(ctx, client, allocation, project).id))
        else:
            found = list(client.access_grants.list_live(chosen_project(ctx, client, project)))
    show_rows(found, columns(surroundings_of(ctx)), output, empty="Nothing is shared here.")


@command.command("create")
def create_grant(
    ctx: typer.Context,
    allocation: MachineArgument,
    person: PersonArgument,
    *,
    key: Annotated[str, typer.Option("--key-id", help="Id of a key of theirs; otherwise they choose one.")] = "",
    hours: GrantHoursOption = None,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Let a member of the project in, with a key of their own. Says yes to who has asked.

    \b
    Examples:
      gpuaas grants create train-a bob@example.com
      gpuaas grants create train-a bob@example.com --hours 8
    """
    around = surroundings_of(ctx)
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, allocation, project)
        member = chosen_member(client, found.project_id, person)
        grant = client.access_grants.create(
            found.id,
            member.user_id,
            ssh_key_id=key or None,
            expires_at=None if hours is None else end_of(around, hours),
        )
    show_one(grant, columns(around), output)
    if grant.status is GrantStatus.AWAITING_KEY and output is Output.TABLE:
        note(f"{member.email} chooses a key now: gpuaas grants use-key {found.name}")


def end_of(around: Surroundings, hours: float) -> datetime:
    return around.now() + timedelta(hours=hours)


@command.command("extend")
def extend_grant(
    ctx: typer.Context,
    allocation: MachineArgument,
    person: PersonArgument,
    *,
    hours: GrantHoursOption = None,
    forever: Annotated[bool, typer.Option("--forever", help="Remove the end.")] = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Change when a grant ends by itself: in 8 hours unless told otherwise.

    \b
    Examples:
      gpuaas grants extend train-a bob@example.com
      gpuaas grants extend train-a bob@example.com --forever
    """
    if hours is not None and forever:
        raise typer.BadParameter("give one of --hours and --forever")
    around = surroundings_of(ctx)
    end = None if forever else end_of(around, EXTENDED_HOURS if hours is None else hours)
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, allocation, project)
        grant = chosen_grant(client, found, person)
        changed = client.access_grants.change(found.id, grant.id, expires_at=end)
    show_one(changed, columns(around), output)


@command.command("ask")
def ask_for_grant(
    ctx: typer.Context,
    allocation: MachineArgument,
    *,
    key: KeyOption = "",
    reason: ReasonOption = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Ask whoever holds a machine to let you in; they say yes with one command.

    \b
    Example:
      gpuaas grants ask train-a --reason "to look at the loss"
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, allocation, project)
        chosen = chosen_keys(client, [key] if key else [])[0]
        grant = client.access_grants.ask(found.id, ssh_key_id=chosen.id, reason=reason)
    show_one(grant, columns(surroundings_of(ctx)), output)


@command.command("use-key")
def use_key(
    ctx: typer.Context,
    allocation: MachineArgument,
    *,
    key: KeyOption = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Choose, or change, the key with which you enter a machine that was shared with you.

    \b
    Examples:
      gpuaas grants use-key train-a
      gpuaas grants use-key train-a --key desk
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, allocation, project)
        grant = chosen_grant(client, found, client.auth.me().user.id)
        chosen = chosen_keys(client, [key] if key else [])[0]
        changed = client.access_grants.change(found.id, grant.id, ssh_key_id=chosen.id)
    show_one(changed, columns(surroundings_of(ctx)), output)


@command.command("revoke")
def revoke_grant(
    ctx: typer.Context,
    allocation: MachineArgument,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address, user or grant id; or `me`.")],
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Take a grant back, or give up your own.

    \b
    Examples:
      gpuaas grants revoke train-a bob@example.com
      gpuaas grants revoke train-a me --yes
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, allocation, project)
        wanted = client.auth.me().user.id if person == "me" else person
        grant = chosen_grant(client, found, wanted)
        who = grant.email or grant.user_id
        confirm(
            f"Revoke the access of {who} to {found.name}?",
            lost=f"{who} cannot log in to {found.name} any more, and their open sessions are cut.",
            survives=f"{found.name} and all that runs there, their programs too; everybody else's access.",
            yes=yes,
        )
        revoked = client.access_grants.revoke(found.id, grant.id, reason=reason or None)
    show_one(revoked, columns(surroundings_of(ctx)), output)
    if output is Output.TABLE:
        note(revoked.notice)


def chosen_grant(client: Client, found: Allocation, word: str) -> AccessGrant:
    """The live one of this person, or the one with this id."""
    live = [one for one in client.access_grants.list(found.id) if one.status in LIVE]
    if not live:
        raise Complaint(
            f"{found.name} is shared with nobody.",
            next_step=f"gpuaas grants list {found.name}",
            code=ExitCode.NOT_FOUND,
        )
    return choose(word, live, lambda one: (one.email, one.user_id, one.id), "grant")
