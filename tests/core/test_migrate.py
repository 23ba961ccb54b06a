"""Migrations: once each, whoever starts, and never edited."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.core.migrate import MOST_TRIES, EditedMigrationError, folder, migrate
from tests import peek
from tests.postgres import run, template_database

APPEND_ONLY = ("timeline_entries", "cleanup_proofs")
NAMES = sorted(path.name for path in folder().glob("*.sql"))


async def ask(dsn: str, question: str, *args: object) -> list[object]:
    connection = await asyncpg.connect(dsn)
    try:
        return [row[0] for row in await connection.fetch(question, *args)]
    finally:
        await connection.close()


async def test_four_that_start_at_once_run_each_migration_once(dsn: str) -> None:
    await template_database("world", migrate)  # the cluster's roles are made by whoever comes first
    applied = await asyncio.gather(*(migrate(dsn) for _ in range(4)))
    assert sorted(name for names in applied for name in names) == NAMES
    assert await ask(dsn, "select name from schema_migrations order by name") == NAMES


async def test_migrating_again_changes_nothing(migrated: str) -> None:
    assert await migrate(migrated) == []


async def test_an_edited_migration_is_refused(dsn: str, tmp_path: Path) -> None:
    file = tmp_path / "0001_first.sql"
    file.write_text("create table a (id int)")
    assert await migrate(dsn, tmp_path) == ["0001_first.sql"]
    file.write_text("create table a (id bigint)")
    with pytest.raises(EditedMigrationError, match=r"0001_first\.sql was changed"):
        await migrate(dsn, tmp_path)


async def test_a_migration_that_fails_leaves_nothing_and_is_tried_again(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").write_text("create table a (id int)")
    second = tmp_path / "0002_second.sql"
    second.write_text("create table b (id int); select 1 / 0")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(dsn, tmp_path)
    assert await ask(
        dsn, "select tablename from pg_tables where schemaname = 'public' and tablename in ('a', 'b')"
    ) == ["a"]
    second.write_text("create table b (id int)")
    assert await migrate(dsn, tmp_path) == ["0002_second.sql"]


BLOCKED_TWICE = """
do $$ begin if nextval('tries') <= {times} then raise exception 'planted' using errcode = '{code}'; end if; end $$;
create table b (id int);
"""


@pytest.mark.parametrize("code", ["40P01", "55P03"], ids=["deadlock", "lock timeout"])
async def test_a_migration_that_others_block_is_tried_again(dsn: str, tmp_path: Path, code: str) -> None:
    await run(dsn, "create sequence tries")
    (tmp_path / "0001_first.sql").write_text(BLOCKED_TWICE.format(times=2, code=code))
    assert await migrate(dsn, tmp_path) == ["0001_first.sql"]
    assert await ask(dsn, "select last_value from tries") == [3]


async def test_a_migration_that_others_block_for_ever_fails(dsn: str, tmp_path: Path) -> None:
    await run(dsn, "create sequence tries")
    (tmp_path / "0001_first.sql").write_text(BLOCKED_TWICE.format(times=MOST_TRIES, code="40P01"))
    with pytest.raises(asyncpg.DeadlockDetectedError):
        await migrate(dsn, tmp_path)
    assert await ask(dsn, "select last_value from tries") == [MOST_TRIES]


async def test_every_table_is_fenced_by_row_level_security(migrated: str) -> None:
    open_tables = """
        select relname from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and not relrowsecurity
    """
    assert await ask(migrated, open_tables) == ["schema_migrations"]


async def test_every_table_with_a_tenant_has_a_policy_for_requests_or_no_grant(migrated: str) -> None:
    unfenced = """
        select distinct g.table_name from information_schema.role_table_grants g
        where g.grantee = 'gpuaas_api' and not exists (
            select from pg_policies p where p.tablename = g.table_name and 'gpuaas_api' = any (p.roles))
    """
    assert await ask(migrated, unfenced) == []


@pytest.mark.parametrize("role", [DbRole.API, DbRole.OPERATOR, DbRole.WORKER])
@pytest.mark.parametrize("table", APPEND_ONLY)
async def test_what_happened_cannot_be_changed_by_anybody_who_serves(migrated: str, role: DbRole, table: str) -> None:
    db = await connect(migrated, role, hints=Hints("here"))
    try:
        for change in (f"update {table} set at = now()", f"delete from {table}", f"truncate {table}"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await peek.plant(db, change)
    finally:
        await db.close()


async def test_without_an_entered_caller_a_request_sees_no_rows(migrated: str) -> None:
    hints = Hints("here")
    worker, api = [await connect(migrated, role, hints=hints) for role in (DbRole.WORKER, DbRole.API)]
    try:
        await peek.plant(worker, "insert into tenants values ('ten_a', 'personal', 'a', now())")
        await peek.plant(worker, "insert into regions values ('local')")
        for table in ("tenants", "regions"):
            assert await peek.value(worker, f"select count(*) from {table}") == 1
            assert await peek.value(api, f"select count(*) from {table}") == 0
    finally:
        await worker.close()
        await api.close()


async def test_serving_as_the_owner_of_the_tables_is_refused(migrated: str) -> None:
    hints = Hints("here")
    owner, api = [await connect(migrated, role, hints=hints) for role in (DbRole.OWNER, DbRole.API)]
    try:
        await api.check_fence()
        with pytest.raises(RuntimeError, match="bypasses row-level security"):
            await owner.check_fence()
    finally:
        await owner.close()
        await api.close()


INDEXES = """-- no transaction
-- Statements are separated by blank lines.

create table if not exists a (id int)

create unique index concurrently if not exists a_once on a (id)
"""


async def test_a_migration_may_build_indexes_outside_a_transaction_while_others_wait_for_it(
    dsn: str, tmp_path: Path
) -> None:
    (tmp_path / "0001_indexes.sql").write_text(INDEXES)
    applied = await asyncio.gather(*(migrate(dsn, tmp_path) for _ in range(3)))
    assert sorted(map(len, applied)) == [0, 0, 1]
    assert await ask(dsn, VALID) == [True]


async def test_an_index_that_a_crash_left_invalid_is_built_anew(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "0001_indexes.sql").write_text(INDEXES)
    await ask(dsn, "create table a (id int)")
    await ask(dsn, "insert into a values (1), (1)")
    with pytest.raises(asyncpg.UniqueViolationError):  # leaves what a crash in the midst of it leaves
        await migrate(dsn, tmp_path)
    assert await ask(dsn, VALID) == [False]
    assert await ask(dsn, "select name from schema_migrations") == []
    await ask(dsn, "truncate a")
    assert await migrate(dsn, tmp_path) == ["0001_indexes.sql"]
    assert await ask(dsn, VALID) == [True]


VALID = "select indisvalid from pg_index where indexrelid = 'a_once'::regclass"


async def test_every_index_of_the_product_is_valid(migrated: str) -> None:
    assert await ask(migrated, "select indexrelid::regclass::text from pg_index where not indisvalid") == []
