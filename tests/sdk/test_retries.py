"""Trying again: when, how often, with which key."""

import pytest

from gpuaas.sdk import ApiError, AsyncClient, Client, Retries, Unreachable
from gpuaas.wire.allocations import SubmittedAllocations
from gpuaas.wire.identity import LoggedIn
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, HangUp, problem

SUBMITTED = Answer(
    SubmittedAllocations(allocations=[samples.allocation()], group_id=None, operation_id=samples.OPERATION), 202
)
BUSY = problem(503, "unavailable")


@pytest.mark.parametrize("busy", [HangUp(), BUSY, problem(502, "x"), problem(504, "x"), problem(429, "x")])
def test_a_read_is_tried_again(api: FakeApi, client: Client, naps: list[float], busy: Answer | HangUp) -> None:
    api.on("GET", "/me", busy, busy, Answer(samples.me()))
    assert client.auth.me() == samples.me()
    assert naps == [0.25, 0.5]  # doubling; the test's dice always fall on one


async def test_an_async_read_is_tried_again(api: FakeApi, async_client: AsyncClient, naps: list[float]) -> None:
    api.on("GET", "/me", HangUp(), BUSY, Answer(samples.me()))
    assert await async_client.auth.me() == samples.me()
    assert naps == [0.25, 0.5]


def test_one_idempotency_key_spans_all_tries_of_a_mutation(api: FakeApi, client: Client) -> None:
    api.on("POST", "/allocations", HangUp(), BUSY, problem(409, "request_in_progress"), SUBMITTED)
    client.allocations.create("sim-h200-slice", ["key_1"])
    client.allocations.create("sim-h200-slice", ["key_1"])
    *first, second = (one.key for one in api.seen)
    assert len(first) == 4
    assert len(set(first)) == 1
    assert second
    assert second != first[0]


async def test_one_key_spans_all_tries_of_an_async_mutation(api: FakeApi, async_client: AsyncClient) -> None:
    api.on("POST", "/allocations", HangUp(), problem(409, "request_in_progress"), SUBMITTED)
    await async_client.allocations.create("sim-h200-slice", ["key_1"])
    assert len({one.key for one in api.seen}) == 1 < len(api.seen)


def test_a_key_of_the_callers_own_is_used(api: FakeApi, client: Client) -> None:
    api.on("POST", "/allocations", SUBMITTED)
    client.allocations.create("sim-h200-slice", ["key_1"], idempotency_key="mine")
    assert api.seen[0].key == "mine"


def test_a_conflict_is_an_answer_and_not_tried_again(api: FakeApi, client: Client, naps: list[float]) -> None:
    api.on("POST", "/allocations", problem(409, "sku_unavailable"))
    with pytest.raises(ApiError, match="sku_unavailable"):
        client.allocations.create("sim-h200-slice", ["key_1"])
    assert (len(api.seen), naps) == (1, [])


def test_a_login_is_sent_once_and_without_a_key(api: FakeApi, client: Client) -> None:
    api.on("POST", "/auth/personal/login", HangUp())
    with pytest.raises(Unreachable):
        client.auth.login("ada@example.com", "correct horse battery")
    api.on("POST", "/auth/personal/login", BUSY)
    with pytest.raises(ApiError):
        client.auth.login("ada@example.com", "correct horse battery")
    assert [one.key for one in api.seen] == [None, None]


def test_a_login_answers_with_a_token(api: FakeApi, client: Client) -> None:
    logged_in = LoggedIn(access_token="t", expires_at=samples.NOON, user=samples.USER)
    api.on("POST", "/auth/personal/login", Answer(logged_in))
    assert client.auth.login("ada@example.com", "correct horse battery") == logged_in
    assert api.seen[0].body == {"email": "ada@example.com", "password": "correct horse battery"}


def test_the_server_says_how_long_to_wait(api: FakeApi, client: Client, naps: list[float]) -> None:
    busy = problem(429, "rate_limit_exceeded", headers={"Retry-After": "7"})
    api.on("GET", "/me", busy, Answer(samples.me()))
    client.auth.me()
    assert naps == [7.25]


def test_too_long_a_wait_is_the_callers_to_decide(api: FakeApi, client: Client, naps: list[float]) -> None:
    api.on("GET", "/me", problem(429, "rate_limit_exceeded", headers={"Retry-After": "3600"}))
    with pytest.raises(ApiError, match="rate_limit_exceeded"):
        client.auth.me()
    assert naps == []


@pytest.mark.parametrize("raised", [ApiError, Unreachable])
def test_tries_come_to_an_end(api: FakeApi, client: Client, raised: type[Exception]) -> None:
    api.on("GET", "/me", BUSY if raised is ApiError else HangUp())
    with pytest.raises(raised):
        client.auth.me()
    assert len(api.seen) == 4


def test_nobody_there_is_unreachable_and_says_where() -> None:
    with (
        Client("http://127.0.0.1:9", sleep=lambda _: None) as client,
        pytest.raises(Unreachable, match=r"127\.0\.0\.1"),
    ):
        client.auth.me()


def test_delays_double_up_to_a_ceiling_and_jitter_below_it() -> None:
    steady = Retries(first_delay=1, longest_delay=5, chance=lambda: 1.0)
    assert [steady.delay(failures) for failures in (1, 2, 3, 4, 99)] == [1, 2, 4, 5, 5]
    assert Retries(first_delay=1, chance=lambda: 0.5).delay(1) == 0.5
