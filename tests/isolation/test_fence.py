"""The row fence as the database itself describes it."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from gpuaas.core.settings import Settings
from gpuaas.main.server import wired

ROLES = ("gpuaas_api", "gpuaas_operator", "gpuaas_worker")
OURS = "relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations'"
UNFENCED = f"select relname from pg_class where {OURS} and not relrowsecurity"
# Each right a role has on a table, and no policy that says which rows: a right to nothing, or a hole made by a typo.
WITHOUT_POLICY = f"""
    select r.rolname || ' may ' || lower(p.verb) || ' ' || c.relname || ', and no policy says which rows'
    from pg_class c, pg_roles r, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as p (verb)
    where {OURS} and r.rolname = any ($1)
        and case p.verb when 'DELETE' then has_table_privilege(r.oid, c.oid, 'DELETE')
            else has_any_column_privilege(r.oid, c.oid, p.verb) end
        and not exists (
            select from pg_policies y where y.tablename = c.relname and r.rolname = any (y.roles)
                and y.cmd in ('ALL', p.verb))
"""
# Policies that let a request's role see or write rows whatever the fence is set to.
WIDE = """
    select tablename || '.' || policyname from pg_policies
    where roles && array['gpuaas_api', 'gpuaas_operator', 'public']::name[]
        and not (coalesce(qual, '') || coalesce(with_check, '')) ~ 'fence_|allocations'
"""
APPEND_ONLY = """
    select distinct r.rolname || ' may ' || lower(p.verb) || ' ' || t.name
    from pg_roles r, unnest(array['UPDATE', 'DELETE', 'TRUNCATE']) as p (verb),
        unnest(array['timeline_entries', 'cleanup_proofs', 'audit']) as t (name)
    where r.rolname = any ($1) and has_table_privilege(r.oid, t.name, p.verb)
"""
ABOVE = """
    select rolname from pg_roles
    where rolname = any ($1)
        and (rolsuper or rolbypassrls or rolcreaterole or pg_has_role(oid, 'gpuaas_owner', 'usage'))
"""
DEFINERS = """
    select p.proname from pg_proc p
    where pronamespace = 'public'::regnamespace and prosecdef and (
        not coalesce(proconfig, '{}') @> array['search_path=public']
        or has_function_privilege('public', oid, 'execute'))
"""


@pytest.fixture
async def database(migrated: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(migrated)
    yield connection
    await connection.close()


async def column(database: "asyncpg.Connection[asyncpg.Record]", sql: str, *args: object) -> list[str]:
    return [row[0] for row in await database.fetch(sql, *args)]


async def test_every_table_is_fenced(database: "asyncpg.Connection[asyncpg.Record]") -> None:
    assert await column(database, UNFENCED) == []
    await database.execute("create table planted (id text)")
    assert await column(database, UNFENCED) == ["planted"]


async def test_every_right_has_a_policy_that_says_which_rows(database: "asyncpg.Connection[asyncpg.Record]") -> None:
    assert await column(database, WITHOUT_POLICY, list(ROLES)) == []
    await database.execute("grant delete on tenants to gpuaas_api; drop policy tenant on tenants")
    found = await column(database, WITHOUT_POLICY, list(ROLES))
    assert "gpuaas_api may delete tenants, and no policy says which rows" in found


async def test_no_policy_of_a_request_leaves_the_fence_out(database: "asyncpg.Connection[asyncpg.Record]") -> None:
    assert await column(database, WIDE) == []
    await database.execute("create policy planted on allocations to gpuaas_api using (true)")
    assert await column(database, WIDE) == ["allocations.planted"]


async def test_what_happened_is_never_changed(database: "asyncpg.Connection[asyncpg.Record]") -> None:
    """But for one column: the worker counts repeats of a refusal in the audit."""
    assert await column(database, APPEND_ONLY, list(ROLES)) == []
    await database.execute("grant update on timeline_entries to gpuaas_worker")
    assert await column(database, APPEND_ONLY, list(ROLES)) == ["gpuaas_worker may update timeline_entries"]


async def test_no_role_of_ours_stands_above_the_policies(database: "asyncpg.Connection[asyncpg.Record]") -> None:
    assert await column(database, ABOVE, list(ROLES)) == []
    assert await column(database, ABOVE, ["gpuaas_owner"]) == ["gpuaas_owner"]


async def test_functions_that_see_all_have_a_fixed_path_and_a_named_caller(
    database: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    assert await column(database, DEFINERS) == []
    await database.execute("create function planted() returns int language sql security definer as 'select 1'")
    assert await column(database, DEFINERS) == ["planted"]


@pytest.mark.parametrize(
    "planted",
    [
        "grant create on schema public to gpuaas_api; alter table allocations owner to gpuaas_api",
        "grant create on schema public to gpuaas_operator; alter table allocations owner to gpuaas_operator",
        "alter table ssh_keys disable row level security",
    ],
)
async def test_a_server_that_would_pass_the_fence_does_not_start(
    database: "asyncpg.Connection[asyncpg.Record]", migrated: str, tmp_path: Path, planted: str
) -> None:
    config = Settings(data=tmp_path, dsn=migrated, pool_size=2)
    async with wired(config, migrated):
        pass
    await database.execute(planted)
    with pytest.raises(RuntimeError, match="row-level security"):
        async with wired(config, migrated):
            pass
