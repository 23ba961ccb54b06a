"""Following events, and waiting by them."""

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuaas.sdk import ApiError, AsyncClient, Client, UnreadableAnswer, WaitFailed
from gpuaas.sdk.events import EventReader
from gpuaas.wire.allocations import Status
from gpuaas.wire.timeline import Entry, OperationStatus
from tests.sdk import samples
from tests.sdk.fake_api import Answer, Events, FakeApi, HangUp, event, page, problem

ROUTE = f"/allocations/{samples.ALLOCATION}"
EVENTS = f"{ROUTE}/events"
NASTY = samples.entry(2, note="line\u2028separators\x85 and\nnew lines: data: id: \N{SNOWMAN}")


@given(st.lists(st.integers(min_value=0, max_value=2000)), st.sampled_from([b"\n", b"\r\n"]))
def test_entries_are_the_same_however_the_bytes_are_cut(cuts: list[int], line_end: bytes) -> None:
    stream = b": hello\n\n" + event(samples.entry(1)) + b"retry: 1500\n" + event(NASTY, "opaque/2")
    stream = stream.replace(b"\n", line_end)
    reader, found, start = EventReader(Entry), list[Entry | None](), 0
    for cut in [*sorted(cuts), len(stream)]:
        found += reader.feed(stream[start:cut])
        start = max(start, cut)
    assert found == [None, samples.entry(1), NASTY]
    assert (reader.last_id, reader.retry_seconds) == ("opaque/2", 1.5)


def test_what_is_no_entry_is_unreadable() -> None:
    with pytest.raises(UnreadableAnswer):
        list(EventReader(Entry).feed(b"data: {}\n\n"))


def test_remarks_about_the_stream_are_no_entries() -> None:
    assert EventReader(Entry).feed(b"event: end\ndata: {}\n\n" + event(samples.entry(1))) == [samples.entry(1)]


def test_entries_that_come_together_are_one_reason_to_look(api: FakeApi, client: Client) -> None:
    many = b"".join(event(samples.entry(number)) for number in range(9))
    api.on("GET", EVENTS, Events((many, event(samples.entry(9))), then="stay"))
    statuses = (Status.PROVISIONING, Status.PROVISIONING, Status.ACTIVE)
    api.on("GET", ROUTE, *(Answer(samples.allocation(status=status)) for status in statuses))
    client.allocations.wait(samples.ALLOCATION)
    assert len(api.asked("GET", ROUTE)) <= 3


def test_an_id_counts_only_once_its_entry_is_whole() -> None:
    reader = EventReader(Entry)
    list(reader.feed(event(samples.entry(1)) + b"id: 2\ndata: {"))
    reader.forget_partial()
    assert list(reader.feed(event(samples.entry(3)))) == [samples.entry(3)]
    assert reader.last_id == "3"


def test_a_broken_stream_is_resumed_where_it_broke(api: FakeApi, client: Client) -> None:
    first = Events((event(samples.entry(1)), event(samples.entry(2))[:-9]), then="break")
    api.on("GET", EVENTS, first, problem(503, "x"), HangUp(), Events((event(samples.entry(2)),)), Events(then="stay"))
    with closing(client.allocations.events(samples.ALLOCATION)) as entries:
        assert [next(entries).id, next(entries).id] == [1, 2]
    assert [one.headers.get("last-event-id") for one in api.seen] == [None, "1", "1", "1"]
    assert api.seen[0].headers["accept"] == "text/event-stream"


async def test_an_async_stream_is_resumed_too(api: FakeApi, async_client: AsyncClient) -> None:
    api.on("GET", EVENTS, Events((event(samples.entry(1)),), then="break"), Events((event(samples.entry(2)),), "stay"))
    found = []
    entries = async_client.allocations.events(samples.ALLOCATION)
    async for entry in entries:
        found.append(entry.id)
        if len(found) == 2:
            break
    await entries.aclose()
    assert found == [1, 2]
    assert [one.headers.get("last-event-id") for one in api.seen] == [None, "1"]


def test_following_what_is_not_there_is_an_error(api: FakeApi, client: Client) -> None:
    api.on("GET", EVENTS, problem(404, "allocation_not_found"))
    with pytest.raises(ApiError, match="allocation_not_found"):
        next(client.allocations.events(samples.ALLOCATION))


def test_a_stream_that_never_opens_is_given_up(api: FakeApi, client: Client) -> None:
    api.on("GET", EVENTS, problem(503, "x"))
    with pytest.raises(ApiError):
        next(client.allocations.events(samples.ALLOCATION))
    assert len(api.seen) == 4


