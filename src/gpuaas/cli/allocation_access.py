"""`gpuaas allocations sessions | end-session | break-glass | end-break-glass | set-keys | own-keys | handover`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.allocation_views import card
from gpuaas.cli.commands import (
    Action,
    Call,
    FoundAllocation,
    Question,
    action_command,
    list_command,
    show_command,
)
from gpuaas.cli.launching import chosen_keys
from gpuaas.cli.names import choose, chosen_member
from gpuaas.cli.output import Column, Output, show_json, show_rows
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.speech import ReasonOption, note
from gpuaas.cli.words import age, clock
from gpuaas.wire.access import AllocationKeys
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.sessions import EndedSession, LiveSession, LiveSessions
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


def columns(process: ProcessContext) -> list[Column[LiveSession]]:
    return [
        Column(
            "Person", lambda one: "unknown key" if one.is_unknown_key else one.email or one.user_id, may_shrink=True
        ),
        Column("Kind", lambda one: one.kind),
        Column("From", lambda one: one.source),
        Column("Since", lambda one: one.opened_at, lambda opened: age(opened, process.now()), align="right"),
        Column("In", lambda one: str(one.bytes_in), align="right"),
        Column("Out", lambda one: str(one.bytes_out), align="right"),
        Column("Key", lambda one: one.key_fingerprint, may_shrink=True),
        Column("Id", lambda one: one.id),
    ]


def add_to(command: typer.Typer) -> None:
    show_command(command, "sessions", show=show_sessions)(sessions_of)
    action_command(command, "end-session")(end_session)
    list_command(command, "break-glass", BREAK_GLASS, empty="No operator had access.")(break_glass_of)
    action_command(command, "end-break-glass")(end_break_glass)
    action_command(command, "set-keys", KEYS)(set_keys)
    action_command(command, "own-keys", KEYS)(own_keys)
    action_command(command, "handover", lambda process: card(process.now))(hand_over)


def sessions_of(call: Call, name: FoundAllocation) -> LiveSessions:
    """Show who is in: from where, since when, by which key."""
    return call.client.allocations.sessions(name.id)


def show_sessions(call: Call, seen: LiveSessions) -> None:
    if call.output is Output.JSON:
        show_json(seen)
        return
    show_rows(seen.items, columns(call.process), call.output, empty="Nobody is in.")
    if not seen.is_current:
        note("The node does not answer now: this is how it was when it was last heard.")


def end_session(
    call: Call,
    name: FoundAllocation,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Its id.")],
    reason: ReasonOption = "",
) -> Action[EndedSession]:
    """Cut one session, telling its person why. Their key still admits: `gpuaas grants revoke` keeps them out.

    \b
    Example:
      gpuaas allocations end-session train-a SESSION
    """
    listed = f"gpuaas allocations sessions {name.name}"
    inside = call.client.allocations.sessions(name.id).items
    chosen = choose(session, inside, lambda one: (one.id,), "session", listed=listed)
    return Action(
        ask=Question(
            words=f"End this session of {chosen.email or chosen.user_id}?",
            lost="the connection, and programs in it that do not outlive their terminal.",
            survives="the machine, everybody else's sessions, and their access: they may log in again.",
        ),
        run=lambda: call.client.allocations.end_session(name.id, chosen.id, reason=reason or None),
        done=lambda _: "It is being ended.",
    )


def break_glass_of(call: Call, name: FoundAllocation) -> Iterable[BreakGlass]:
    """Show which operators have or had break-glass access, why and until when; newest first."""
    return call.client.allocations.break_glass(name.id)


def end_break_glass(call: Call, name: FoundAllocation) -> Action[None]:
    """End all break-glass access of operators to an allocation."""
    return Action(
        ask=Question(
            words=f"End the operators' access to {name.name}?",
            lost="operators' terminals are closed. For new access they have to give a new reason.",
            survives="the allocation and everybody else's connections.",
        ),
        run=lambda: call.client.allocations.end_break_glass(name.id),
        done=lambda _: "Ended.",
    )


def set_keys(
    call: Call,
    name: FoundAllocation,
    key: Annotated[
        list[str] | None, typer.Option("--key", "-k", help="SSH key by title; repeat for several. Otherwise all yours.")
    ] = None,
    *,
    none: Annotated[bool, typer.Option("--none", help="No key of yours any more.")] = False,
) -> Action[AllocationKeys]:
    """Change the keys with which you enter a machine that runs.

    \b
    Examples:
      gpuaas allocations set-keys train-a --key desk --key laptop
      gpuaas allocations set-keys train-a
    """
    chosen = [] if none else [one.id for one in chosen_keys(call.client, key or [])]
    return Action(
        ask=Question(
            words=f"Change the keys of {name.name}?",
            lost="keys of yours that are not named enter no more, and their open sessions are cut.",
            survives=f"{name.name} and all that runs there; what is granted to others.",
        ),
        run=lambda: call.client.allocations.set_ssh_keys(name.id, chosen, confirm_no_way_in=none),
    )


def own_keys(
    call: Call,
    name: FoundAllocation,
    *,
    allow: Annotated[
        bool | None, typer.Option("--allow/--refuse", help="Let them in, or no more. Otherwise show how it is.")
    ] = None,
) -> Action[AllocationKeys]:
    """Let keys of the machine's own ~/.ssh/authorized_keys in, or show which there are.

    \b
    Examples:
      gpuaas allocations own-keys train-a
      gpuaas allocations own-keys train-a --allow
    """
    allocations = call.client.allocations
    if allow is None:
        return Action(run=lambda: allocations.ssh_keys(name.id))
    question = Question(
        words=f"Let in whoever has a key in ~/.ssh/authorized_keys of {name.name}?",
        lost="knowing who enters: whoever can write that file lets in whom they like, also after a revoke.",
        survives="everything else; such logins are flagged, and --refuse cuts them.",
    )
    return Action(ask=question if allow else None, run=lambda: allocations.allow_own_keys(name.id, allowed=allow))


def hand_over(
    call: Call,
    name: FoundAllocation,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address or user id of a member.")],
    *,
    key: Annotated[
        list[str] | None, typer.Option("--key-id", help="Id of a key of theirs; otherwise they set them.")
    ] = None,
    reason: ReasonOption = "",
) -> Action[Allocation]:
    """Let another member hold the machine: nothing inside is touched.

    \b
    Example:
      gpuaas allocations handover train-a bob@example.com
    """
    member, hand_over = chosen_member(call.client, name.project_id, person), call.client.allocations.hand_over
    return Action(
        ask=Question(
            words=f"Hand {name.name} over to {member.email}?",
            lost="the holder's keys enter no more, their open sessions are cut; it may be shared with them again.",
            survives=f"{name.name} and all that runs there, its address, and what is granted to others.",
        ),
        run=lambda: hand_over(name.id, member.user_id, ssh_key_ids=key or (), reason=reason),
    )
