"""One stage for most tests of crashes: a control plane and a node take longer to start than a death takes to heal."""

from collections.abc import AsyncIterator

import pytest

from tests.crash.theatres import Theatre


@pytest.fixture(scope="session")
async def theatre() -> AsyncIterator[Theatre]:
    made = Theatre()
    try:
        yield made
    finally:
        await made.strike()
