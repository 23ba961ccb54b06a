"""Allocations and their timelines as rows, cards and lines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec
import typer
from rich.live import Live

from gpuaas.cli.output import Column, Output, card_of, show_csv, stdout
from gpuaas.cli.speech import note, say
from gpuaas.cli.words import age, clock, memory, money, took
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.storage import Attachment, AttachmentStatus
from gpuaas.wire.timeline import Entry, Outcome

Now = Callable[[], datetime]
Timed = tuple[Entry, Entry | None]


def summary(now: Now) -> list[Column[Allocation]]:
    return [
        Column("Name", lambda one: one.name, may_shrink=True),
        Column("Status", lambda one: one.status, is_state=True),
        Column("Health", lambda one: one.health, is_state=True),
        Column("Sku", lambda one: one.sku, may_shrink=True),
        Column("GPUs", lambda one: one.gpu_count, align="right"),
        Column("Region", lambda one: one.node.region),
        Column("Address", address),
        Column("Age", lambda one: one.created_at, lambda created: age(created, now()), align="right"),
    ]


def card(now: Now) -> list[Column[Allocation]]:
    return [
        Column("Name", lambda one: one.name),
        Column("Id", lambda one: one.id),
        Column("Status", lambda one: one.status, is_state=True),
        Column("Since", lambda one: one.status_since, lambda since: f"{age(since, now())} ({clock(since)})"),
        Column("Reason", lambda one: one.status_reason),
        Column("Health", lambda one: one.health, is_state=True),
        Column("Because", health_words),
        Column("Sku", lambda one: f"{one.sku}{' (simulated)' if one.simulated else ''}"),
        Column("GPUs", lambda one: one.gpu_count),
        Column("Size", lambda one: one.size),
        Column("vCPUs", lambda one: one.vcpus),
        Column("Memory", lambda one: one.memory_mib, memory),
        Column("Root disk", lambda one: f"{one.disk_gib} GiB"),
        Column("Init", lambda one: one.init),
        Column("Base image", image),
        Column("Slots", lambda one: ", ".join(str(slot.index) for slot in one.slots)),
        Column("Node", lambda one: f"{one.node.id} in {one.node.region}"),
        Column("Boot", lambda one: one.boot),
        Column("Per hour", lambda one: one.price_per_hour, money),
        Column("Resize", lambda one: one.resize and f"to {one.resize.gpu_count} GPUs, {one.resize.size}, under way"),
        Column("Ends", lambda one: None if one.released_at else one.limits.expires_at, ends_in(now)),
        Column("Idle limit", lambda one: one.limits.idle_minutes and f"{one.limits.idle_minutes} minutes"),
        Column("Volumes", volumes),
        Column("Runtime", runtime),
        Column("Cost so far", lambda one: one.cost_so_far and one.cost_so_far.amount, money),
        Column("Billing", lambda one: one.billing.state, lambda state: str(state).replace("_", " ")),
        Column("Created", lambda one: one.created_at, clock),
        Column("Active", lambda one: one.active_at, clock),
        Column("Released", lambda one: one.released_at, clock),
        Column("Requested by", lambda one: one.requested_by),
        Column("Holder", lambda one: one.holder),
        Column("Group", lambda one: one.group_id),
        Column("Address", address),
        Column("Host key", lambda one: one.connection.host_key if one.connection and not one.released_at else None),
        Column("Get in", lambda one: one.connection.command if one.connection and not one.released_at else None),
    ]


def ends_in(now: Now) -> Callable[[datetime], str]:
    return lambda at: f"{clock(at)} (in {age(now(), at)})"


def volumes(one: Allocation) -> str | None:
    """Each with its path and how it is, one below the other."""
    return "\n".join(mounted(at) for at in one.attachments) or None


def mounted(at: Attachment) -> str:
    why = "" if at.status is AttachmentStatus.ATTACHED else f": {at.status_reason}"
    return f"{at.volume_name} at {at.mount_path}, {at.access_mode}, {at.status}{why}"


def health_words(one: Allocation) -> str | None:
    """Each reason with its next step, one below the other."""
    return "\n".join(f"{reason.words} {reason.next_step}" for reason in one.health_reasons) or None


def image(one: Allocation) -> str | None:
    """With what to do about it when it is outdated."""
    if one.image is None:
        return None
    words = f"{one.image.version} ({one.image.distribution}, Python {one.image.python})"
    return f"{words}\nOutdated. {one.image.advice}" if one.image.outdated_since else words


def runtime(one: Allocation) -> str | None:
    if one.runtime is None or one.runtime.bundle is None:
        return None
    return f"{one.runtime.bundle.slug} {one.runtime.bundle.version}, {one.runtime.state}"


def address(one: Allocation) -> str | None:
    """None once it is released: the port may lead to another machine by then."""
    return f"{one.connection.host}:{one.connection.port}" if one.connection and not one.released_at else None


def say_how_to_get_in(made: Sequence[Allocation]) -> None:
    for one in made:
        note(f"{one.name} is {one.status}. Get in with: gpuaas ssh {one.name}")
        if one.connection:
            say(one.connection.command)


def show_changes(seen: Iterable[Allocation], columns: Sequence[Column[Allocation]], output: Output) -> None:
    """Drawn anew on a terminal; a line or document for every change in a pipe. Ends with the allocation or Ctrl-C."""
    console = stdout()
    if output is Output.TABLE and console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            for one in seen:
                live.update(card_of(one, columns), refresh=True)
        return
    before = None
    for one in seen:
        if one != before:
            show_change(one, columns, output, is_first=before is None)
        before = one


def show_change(one: Allocation, columns: Sequence[Column[Allocation]], output: Output, *, is_first: bool) -> None:
    if output is Output.JSON:
        typer.echo(msgspec.json.encode(one))
    elif output is Output.CSV:
        show_csv([one], columns, with_header=is_first)
    else:
        reason = f": {one.status_reason}" if one.status_reason else ""
        say(f"{clock(one.status_since)}  {one.name} is {one.status}, health {one.health}{reason}")


SUMMARY: list[Column[Timed]] = [
    Column("At", lambda row: row[0].at, clock),
    Column("Phase", lambda row: row[0].phase, lambda phase: str(phase).replace("_", " ")),
    Column("Outcome", lambda row: outcome(*row), is_state=True),
    Column("Took", lambda row: row[1] and (row[1].at - row[0].at).total_seconds(), took, align="right"),
    Column("By", lambda row: row[0].actor_name, may_shrink=True),
    Column("Note", lambda row: row[0].note, may_shrink=True),
]


def timeline_rows(newest_first: Sequence[Entry]) -> Iterator[Timed]:
    """Oldest first; a phase that began lasts until the next entry of its operation."""
    entries = newest_first[::-1]
    for place, entry in enumerate(entries):
        after = (one for one in entries[place + 1 :] if one.operation_id == entry.operation_id)
        yield entry, next(after, None) if entry.outcome is Outcome.BEGAN else None


def outcome(entry: Entry, follower: Entry | None) -> Outcome:
    """What began and was followed is over: well, or as the next entry says."""
    if follower is None:
        return entry.outcome
    return Outcome.FAILED if follower.outcome is Outcome.FAILED else Outcome.DONE
