"""Every row that says who acted, holds or called refers to a principal, also when an old server writes it."""

import shutil
from pathlib import Path

import asyncpg
import pytest

from gpuaas.core.migrate import folder, migrate
from tests import peek
from tests.world import World

FIRST = "0110_principals.sql"
REFERRING = {
    ("access_grants", "created_by"),
    ("allocation_groups", "created_by"),
    ("allocations", "holder_id"),
    ("allocations", "requested_by"),
    ("idempotency", "caller"),
    ("operations", "requested_by"),
    ("project_members", "user_id"),
    ("tenant_members", "user_id"),
    ("tokens", "user_id"),
    ("volume_snapshots", "created_by"),
    ("volumes", "created_by"),
}
REFERENCES = """
    select c.conrelid::regclass::text, a.attname from pg_constraint c
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'principals'::regclass and c.convalidated
"""
AUDIT = """
    insert into audit (at, actor, acted_as, action, target_kind, target_id, result, correlation_id)
    values (now(), $1, $1, 'test', 'test', 'test', 'done', '')
"""
ENTRY = """
    insert into timeline_entries (subject_kind, subject_id, phase, outcome, at, actor)
    values ('test', 'test', 'test', 'done', now(), $1)
"""
OPERATION = """
    insert into operations (id, tenant_id, project_id, kind, subject_kind, subject_id, status, requested_by, started_at,
        last_progress_at, correlation_id)
    values ('op_test', $2, $3, 'test', 'test', 'test', 'succeeded', $1, now(), now(), '')
"""
CALL = """
    insert into idempotency (caller, route, key, request_hash, expires_at) values ($1, 'test', 'test', 'test', now())
"""


async def test_users_nodes_and_the_platform_are_principals(world: World) -> None:
    await world.allocation()
    rows = await peek.rows(world.db, "select id, kind, name from principals")
    found = {row["id"]: (row["kind"], row["name"]) for row in rows}
    assert found[world.ada.id] == ("user", world.ada.email)
    nodes = await peek.rows(world.db, "select id, name from nodes")
    assert nodes
    assert all(found[node["id"]] == ("node", node["name"]) for node in nodes)
    assert {id for id, (kind, _) in found.items() if kind == "system"} == {"system", "platform", "anonymous", "unknown"}


async def test_a_principal_follows_its_users_address_and_suspension(world: World) -> None:
    sql = "update users set email = 'new@example.com', suspended_at = 'epoch' where id = $1"
    await peek.plant(world.db, sql, world.ada.id)
    row = await peek.row(world.db, "select name, suspended_at from principals where id = $1", world.ada.id)
    assert row is not None
    assert (row["name"], row["suspended_at"].year) == ("new@example.com", 1970)


async def test_who_acts_holds_or_calls_refers_to_a_principal(world: World) -> None:
    rows = await peek.rows(world.db, REFERENCES)
    assert {tuple(row) for row in rows} == REFERRING


@pytest.mark.parametrize("sql", [AUDIT, ENTRY, OPERATION, CALL])
async def test_a_row_of_somebody_who_is_no_principal_is_refused(world: World, sql: str) -> None:
    place = (world.ada.tenant_id, world.ada.project_id) if "$2" in sql else ()
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await peek.plant(world.db, sql, "user_nobody", *place)
    await peek.plant(world.db, sql, world.ada.id, *place)


@pytest.mark.parametrize("sql", ["delete from principals", "update principals set id = id || 'x'"])
async def test_principals_stay(world: World, sql: str) -> None:
    connection = await asyncpg.connect(world.dsn)
    try:
        with pytest.raises(asyncpg.RestrictViolationError):
            await connection.execute(f"{sql} where id = $1", world.ada.id)
    finally:
        await connection.close()


async def test_a_populated_database_gets_its_principals(dsn: str, tmp_path: Path) -> None:
    """Also those of actors that the platform no longer knows; and a user that an old server adds gets one, too."""
    for file in folder().glob("*.sql"):
        if file.name < FIRST:
            shutil.copy(file, tmp_path)
    await migrate(dsn, tmp_path)
    connection = await asyncpg.connect(dsn)
    try:
        add = "insert into users (id, email, created_at) values ($1, $2, now())"
        await connection.execute(add, "user_1", "one@example.com")
        await connection.execute(AUDIT, "user_1")
        await connection.execute(ENTRY, "somebody else")
        await migrate(dsn)
        await connection.execute(add, "user_2", "two@example.com")
        rows = await connection.fetch("select id, kind, name from principals where created_at is not null")
        found = {tuple(row) for row in rows}
        assert found >= {("user_1", "user", "one@example.com"), ("user_2", "user", "two@example.com")}
        assert ("somebody else", "system", "somebody else") in found
    finally:
        await connection.close()
