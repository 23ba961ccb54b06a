"""`gpuaas allocations sessions | end-session | break-glass | end-break-glass | set-keys | own-keys | handover`."""

from typing import Annotated

import typer

from gpuaas.cli.allocation_views import card
from gpuaas.cli.connections import connected
from gpuaas.cli.launching import chosen_keys
from gpuaas.cli.names import NameArgument, ProjectOption, choose, chosen_allocation, chosen_member
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, confirm, note
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age, clock
from gpuaas.wire.access import AllocationKeys
from gpuaas.wire.sessions import LiveSession
from gpuaas.wire.terminals import BreakGlass


def when_cut_off(keys: AllocationKeys) -> str:
    return (
        f"the holder's keys work for {keys.holder_lease_seconds / 3600:g} hours, "
        f"all others for {keys.lease_seconds / 60:g} minutes"
    )


KEYS: list[Column[AllocationKeys]] = [
    Column("Keys that enter", lambda keys: ", ".join(keys.fingerprints) or "none"),
    Column("Installed", lambda keys: "yes" if keys.installed else "on its way"),
    Column("Its own file", lambda keys: "admitted" if keys.admits_own_keys else "not admitted"),
    Column("Unknown keys in it", lambda keys: ", ".join(keys.own_fingerprints) if keys.admits_own_keys else None),
    Column("Refused keys in it", lambda keys: ", ".join(keys.own_refused_fingerprints) or None),
    Column("If its node is cut off", when_cut_off),
]


BREAK_GLASS: list[Column[BreakGlass]] = [
    Column("Operator", lambda one: one.email, may_shrink=True),
    Column("Reason", lambda one: one.reason, may_shrink=True),
    Column("From", lambda one: one.created_at, clock),
    Column("Until", lambda one: one.ended_at or one.expires_at, clock),
]


def columns(around: Surroundings) -> list[Column[LiveSession]]:
    return [
        Column(
            "Person", lambda one: "unknown key" if one.is_unknown_key else one.email or one.user_id, may_shrink=True
        ),
        Column("Kind", lambda one: one.kind),
        Column("From", lambda one: one.source),
        Column("Since", lambda one: one.opened_at, lambda opened: age(opened, around.now()), align="right"),
        Column("In", lambda one: str(one.bytes_in), align="right"),
        Column("Out", lambda one: str(one.bytes_out), align="right"),
        Column("Key", lambda one: one.key_fingerprint, may_shrink=True),
        Column("Id", lambda one: one.id),
    ]


