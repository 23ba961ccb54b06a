"""A fake API and clients that do not sleep."""

from collections.abc import AsyncIterator, Iterator

import pytest

from gpuaas.sdk import AsyncClient, Client, Options, Retries
from tests.sdk.fake_api import FakeApi, running_api

OPTIONS = Options(retries=Retries(attempts=4, chance=lambda: 1.0))
TOKEN = "secret-token"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with running_api() as api:
        yield api


@pytest.fixture
def naps() -> list[float]:
    """How long the client would have slept."""
    return []


@pytest.fixture
def client(api: FakeApi, naps: list[float]) -> Iterator[Client]:
    with Client(api.url, TOKEN, options=OPTIONS, sleep=naps.append) as client:
        yield client


@pytest.fixture
async def async_client(api: FakeApi, naps: list[float]) -> AsyncIterator[AsyncClient]:
    async def nap(seconds: float) -> None:
        naps.append(seconds)

    async with AsyncClient(api.url, TOKEN, options=OPTIONS, sleep=nap) as client:
        yield client