def test_a_wait_looks_again_at_every_new_status_and_at_nothing_else(api: FakeApi, client: Client) -> None:
    news = (samples.entry(1), samples.entry(2, "booting"), samples.entry(3, "access_ready"), samples.entry(4, "active"))
    api.on("GET", EVENTS, Events(tuple(map(event, news)), then="stay"))
    statuses = (Status.REQUESTED, Status.PROVISIONING, Status.ACTIVE)
    api.on("GET", ROUTE, *(Answer(samples.allocation(status=status)) for status in statuses))
    assert client.allocations.wait(samples.ALLOCATION).status is Status.ACTIVE
    assert [one.path.rpartition("/")[2] for one in api.seen] == ["events", *[samples.ALLOCATION] * 3]


async def test_an_async_wait_looks_again_at_every_new_status(api: FakeApi, async_client: AsyncClient) -> None:
    api.on("GET", EVENTS, Events((event(samples.entry(1)),), then="stay"))
    api.on("GET", ROUTE, *(Answer(samples.allocation(status=one)) for one in (Status.RELEASING, Status.RELEASED)))
    assert (await async_client.allocations.wait(samples.ALLOCATION, until=Status.RELEASED)).status is Status.RELEASED


@pytest.mark.parametrize("away", [problem(404, "route_not_found"), problem(503, "x"), HangUp()])
def test_a_wait_polls_while_there_is_no_stream(api: FakeApi, client: Client, away: Answer | HangUp) -> None:
    api.on("GET", EVENTS, away)
    waiting = Answer(samples.allocation(status=Status.PROVISIONING))
    api.on("GET", ROUTE, *[waiting] * 9, Answer(samples.allocation()))
    assert client.allocations.wait(samples.ALLOCATION).status is Status.ACTIVE


async def test_an_async_wait_polls_while_there_is_no_stream(api: FakeApi, async_client: AsyncClient) -> None:
    api.on("GET", EVENTS, HangUp())
    api.on("GET", ROUTE, Answer(samples.allocation(status=Status.PROVISIONING)), Answer(samples.allocation()))
    assert (await async_client.allocations.wait(samples.ALLOCATION)).status is Status.ACTIVE


def test_a_beat_of_the_server_is_a_reason_to_look(api: FakeApi, client: Client) -> None:
    api.on("GET", EVENTS, Events((b": beat\n\n",), then="stay"))
    api.on("GET", ROUTE, Answer(samples.allocation(status=Status.PROVISIONING)), Answer(samples.allocation()))
    assert client.allocations.wait(samples.ALLOCATION).status is Status.ACTIVE


def test_a_wait_that_cannot_succeed_says_why(api: FakeApi, client: Client) -> None:
    api.on("GET", EVENTS, Events(then="stay"))
    api.on("GET", ROUTE, Answer(samples.allocation(status=Status.FAILED, status_reason="the node died")))
    with pytest.raises(WaitFailed, match="train-a is failed: the node died"):
        client.allocations.wait(samples.ALLOCATION)


def test_a_wait_ends_when_its_time_is_up(api: FakeApi, client: Client) -> None:
    api.on("GET", EVENTS, Events(then="stay"))
    api.on("GET", ROUTE, Answer(samples.allocation(status=Status.PROVISIONING)))
    with pytest.raises(WaitFailed, match="within 0 seconds"):
        client.allocations.wait(samples.ALLOCATION, timeout=0)


def test_waiting_for_what_is_not_there_is_not_waiting(api: FakeApi, client: Client) -> None:
    api.on("GET", EVENTS, problem(404, "allocation_not_found"))
    api.on("GET", ROUTE, problem(404, "allocation_not_found"))
    with pytest.raises(ApiError, match="allocation_not_found"):
        client.allocations.wait(samples.ALLOCATION)


def test_an_operation_is_watched_to_its_end(api: FakeApi, client: Client) -> None:
    others = event(samples.entry(1, operation_id="op_other"))
    api.on("GET", EVENTS, Events((others, event(samples.entry(2))), then="stay"))
    states = (OperationStatus.RUNNING, OperationStatus.SUCCEEDED)
    api.on("GET", f"/operations/{samples.OPERATION}", *(Answer(samples.operation(state)) for state in states))
    seen = client.operations.watch(samples.OPERATION, allocation_id=samples.ALLOCATION)
    assert [one.status for one in seen] == [*states]
    with pytest.raises(TypeError):
        client.operations.watch(samples.OPERATION)


def test_project_events_tell_of_everything_in_it(api: FakeApi, client: Client) -> None:
    api.on("GET", f"/projects/{samples.PROJECT}/events", Events((event(samples.entry(5)),), then="stay"))
    with closing(client.projects.events(samples.PROJECT)) as entries:
        assert next(entries) == samples.entry(5)


def test_a_timeline_is_a_list(api: FakeApi, client: Client) -> None:
    api.on("GET", f"{ROUTE}/timeline", page(samples.entry(2), samples.entry(1)))
    assert [one.id for one in client.allocations.timeline(samples.ALLOCATION)] == [2, 1]