def show_sessions(
    ctx: typer.Context, name: NameArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Show who is in: from where, since when, by which key."""
    with connected(ctx) as client:
        seen = client.allocations.sessions(chosen_allocation(ctx, client, name, project).id)
    if output is Output.JSON:
        show_json(seen)
        return
    show_rows(seen.items, columns(surroundings_of(ctx)), output, empty="Nobody is in.")
    if not seen.is_current:
        note("The node does not answer now: this is how it was when it was last heard.")


def end_session(
    ctx: typer.Context,
    name: NameArgument,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Its id.")],
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
) -> None:
    """Cut one session, telling its person why. Their key still admits: `gpuaas grants revoke` keeps them out.

    \b
    Example:
      gpuaas allocations end-session train-a SESSION
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        listed = f"gpuaas allocations sessions {found.name}"
        inside = client.allocations.sessions(found.id).items
        chosen = choose(session, inside, lambda one: (one.id,), "session", listed=listed)
        confirm(
            f"End this session of {chosen.email or chosen.user_id}?",
            lost="the connection, and programs in it that do not outlive their terminal.",
            survives="the machine, everybody else's sessions, and their access: they may log in again.",
            yes=yes,
        )
        client.allocations.end_session(found.id, chosen.id, reason=reason or None)
    note("It is being ended.")


def show_break_glass(
    ctx: typer.Context, name: NameArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Show which operators have or had break-glass access, why and until when; newest first."""
    with connected(ctx) as client:
        found = client.allocations.break_glass(chosen_allocation(ctx, client, name, project).id)
        show_rows(found, BREAK_GLASS, output, empty="No operator had access.")


def end_break_glass(
    ctx: typer.Context, name: NameArgument, *, yes: YesOption = False, project: ProjectOption = ""
) -> None:
    """End all break-glass access of operators to an allocation."""
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        confirm(
            f"End the operators' access to {found.name}?",
            lost="operators' terminals are closed. For new access they have to give a new reason.",
            survives="the allocation and everybody else's connections.",
            yes=yes,
        )
        client.allocations.end_break_glass(found.id)
    note("Ended.")


def set_keys(
    ctx: typer.Context,
    name: NameArgument,
    key: Annotated[
        list[str] | None, typer.Option("--key", "-k", help="SSH key by title; repeat for several. Otherwise all yours.")
    ] = None,
    *,
    none: Annotated[bool, typer.Option("--none", help="No key of yours any more.")] = False,
    yes: YesOption = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Change the keys with which you enter a machine that runs.

    \b
    Examples:
      gpuaas allocations set-keys train-a --key desk --key laptop
      gpuaas allocations set-keys train-a
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        chosen = [] if none else [one.id for one in chosen_keys(client, key or [])]
        confirm(
            f"Change the keys of {found.name}?",
            lost="keys of yours that are not named enter no more, and their open sessions are cut.",
            survives=f"{found.name} and all that runs there; what is granted to others.",
            yes=yes,
        )
        keys = client.allocations.set_ssh_keys(found.id, chosen, confirm_no_way_in=none)
    show_one(keys, KEYS, output)


def own_keys(
    ctx: typer.Context,
    name: NameArgument,
    *,
    allow: Annotated[
        bool | None, typer.Option("--allow/--refuse", help="Let them in, or no more. Otherwise show how it is.")
    ] = None,
    yes: YesOption = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Let keys of the machine's own ~/.ssh/authorized_keys in, or show which there are.

    \b
    Examples:
      gpuaas allocations own-keys train-a
      gpuaas allocations own-keys train-a --allow
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        if allow:
            confirm(
                f"Let in whoever has a key in ~/.ssh/authorized_keys of {found.name}?",
                lost="knowing who enters: whoever can write that file lets in whom they like, also after a revoke.",
                survives="everything else; such logins are flagged, and --refuse cuts them.",
                yes=yes,
            )
        keys = (
            client.allocations.ssh_keys(found.id)
            if allow is None
            else client.allocations.allow_own_keys(found.id, allowed=allow)
        )
    show_one(keys, KEYS, output)


def hand_over(
    ctx: typer.Context,
    name: NameArgument,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address or user id of a member.")],
    *,
    key: Annotated[
        list[str] | None, typer.Option("--key-id", help="Id of a key of theirs; otherwise they set them.")
    ] = None,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Let another member hold the machine: nothing inside is touched.

    \b
    Example:
      gpuaas allocations handover train-a bob@example.com
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        member = chosen_member(client, found.project_id, person)
        confirm(
            f"Hand {found.name} over to {member.email}?",
            lost="the holder's keys enter no more, their open sessions are cut; it may be shared with them again.",
            survives=f"{found.name} and all that runs there, its address, and what is granted to others.",
            yes=yes,
        )
        handed = client.allocations.hand_over(found.id, member.user_id, ssh_key_ids=key or (), reason=reason)
    show_one(handed, card(surroundings_of(ctx).now), output)


def add_to(command: typer.Typer) -> None:
    command.command("sessions")(show_sessions)
    command.command("end-session")(end_session)
    command.command("break-glass")(show_break_glass)
    command.command("end-break-glass")(end_break_glass)
    command.command("set-keys")(set_keys)
    command.command("own-keys")(own_keys)
    command.command("handover")(hand_over)
