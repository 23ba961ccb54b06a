"""Messages of nodes are routed by type to the handlers that packages register."""

import typing
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from structlog.testing import capture_logs

from gpuaas.core.db import Tx
from gpuaas.core.points import NoPoints
from gpuaas.domain.metrics.samples import SampleBuffer
from gpuaas.domain.node_messages.catalog import PROGRESS, LoginCounter, handlers
from gpuaas.domain.node_messages.handlers import (
    Context,
    Delivery,
    Handler,
    HandlerExistsError,
    Handlers,
    Received,
)
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.link import Link, Socket
from gpuaas.links.messages import MessageWriter, Written, delivered
from gpuaas.wire.link import Beat, Hello, Logins, Progress, Report, Up
from tests.world import World

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def progress(task_id: str, at: datetime = NOON) -> Progress:
    return Progress(task_id=task_id, phase="booting", note="", at=at)


def written(*messages: tuple[str, str], delivery: Delivery) -> list[Written]:
    async def ignore(tx: Tx, received: Sequence[Received[Progress]], context: Context) -> None:
        """Nothing is written."""

    handler = Handler(type=Progress, write=(ignore,), delivery=delivery)
    links = {node_id: Link(node_id, cast("Socket", None), 1, 0.0) for node_id, _ in messages}
    return [(links[node_id], progress(task_id), handler) for node_id, task_id in messages]


def task_ids(found: Sequence[Written]) -> list[str]:
    return [message.task_id for _, message, _ in found if isinstance(message, Progress)]


def test_every_message_that_an_agent_may_send_has_a_handler_or_a_buffer() -> None:
    registered = {handler.type for handler in handlers(LoginCounter())} | {SampleBuffer.type}
    assert set(typing.get_args(Up)) - registered == {Hello, Beat}


def test_a_second_handler_for_a_type_is_refused() -> None:
    with pytest.raises(HandlerExistsError, match="Progress already has a handler"):
        Handlers((PROGRESS, PROGRESS))


BATCH = (("one", "a"), ("two", "b"), ("one", "c"), ("one", "d"))


@pytest.mark.parametrize(
    ("delivery", "calls"),
    [
        (Delivery.ALL, [["a", "b", "c", "d"]]),
        (Delivery.NEWEST, [["d", "b"]]),
        (Delivery.IN_TURN, [["a", "b"], ["c"], ["d"]]),
    ],
)
def test_a_handler_says_which_messages_of_a_node_it_gets_in_one_call(
    delivery: Delivery, calls: list[list[str]]
) -> None:
    left, found = written(*BATCH, delivery=delivery), []
    while left:
        taken, left = delivered(delivery, left)
        found.append(task_ids(taken))
    assert found == calls


def test_a_time_in_the_future_is_bounded_before_a_handler_sees_it() -> None:
    cleaned = PROGRESS.cleaned(progress("a", NOON + timedelta(days=1)), NOON)
    assert cleaned == progress("a", NOON)


def test_logins_that_an_agent_dropped_are_counted_by_node() -> None:
    counter = LoginCounter()
    counter.kept("one", [Logins(events=[], dropped=2)])
    counter.kept("two", [Logins(events=[], dropped=1), Logins(events=[], dropped=3)])
    counter.kept("one", [Logins(events=[], dropped=4)])
    assert counter.dropped == 7


def writer(world: World, registered: Handlers, *, current: bool = True) -> MessageWriter:
    async def cut(link: Link) -> None:
        raise AssertionError(f"the link of {link.node_id} was cut")

    return MessageWriter(
        registered,
        db=world.db,
        ids=world.services.ids,
        clock=world.clock,
        points=NoPoints(),
        background=BackgroundTasks(),
        is_current=lambda _: current,
        cut=cut,
    )


@pytest.mark.parametrize(
    ("current_link_only", "is_current", "expected"), [(True, True, ["a"]), (True, False, []), (False, False, ["a"])]
)
async def test_a_registered_handler_gets_the_messages_of_its_type(
    world: World, *, current_link_only: bool, is_current: bool, expected: list[str]
) -> None:
    found: list[str] = []

    async def keep(tx: Tx, received: Sequence[Received[Progress]], context: Context) -> None:
        assert await tx.value("select 1") == 1
        found.extend(each.message.task_id for each in received if each.node_id == "one" and each.epoch == 7)

    handler = Handler(type=Progress, write=(keep,), current_link_only=current_link_only)
    messages = writer(world, Handlers((handler,)), current=is_current)
    await messages.put(Link("one", cast("Socket", None), 7, 0.0), progress("a"))
    await messages._write_next()
    assert found == expected


async def test_a_message_without_a_handler_is_logged_and_the_link_goes_on(world: World) -> None:
    messages, link = writer(world, Handlers(())), Link("one", cast("Socket", None), 7, 0.0)
    with capture_logs() as logs:
        await messages.put(link, Report(environments=[], at=NOON))
    assert [(entry["event"], entry["node"], entry["kind"]) for entry in logs] == [
        ("link.message_unhandled", "one", "Report")
    ]
    assert (messages._unwritten.empty(), link.is_waiting) == (True, False)
