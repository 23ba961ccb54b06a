"""T21: from the route table, every change that succeeds writes exactly one audit row, found by its correlation id."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.contracts.test_idempotency import ask_of, changing, part_of
from tests.isolation.asgi import send
from tests.isolation.town import Town, founded
from tests.world import PASSWORD

# A request that changes nothing writes nothing.
CHANGES_NOTHING = {
    "POST /api/v1/placement/explain",  # only answers
    "PUT /api/v1/allocations/{id}/own-keys",  # was not allowed before either
    "POST /api/v1/allocations/{id}/release",  # was released with its group
    "DELETE /api/v1/admin/allocations/{id}/break-glass",  # nobody has such access
    "DELETE /api/v1/allocations/{id}/break-glass",  # nobody has such access
}
ONE_PER_ALLOCATION = {"POST /api/v1/allocation-groups/{id}/release"}
AUDITED = "select action from audit where correlation_id = $1 and result = 'done' order by id"


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    async with founded(tmp_path) as made:
        yield made


async def audited(town: Town) -> dict[str, list[str]]:
    """The actions that each successful request wrote."""
    found: dict[str, list[str]] = {}
    for number, probe in enumerate(changing(town)):
        part = part_of(town, "operator" if probe.is_admin else "owner")
        answer = await send(town.app, ask_of(town, part, probe, f"audit-{number}"))
        if answer.ok:
            async with town.world.db.read() as tx:
                found[f"{probe.method} {probe.path}"] = await tx.column(AUDITED, answer.header("x-correlation-id"))
    return found


def wrong(found: dict[str, list[str]]) -> dict[str, list[str]]:
    silent = {name for name, actions in found.items() if not actions}
    several = {name for name, actions in found.items() if len(actions) > 1}
    return {name: found[name] for name in (silent - CHANGES_NOTHING) | (several - ONE_PER_ALLOCATION)}


async def test_every_successful_change_writes_one_audit_row(town: Town) -> None:
    found = await audited(town)
    assert len(found) >= 15
    assert wrong(found) == {}


async def test_signing_up_in_and_out_write_one_row_each(town: Town) -> None:
    world = town.world
    credentials = {"email": "new@example.com", "password": PASSWORD}
    client = world.client(number=240)
    signed_up = await client.post("/api/v1/auth/personal/signup", json=credentials)
    logged_in = await client.post("/api/v1/auth/personal/login", json=credentials)
    out = world.client(logged_in.json()["access_token"], number=240)
    logged_out = await out.post("/api/v1/auth/logout")
    actions = []
    for answer in (signed_up, logged_in, logged_out):
        async with world.db.read() as tx:
            actions.append(await tx.column(AUDITED, answer.headers["x-correlation-id"]))
    assert actions == [["user.sign_up"], ["user.login"], ["session.revoke"]]


SWALLOW = """
    create function swallow() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger swallow before insert on audit for each row when (new.action = 'token.create')
        execute function swallow()
"""


async def test_a_change_that_is_not_audited_is_found(town: Town) -> None:
    """The red twin: one action is swallowed."""
    connection = await asyncpg.connect(town.world.dsn)
    try:
        await connection.execute(SWALLOW)
    finally:
        await connection.close()
    assert wrong(await audited(town)) == {"POST /api/v1/auth/tokens": []}
