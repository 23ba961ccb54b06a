"""Following an event stream over broken connections: where to resume, when to try again, when to give up."""

from typing import Generic, TypeVar

import httpx

from gpuaas.sdk.errors import ApiError, SdkError
from gpuaas.sdk.events import EventReader
from gpuaas.sdk.exchange import Exchange, problem_of
from gpuaas.sdk.requests import Request
from gpuaas.sdk.retries import is_busy

T = TypeVar("T")


class Following(Generic[T]):
    """The memory of one follower. A patient one never gives up: it looks for itself while the stream is away."""

    def __init__(self, exchange: Exchange, request: Request[T], *, is_patient: bool = False) -> None:
        self._exchange, self._request, self._is_patient = exchange, request, is_patient
        self._reader, self._failures = EventReader(request.answer), 0

    @property
    def is_done(self) -> bool:
        return self._reader.is_done

    def next_request(self) -> httpx.Request:
        self._reader.forget_partial()
        return self._exchange.prepare_stream(self._request, self._reader.last_id)

    def opened(self, response: httpx.Response) -> None:
        if response.is_success:
            self._failures = 0
            return
        refusal = ApiError(problem_of(response))
        if not self._is_patient and not is_busy(response):
            raise refusal
        self.broke(refusal)

    def feed(self, chunk: bytes) -> list[T | None]:
        return self._reader.feed(chunk)

    def broke(self, error: SdkError) -> None:
        self._failures += 1
        if not self._is_patient and self._failures >= self._exchange.options.retries.attempts:
            raise error

    def delay(self) -> float:
        """Before the next connection. A stream that merely ended says itself when to come back, or soon."""
        if not self._failures and self._reader.retry_seconds is not None:
            return self._reader.retry_seconds
        return self._exchange.options.retries.delay(max(1, self._failures))
