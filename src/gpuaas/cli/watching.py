"""`gpuaas allocations watch`: phases and health of one allocation while they change."""

from collections.abc import Callable, Iterable
from datetime import datetime

from rich.console import Group
from rich.live import Live
from rich.text import Text

from gpuaas.cli.output import stdout
from gpuaas.cli.progress import Picture, words
from gpuaas.cli.speech import say
from gpuaas.cli.words import clock, plain, style_of, took
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import Operation

Seen = tuple[Allocation, Operation | None]


def look(client: Client, changes: Iterable[Allocation]) -> Iterable[Seen]:
    for one in changes:
        yield one, client.operations.get(one.operation_id) if one.operation_id else None


def show_watch(seen: Iterable[Seen], now: Callable[[], datetime]) -> None:
    """Drawn anew on a terminal; in a pipe a line for whatever is new."""
    console = stdout()
    if not console.is_terminal:
        tell(seen)
        return
    with Live(console=console, refresh_per_second=10) as live:
        for one, operation in seen:
            live.update(picture(one, operation, now), refresh=True)


def picture(one: Allocation, operation: Operation | None, now: Callable[[], datetime]) -> Group:
    head = Text.assemble(
        (one.name, "bold"), " is ", (one.status, style_of(one.status)), ", health ", (one.health, style_of(one.health))
    )
    parts: list[Text | Picture] = [head]
    parts += [Text(f"  {plain(line)}") for line in reasons(one)]
    if operation is not None:
        parts.append(Text(f"{operation.kind}: {operation.status}"))
        parts.append(Picture(operation, now))
    return Group(*parts)


def reasons(one: Allocation) -> list[str]:
    return [f"{each.words} {each.next_step}" for each in one.health_reasons]


def tell(seen: Iterable[Seen]) -> None:
    told: set[object] = set()

    def once(mark: object, line: str) -> None:
        if mark not in told:
            told.add(mark)
            say(line)

    for one, operation in seen:
        for phase in operation.phases if operation else ():
            if phase.seconds is not None:
                mark = (phase.phase, phase.started_at)
                once(
                    mark,
                    f"{clock(phase.started_at)}  {words(phase)}  {took(phase.seconds)}  {plain(phase.note)}".rstrip(),
                )
        state = (one.status, one.status_since, one.health)
        once(state, f"{clock(one.status_since)}  {one.name} is {one.status}, health {one.health}")
        for reason in one.health_reasons:
            once((reason.code, reason.since), f"  {plain(reason.words)} {plain(reason.next_step)}")
