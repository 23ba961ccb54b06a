"""What a package registers, so that workers, routing, sweeps and tests need no lists of their own."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.core.settings import Settings
from gpuaas.core.work import Worker
from gpuaas.wire.link import Report
from gpuaas.wire.tasks import TaskContract


@dataclass(frozen=True, kw_only=True)
class WorkerParts:
    """What workers are made of."""

    db: Database
    ids: Ids
    clock: Clock
    settings: Settings


class ObserveReport(Protocol):
    def __call__(self, tx: Tx, reports: Mapping[str, Report], /, *, ids: Ids, now: datetime) -> Awaitable[object]:
        """Compare what nodes report, by node, with what should be there."""


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Something with states of its own that workers bring to its wanted end."""

    name: str
    workers: tuple[Callable[[WorkerParts], Worker], ...]
    tasks: tuple[TaskContract[Struct, Struct], ...] = ()  # kinds that its workers queue
    lanes: Mapping[str, str] = field(default_factory=dict)
    """First word of the lanes of its tasks → the topic on which its worker waits for their results."""
    observe: ObserveReport | None = None
    sweeps: tuple[str, ...] = ()  # statements that delete its rows when they have served their time
    tables: tuple[str, ...] = ()  # its rows; as long as a worker changes them, it is not at rest
    actions: tuple[str, ...] = ()  # what people do with it; a crash test of each has the same name


@dataclass(frozen=True, kw_only=True)
class Overlay(Resource):
    """Attached to an allocation, and ended with it."""

    hold: str | None = None  # the kind of the holds for which a release waits
