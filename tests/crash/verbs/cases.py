"""What a verb is: how it is prepared, done, looked at and tidied up after."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import asyncssh

from tests.crash.stages import Stage


@dataclass
class Case:
    """One performance of a verb: the key its request carries, and the allocation it is about."""

    key: str
    allocation_id: str = ""
    notes: dict[str, str] = field(default_factory=dict)
    connection: asyncssh.SSHClientConnection | None = None
    """Of somebody who is inside all the while."""

    @property
    def is_cut(self) -> bool:
        return self.connection is None or self.connection.is_closed()


@dataclass(frozen=True)
class Verb:
    name: str
    prepare: Callable[[Stage, Case], Awaitable[None]]
    """Nobody dies yet."""
    act: Callable[[Stage, Case], Awaitable[None]]
    """Returns when it was answered; the request is repeated with the same key until then."""
    missing: Callable[[Stage, Case], Awaitable[str]]
    """What keeps it from its wanted end; empty when it is there. Raises Broken if it never will be."""
    tidy: Callable[[Stage, Case], Awaitable[None]]
    """Give back what is left; nobody dies any more."""

    @property
    def noun(self) -> str:
        """What it is done to, by the module of its functions."""
        return self.act.__module__.rpartition(".")[2]


def is_proven(proofs: str) -> bool:
    """As a node told them."""
    items = json.loads(proofs)
    return bool(items) and all(item["ok"] for item in items)


async def nothing(stage: Stage, case: Case) -> None:
    pass
