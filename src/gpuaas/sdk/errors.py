"""Exceptions for refusals of the API and failures on the way to it, with the facts of each."""

from gpuaas.wire.common import ProblemDocument


class SdkError(Exception):
    """Everything the SDK raises on purpose."""


class ApiError(SdkError):
    """The API answered and said no. `code` is stable: decide by it, never by the words."""

    def __init__(self, problem: ProblemDocument) -> None:
        super().__init__(problem.detail or problem.title)
        self.status = problem.status
        self.code = problem.code
        self.title = problem.title
        self.detail = problem.detail
        self.facts = problem.facts
        self.errors = problem.errors
        self.correlation_id = problem.correlation_id

    def __str__(self) -> str:
        return f"{self.detail or self.title} ({self.status} {self.code})"


class Unreachable(SdkError):
    """No answer came: the address, the network or the server is at fault."""


class UnreadableAnswer(SdkError):
    """An answer came that is not of this contract; the server may be older or newer than this SDK."""

    def __init__(self, detail: str, *, correlation_id: str = "") -> None:
        super().__init__(detail)
        self.correlation_id = correlation_id


class InsecureUrl(SdkError):
    """A token would have crossed a network in clear text."""


class WaitFailed(SdkError):
    """The thing waited for came to rest elsewhere, or not in time."""
