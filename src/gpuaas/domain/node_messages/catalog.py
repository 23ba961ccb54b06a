"""The handlers of messages from nodes. A new message type gets a handler below, and its place in `handlers`."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import structlog
from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.domain import registry
from gpuaas.domain.allocations.observations import drift
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.capacity.images import store as images
from gpuaas.domain.capacity.spares import store as spares
from gpuaas.domain.capacity.store import CAPACITY
from gpuaas.domain.node_messages import cleaning
from gpuaas.domain.node_messages.handlers import (
    Announcement,
    Context,
    Delivery,
    Handler,
    Handlers,
    Received,
)
from gpuaas.domain.sessions import store as sessions
from gpuaas.domain.storage.unknown import reconcile as volumes
from gpuaas.domain.task_keys import store as task_keys
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.terminals import commands as terminals
from gpuaas.wire.environments import DiskReport
from gpuaas.wire.images import ImageReport
from gpuaas.wire.link import (
    Ack,
    Logins,
    LoginsKept,
    LogLines,
    Progress,
    Report,
    Result,
    Sessions,
    TerminalReport,
)
from gpuaas.wire.spares import SpareReport, WantedSpares
from gpuaas.wire.storage import VolumeReport
from gpuaas.wire.task_keys import TrustedKeys

M = TypeVar("M", bound=Struct)
log = structlog.get_logger()


class LoginCounter:
    """Logins that agents dropped since they started, by node; a metric of this replica."""

    def __init__(self) -> None:
        self._dropped: dict[str, int] = {}

    @property
    def dropped(self) -> int:
        return sum(self._dropped.values())

    def kept(self, node_id: str, messages: Sequence[Logins]) -> LoginsKept:
        self._dropped[node_id] = messages[-1].dropped
        return LoginsKept(ids=[event.id for message in messages for event in message.events])


def by_node(received: Iterable[Received[M]]) -> dict[str, M]:
    return {each.node_id: each.message for each in received}


def pairs(received: Iterable[Received[M]]) -> list[tuple[str, M]]:
    return [(each.node_id, each.message) for each in received]


# Tasks


async def add_progress(tx: Tx, received: Sequence[Received[Progress]], _: Context) -> None:
    await tasks.tell_all(tx, pairs(received))


async def add_logs(tx: Tx, received: Sequence[Received[LogLines]], _: Context) -> None:
    await tasks.add_logs(tx, pairs(received))


async def end_tasks(tx: Tx, received: Sequence[Received[Result]], context: Context) -> None:
    ended = await tasks.end_all(tx, pairs(received), [each.epoch for each in received])
    for task in ended:
        if task.row_id and (topic := registry.topic_of(task.lane)):
            tx.hint(topic, task.row_id)
    tx.on_end.append(partial(record_spans, ended, context))


def record_spans(ended: Sequence[tasks.EndedTask], context: Context, committed: bool) -> None:  # noqa: FBT001 - the shape of on_end
    for task in ended if committed else ():
        facts = {"task": task.id, "node": task.node_id, "kind": task.kind, "status": task.status}
        context.traces.record("node task", task.sent_at, task.ended_at, task.correlation_id, **facts)


def acknowledge(_: str, results: Sequence[Result]) -> Ack:
    return Ack(task_ids=[result.task_id for result in results])


async def trust_keys(tx: Tx, received: Sequence[Received[TrustedKeys]], _: Context) -> None:
    """Record the key that signs the link now; unknown keys were removed when the message arrived."""
    await task_keys.accepted(tx, {each.node_id: each.task_key_generation for each in received})


# Environments


async def apply_report(tx: Tx, received: Sequence[Received[Report]], context: Context) -> None:
    for node_id, finding in await drift.apply(tx, by_node(received), ids=context.ids, now=context.now):
        log.warning("node.drift", node=node_id, finding=type(finding).__name__)


async def observe_overlays(tx: Tx, received: Sequence[Received[Report]], context: Context) -> None:
    await registry.observe(tx, by_node(received), ids=context.ids, now=context.now)


async def observe_connections(tx: Tx, received: Sequence[Received[Sessions]], _: Context) -> None:
    await sessions.observe(tx, pairs(received))


async def keep_logins(tx: Tx, received: Sequence[Received[Logins]], _: Context) -> None:
    await sessions.keep_logins(tx, pairs(received))


async def observe_terminals(tx: Tx, received: Sequence[Received[TerminalReport]], context: Context) -> None:
    await terminals.observed_all(tx, pairs(received), now=context.now)


async def observe_volumes(tx: Tx, received: Sequence[Received[VolumeReport]], context: Context) -> None:
    """Each message is one part of a node's volumes."""
    for each in received:
        await volumes.observe(tx, each.node_id, each.message, ids=context.ids, now=context.now)


