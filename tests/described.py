"""The contract of the API, as tests read it."""

from functools import cache
from typing import Any

import msgspec

from gpuaas.api.app import described
from gpuaas.api.contract import contract


def document() -> dict[str, Any]:
    """The reader's own: some tests change theirs."""
    decoded: dict[str, Any] = msgspec.json.decode(_published())
    return decoded


@cache
def _published() -> bytes:
    """Once in a test process: it takes seconds of processor time."""
    return contract(described())
