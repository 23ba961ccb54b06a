"""`gpuaas grants`."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated

import typer

from gpuaas.cli.commands import (
    Action,
    Call,
    Find,
    Question,
    action_command,
    found_allocation,
    list_command,
    show_command,
)
from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.groups import new_group
from gpuaas.cli.launching import chosen_keys
from gpuaas.cli.limits import GrantHoursOption
from gpuaas.cli.names import choose, chosen_member
from gpuaas.cli.output import Column, Output
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.speech import ReasonOption
from gpuaas.cli.words import age
from gpuaas.sdk import Client
from gpuaas.wire.access import AccessGrant, GrantStatus
from gpuaas.wire.allocations import Allocation

command = new_group("Share a machine: who else may enter, who asked, and with which key.")
EXTENDED_HOURS = 8.0
LIVE = (GrantStatus.ASKED, GrantStatus.AWAITING_KEY, GrantStatus.ACTIVE)
ALLOCATION = typer.Argument(metavar="ALLOCATION", help="Exact name or id.")
FoundMachine = Annotated[Allocation, Find(ALLOCATION, found_allocation, in_project=True)]
PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address or user id of a member.")]
KeyOption = Annotated[str, typer.Option("--key", "-k", help="A key of yours, by title, fingerprint or id.")]


def observed(grant: AccessGrant) -> str:
    """What the node confirmed about the key of this grant."""
    if grant.installed:
        return "admitted"
    if grant.applied:
        return "not admitted"
    return "pending"


def columns(process: ProcessContext) -> list[Column[AccessGrant]]:
    return [
        Column("Person", lambda grant: grant.email or grant.user_id, may_shrink=True),
        Column("Allocation", lambda grant: grant.allocation_name),
        Column("Status", lambda grant: grant.status),
        Column("Observed", observed),
        Column("Key", lambda grant: grant.key_fingerprint or "", may_shrink=True),
        Column("Since", lambda grant: grant.status_since, lambda since: age(since, process.now()), align="right"),
        Column("Ends", lambda grant: grant.expires_at),
        Column("Id", lambda grant: grant.id),
    ]


ONLY = typer.Argument(help="Only of this machine, also what is over.")


@list_command(command, "list", columns, empty="Nothing is shared here.")
def list_grants(
    call: Call, allocation: Annotated[Allocation | None, Find(ONLY, found_allocation, in_project=True)] = None
) -> Iterable[AccessGrant]:
    """List every live grant of a project, or all there ever were of one machine.

    \b
    Examples:
      gpuaas grants list
      gpuaas grants list train-a
    """
    grants = call.client.access_grants
    return grants.list(allocation.id) if allocation else grants.list_live(call.project_id)


@action_command(command, "create", columns, asks=False)
def create_grant(
    call: Call,
    allocation: FoundMachine,
    person: PersonArgument,
    *,
    key: Annotated[str, typer.Option("--key-id", help="Id of a key of theirs; otherwise they choose one.")] = "",
    hours: GrantHoursOption = None,
) -> Action[AccessGrant]:
    """Let a member of the project in, with a key of their own. Says yes to who has asked.

    \b
    Examples:
      gpuaas grants create train-a bob@example.com
      gpuaas grants create train-a bob@example.com --hours 8
    """
    member = chosen_member(call.client, allocation.project_id, person)
    end = None if hours is None else end_of(call.process, hours)
    create = call.client.access_grants.create

    def done(grant: AccessGrant) -> str:
        if grant.status is not GrantStatus.AWAITING_KEY or call.output is not Output.TABLE:
            return ""
        return f"{member.email} chooses a key now: gpuaas grants use-key {allocation.name}"

    return Action(run=lambda: create(allocation.id, member.user_id, ssh_key_id=key or None, expires_at=end), done=done)


def end_of(process: ProcessContext, hours: float) -> datetime:
    return process.now() + timedelta(hours=hours)


@show_command(command, "extend", columns)
def extend_grant(
    call: Call,
    allocation: FoundMachine,
    person: PersonArgument,
    *,
    hours: GrantHoursOption = None,
    forever: Annotated[bool, typer.Option("--forever", help="Remove the end.")] = False,
) -> AccessGrant:
    """Change when a grant ends by itself: in 8 hours unless told otherwise.

    \b
    Examples:
      gpuaas grants extend train-a bob@example.com
      gpuaas grants extend train-a bob@example.com --forever
    """
    if hours is not None and forever:
        raise typer.BadParameter("give one of --hours and --forever")
    end = None if forever else end_of(call.process, EXTENDED_HOURS if hours is None else hours)
    grant = chosen_grant(call.client, allocation, person)
    return call.client.access_grants.change(allocation.id, grant.id, expires_at=end)


@show_command(command, "ask", columns)
def ask_for_grant(call: Call, allocation: FoundMachine, key: KeyOption = "", reason: ReasonOption = "") -> AccessGrant:
    """Ask whoever holds a machine to let you in; they say yes with one command.

    \b
    Example:
      gpuaas grants ask train-a --reason "to look at the loss"
    """
    chosen = chosen_keys(call.client, [key] if key else [])[0]
    return call.client.access_grants.ask(allocation.id, ssh_key_id=chosen.id, reason=reason)


@show_command(command, "use-key", columns)
def use_key(call: Call, allocation: FoundMachine, key: KeyOption = "") -> AccessGrant:
    """Choose, or change, the key with which you enter a machine that was shared with you.

    \b
    Examples:
      gpuaas grants use-key train-a
      gpuaas grants use-key train-a --key desk
    """
    grant = chosen_grant(call.client, allocation, call.client.auth.me().user.id)
    chosen = chosen_keys(call.client, [key] if key else [])[0]
    return call.client.access_grants.change(allocation.id, grant.id, ssh_key_id=chosen.id)


@action_command(command, "revoke", columns)
def revoke_grant(
    call: Call,
    allocation: FoundMachine,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address, user or grant id; or `me`.")],
    reason: ReasonOption = "",
) -> Action[AccessGrant]:
    """Take a grant back, or give up your own.

    \b
    Examples:
      gpuaas grants revoke train-a bob@example.com
      gpuaas grants revoke train-a me --yes
    """
    grant = chosen_grant(call.client, allocation, call.client.auth.me().user.id if person == "me" else person)
    who = grant.email or grant.user_id
    return Action(
        ask=Question(
            words=f"Revoke the access of {who} to {allocation.name}?",
            lost=f"{who} cannot log in to {allocation.name} any more, and their open sessions are cut.",
            survives=f"{allocation.name} and all that runs there, their programs too; everybody else's access.",
        ),
        run=lambda: call.client.access_grants.revoke(allocation.id, grant.id, reason=reason or None),
        done=lambda revoked: revoked.notice or "" if call.output is Output.TABLE else "",
    )


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