# Nodes


async def observe_spares(tx: Tx, received: Sequence[Received[SpareReport]], _: Context) -> None:
    await spares.observed(tx, by_node(received))


async def observe_images(tx: Tx, received: Sequence[Received[ImageReport]], _: Context) -> None:
    await images.observed(tx, {each.node_id: each.message.image for each in received})


async def observe_disks(tx: Tx, received: Sequence[Received[DiskReport]], _: Context) -> None:
    changed = await disks.reported(tx, {each.node_id: each.message.disk for each in received})
    changed += await capacity.facts_changed(tx, {each.node_id: each.message.facts for each in received})
    for node_id in changed:
        tx.hint(CAPACITY, node_id)


async def wanted_spares(tx: Tx, node_ids: Sequence[str]) -> Mapping[str, WantedSpares]:
    forms = await spares.wanted(tx, node_ids)
    return {node_id: WantedSpares(forms=forms.get(node_id, [])) for node_id in node_ids}


ANNOUNCEMENTS = (Announcement(name="spares", topic=CAPACITY, read=wanted_spares),)

PROGRESS = Handler(type=Progress, write=(add_progress,), current_link_only=False, weight=8)
CONNECTIONS = Handler(type=Sessions, write=(observe_connections,), current_link_only=False, weight=6)
TRUSTED_KEYS = Handler(type=TrustedKeys, write=(trust_keys,), weight=2)
LOG_LINES = Handler(
    type=LogLines, write=(add_logs,), current_link_only=False, clean=cleaning.cleaned_log_lines, weight=5
)
RESULTS = Handler(
    type=Result,
    write=(end_tasks,),
    current_link_only=False,
    clean=cleaning.cleaned_result,
    answer=acknowledge,
    weight=12,
)
REPORTS = Handler(
    type=Report,
    write=(apply_report, observe_overlays),
    clean=cleaning.cleaned_report,
    delivery=Delivery.IN_TURN,
    keeps_place=True,
    weight=11,
)
TERMINALS = Handler(type=TerminalReport, write=(observe_terminals,), weight=9)
SPARES = Handler(
    type=SpareReport, write=(observe_spares,), clean=cleaning.cleaned_spares, delivery=Delivery.NEWEST, weight=3
)
IMAGES = Handler(
    type=ImageReport, write=(observe_images,), clean=cleaning.cleaned_image_report, delivery=Delivery.NEWEST, weight=4
)
DISKS = Handler(
    type=DiskReport, write=(observe_disks,), clean=cleaning.cleaned_disk_report, delivery=Delivery.NEWEST, weight=1
)
VOLUMES = Handler(type=VolumeReport, write=(observe_volumes,), weight=10)


def handlers(login_counter: LoginCounter) -> Handlers:
    """In the order of writing: progress precedes the result that ends its task."""
    logins = Handler(type=Logins, write=(keep_logins,), current_link_only=False, answer=login_counter.kept, weight=7)
    return Handlers(
        (
            PROGRESS,
            CONNECTIONS,
            logins,
            TRUSTED_KEYS,
            LOG_LINES,
            RESULTS,
            REPORTS,
            TERMINALS,
            SPARES,
            IMAGES,
            DISKS,
            VOLUMES,
        )
    )
