"""Requests as they are sent, and answers as values or errors."""

import pytest

from gpuaas.sdk import ApiError, AsyncClient, Client, InsecureUrl, Options, UnreadableAnswer
from gpuaas.sdk.requests import path
from gpuaas.wire.common import FieldError
from tests.sdk import samples
from tests.sdk.conftest import TOKEN
from tests.sdk.fake_api import Answer, FakeApi, page, problem


def test_an_answer_arrives_as_its_struct(api: FakeApi, client: Client) -> None:
    api.on("GET", f"/allocations/{samples.ALLOCATION}", Answer(samples.allocation()))
    assert client.allocations.get(samples.ALLOCATION) == samples.allocation()
    (seen,) = api.seen
    assert (seen.headers["authorization"], seen.key) == (f"Bearer {TOKEN}", None)


async def test_the_async_client_gives_the_same_answer(api: FakeApi, async_client: AsyncClient) -> None:
    api.on("GET", f"/allocations/{samples.ALLOCATION}", Answer(samples.allocation()))
    assert await async_client.allocations.get(samples.ALLOCATION) == samples.allocation()


def test_a_204_is_nothing(api: FakeApi, client: Client) -> None:
    api.on("DELETE", "/ssh-keys/key_1", Answer(status=204))
    client.ssh_keys.remove("key_1")
    assert api.seen[0].key


def test_lists_walk_all_pages(api: FakeApi, client: Client) -> None:
    first, second = samples.allocation(name="a"), samples.allocation(name="b")
    api.on("GET", f"/projects/{samples.PROJECT}/allocations", page(first, next_cursor="c 2"), page(second))
    found = client.allocations.list(samples.PROJECT, status=first.status, limit=1)
    assert [one.name for one in found] == ["a", "b"]
    assert [one.query for one in api.seen] == [
        {"status": "active", "limit": "1"},
        {"status": "active", "limit": "1", "cursor": "c 2"},
    ]


async def test_async_lists_walk_all_pages(api: FakeApi, async_client: AsyncClient) -> None:
    api.on("GET", "/ssh-keys", page(samples.ssh_key("a"), next_cursor="2"), page(samples.ssh_key("b")))
    assert [key.title async for key in async_client.ssh_keys.list()] == ["a", "b"]


def test_a_refusal_carries_every_fact(api: FakeApi, client: Client) -> None:
    wrong = FieldError(field="name", message="too long")
    api.on("GET", "/me", problem(422, "validation_error", "Mend it.", errors=[wrong], facts={"limit": 63}))
    with pytest.raises(ApiError) as caught:
        client.auth.me()
    error = caught.value
    assert (error.status, error.code, error.detail) == (422, "validation_error", "Mend it.")
    assert (error.errors, error.facts, error.correlation_id) == ([wrong], {"limit": 63}, "corr-7")


def test_a_limit_of_zero_is_sent_and_refused_never_dropped(api: FakeApi, client: Client) -> None:
    refused = problem(422, "validation_error")
    api.on("POST", "/allocations", refused)
    api.on("POST", f"/allocations/{samples.ALLOCATION}/extend", refused)
    with pytest.raises(ApiError):
        client.allocations.create("sim-h200-slice", ["key_1"], idle_minutes=0)
    with pytest.raises(ApiError):
        client.allocations.extend(samples.ALLOCATION, hours=0, idle_minutes=0)
    create, extend = (one.body for one in api.seen)
    assert (create["idle_minutes"], extend) == (0, {"hours": 0, "idle_minutes": 0})


def test_a_proxy_that_answers_in_html_is_an_api_error_too(api: FakeApi, client: Client) -> None:
    api.on("GET", "/me", Answer(status=418, raw=b"<h1>teapot</h1>", headers={"X-Correlation-ID": "c"}))
    with pytest.raises(ApiError) as caught:
        client.auth.me()
    assert (caught.value.status, caught.value.code, caught.value.correlation_id) == (418, "unexpected_answer", "c")


@pytest.mark.parametrize("raw", [b"<html>", b'{"user": 1}', b"", b"\xff"])
def test_an_answer_of_another_contract_is_unreadable(api: FakeApi, client: Client, raw: bytes) -> None:
    api.on("GET", "/me", Answer(raw=raw, headers={"X-Correlation-ID": "c"}))
    with pytest.raises(UnreadableAnswer) as caught:
        client.auth.me()
    assert caught.value.correlation_id == "c"


def test_an_id_cannot_reach_into_another_path() -> None:
    assert path("allocations", "a/../../admin?x#y", 3) == "/allocations/a%2F..%2F..%2Fadmin%3Fx%23y/3"


@pytest.mark.parametrize(
    "url",
    ["http://gpuaas.example.com", "http://10.0.0.7:8000", "http://a.localhost", "ftp://localhost", "localhost"],
)
def test_a_token_is_not_sent_in_clear_text_beyond_this_machine(url: str) -> None:
    with pytest.raises(InsecureUrl):
        Client(url, TOKEN)


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.9:1", "http://[::1]:1", "https://example.com"])
def test_this_machine_and_https_are_fine(url: str) -> None:
    Client(url, TOKEN).close()


def test_plain_http_may_be_asked_for() -> None:
    Client("http://10.0.0.7", TOKEN, options=Options(allow_plain_http=True)).close()


def test_the_token_is_in_no_repr(client: Client) -> None:
    shown = f"{client!r} {vars(client)!r} {vars(client._runner)!r}"
    assert TOKEN not in shown


def test_session_cookies_of_a_login_are_not_sent_back(api: FakeApi, client: Client) -> None:
    api.on("GET", "/me", Answer(samples.me(), headers={"Set-Cookie": "session=1; Path=/"}))
    client.auth.me()
    client.auth.me()
    assert "cookie" not in api.seen[1].headers
