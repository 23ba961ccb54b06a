"""The frame of every change to a live machine: what it ends and leaves, a yes, the act, its phases, how it ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Generic, Protocol, TypeVar

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.connections import connected
from gpuaas.cli.names import chosen_allocation
from gpuaas.cli.progress import follow
from gpuaas.cli.speech import confirm
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import OperationStatus

NoWaitOption = Annotated[bool, typer.Option("--no-wait", help="Return as soon as the request is accepted.")]


class Operated(Protocol):
    """An answer that names the work it began, if it began any."""

    @property
    def operation_id(self) -> str | None: ...


T = TypeVar("T", bound=Operated)


@dataclass(frozen=True, kw_only=True)
class Question:
    """Asked before anything is done: every disruptive act says what is lost and what survives."""

    words: str
    lost: str
    survives: str


@dataclass(frozen=True, kw_only=True)
class Change(Generic[T]):
    """One verb. What is asked for and what it has become are the same thing, at two moments."""

    act: Callable[[Client, Allocation], T]
    look: Callable[[Client, Allocation], T]
    failure: Callable[[Allocation, T, str], str]  # in words, from how it is now and why
    ways_out: Callable[[Allocation], str]
    come_back: Callable[[Allocation], str]
    question: Callable[[Client, Allocation], Question] | None = None  # none: it ends nothing


def make(
    ctx: typer.Context, name: str, project: str, change: Change[T], *, yes: bool = False, no_wait: bool = False
) -> T:
    """Done, or accepted if nobody waits; a failure is this command's own and says the ways out."""
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        if change.question:
            ask = change.question(client, found)
            confirm(ask.words, lost=ask.lost, survives=ask.survives, yes=yes)
        asked = change.act(client, found)
        if no_wait or not asked.operation_id:
            return asked
        end = follow(ctx, client, asked.operation_id, come_back=change.come_back(found), allocation_id=found.id)
        now = change.look(client, found)
        if end.status is OperationStatus.FAILED:
            raise Complaint(
                change.failure(found, now, end.reason), next_step=change.ways_out(found), code=ExitCode.SERVER
            )
        return now
