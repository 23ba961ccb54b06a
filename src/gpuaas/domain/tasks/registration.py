"""Registrations of packages, from which the server, the node links and the tests derive their lists."""

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
    """Dependencies of workers."""

    db: Database
    ids: Ids
    clock: Clock
    settings: Settings


class ObserveReport(Protocol):
    def __call__(self, tx: Tx, reports: Mapping[str, Report], /, *, ids: Ids, now: datetime) -> Awaitable[object]:
        """Compare reports, by node, with the desired state."""


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A kind of row whose workers bring it to its desired state."""

    name: str
    workers: tuple[Callable[[WorkerParts], Worker], ...]
    tasks: tuple[TaskContract[Struct, Struct], ...] = ()  # kinds that its workers queue
    lanes: Mapping[str, str] = field(default_factory=dict)
    """First word of the lanes of its tasks → the topic on which its worker waits for their results."""
    observe: ObserveReport | None = None
    sweeps: tuple[str, ...] = ()  # statements that delete its expired rows
    tables: tuple[str, ...] = ()  # of its rows; tests wait until no row changes
    actions: tuple[str, ...] = ()  # of people; each has a crash test of the same name


@dataclass(frozen=True, kw_only=True)
class Overlay(Resource):
    """A resource that is attached to an allocation, and ends with it."""

    hold: str | None = None  # the kind of the holds for which a release waits
