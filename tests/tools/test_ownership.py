"""The check of table owners finds each kind of planted violation, in modules and in the database."""

from dataclasses import replace
from types import ModuleType

import pytest

from gpuaas.domain.allocations.kinds import ALLOCATION
from tests.postgres import run
from tools.describe_schema import describe
from tools.lint_ownership import ALLOWANCES, ROOT, compare, look
from tools.ownership import rules
from tools.ownership.composed import kind_violations, statements_of_kind
from tools.ownership.rules import Violation
from tools.ownership.schema import Schema, missing_owners, read_schema, schema_violations
from tools.ownership.sql import NotSqlError, use_of
from tools.ownership.statements import Statement, judged, statements_of

OWNERS = rules.load_owners(ROOT)
PLANNED = replace(OWNERS, moves={**OWNERS.moves, "volumes": ("domain.storage.volumes.store:MOVE_VOLUME",)})


def found_in(module: str, text: str) -> set[Violation]:
    """What a module of this text would break."""
    made = ModuleType(module)
    exec(compile(text, module, "exec"), vars(made))  # noqa: S102 - the texts below
    known, broken = judged(statements_of(module, text, made))
    assert broken == []
    return {each for one in known for each in rules.of_module(PLANNED, one.statement.where, one.use)}


PLANTED = [
    ("domain.launch.store", "Q = 'update nodes set name = $1'", ("write", "Q", "nodes")),
    ("domain.launch.store", "Q = 'delete from nodes'", ("write", "Q", "nodes")),
    ("domain.launch.store", "Q = 'with a as (insert into audit (id) select 1) select 1'", ("write", "Q", "audit")),
    ("domain.skus.catalog", "Q = 'update skus set title = $1'", ("write", "Q", "skus")),
    ("domain.tasks.store", "Q = 'select * from volumes'", ("read", "Q", "volumes")),
    ("domain.tasks.store", "Q = 'select 1 where exists (select from volumes)'", ("read", "Q", "volumes")),
    ("domain.tasks.store", "Q = 'update node_tasks set boot = 1 from volumes v'", ("read", "Q", "volumes")),
    ("domain.identity.store", "Q = 'select render_keyset($1)'", ("call", "Q", "render_keyset")),
    ("domain.storage.volumes.store", "Q = \"update volumes set status = 'a'\"", ("status", "Q", "volumes")),
    (
        "domain.storage.volumes.store",
        "Q = 'insert into volumes (id) values (1) on conflict (id) do update set status = excluded.status'",
        ("status", "Q", "volumes"),
    ),
    ("domain.capacity.store", "Q = \"update nodes set intent = 'a'\"", ("status", "Q", "nodes")),
    ("domain.skus.store", "async def f(table): return f'delete from {table} where id = 1'", ("composed", "f", "")),
    # As modules compose them:
    ("domain.tasks.store", "T = 'volumes'\nQ = f'select * from {T}'", ("read", "Q", "volumes")),
    ("domain.tasks.store", "T = 'volumes'\nasync def f(): return f'select * from {T}'", ("read", "f", "volumes")),
    ("domain.tasks.store", "Q = {'a': ['select * from volumes']}", ("read", "Q", "volumes")),
    ("domain.tasks.store", "class W:\n    due = 'select id from volumes'", ("read", "W.due", "volumes")),
    ("domain.tasks.store", "async def f(): return 'select * from ' 'volumes'", ("read", "f", "volumes")),
    ("domain.tasks.store", "Q = 'select * from volumes where {only} {matching}'", ("read", "Q", "volumes")),
    ("core.outbox", "Q = 'select * from allocations'", ("read", "Q", "allocations")),
]


@pytest.mark.parametrize(("module", "text", "violation"), PLANTED)
def test_a_planted_violation_in_a_module_is_found(module: str, text: str, violation: tuple[str, str, str]) -> None:
    kind, name, table = violation
    assert found_in(module, text) == {Violation(kind, f"{module}:{name}", table)}


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("domain.capacity.store", "Q = 'update nodes set name = $1'"),
        ("domain.launch.store", "Q = 'select * from nodes n join volumes v on true'"),
        ("domain.tasks.store", "Q = 'with volumes as (select 1) select * from volumes'"),
        ("domain.capacity.store", "Q = 'select n.id from nodes n for update of n'"),
        ("domain.storage.volumes.store", "MOVE_VOLUME = \"update volumes set status = 'a'\""),
        ("domain.storage.volumes.store", "Q = \"insert into volumes (status) values ('a')\""),
        ("domain.storage.volumes.store", "Q = 'update volumes set size_gib = 1'"),
        ("domain.tasks.store", "def f():\n    'delete from volumes, says a docstring'"),
        ("core.outbox", "Q = 'select * from pg_class'"),
    ],
)
def test_what_a_package_may_do_is_not_found(module: str, text: str) -> None:
    assert found_in(module, text) == set()


def test_a_part_of_a_statement_is_judged_within_the_statement() -> None:
    text = "PART = 'select id from volumes where'\nQ = f'{PART} id = $1'"
    assert found_in("domain.tasks.store", text) == {Violation("read", "domain.tasks.store:Q", "volumes")}


def test_a_text_that_is_no_statement_is_reported() -> None:
    with pytest.raises(NotSqlError):
        use_of("select from where")
    _, broken = judged([Statement("domain.tasks.store:Q", "select from where")])
    assert [each.where for each in broken] == ["domain.tasks.store:Q"]


BODY = "language plpgsql as $$ begin {} end $$"
DECLARED = """language plpgsql as $$ declare b int := (select 1 from volumes);
begin if exists (select from slots) then return; end if; end $$"""
IN_DATABASE = [
    (
        f"create function lock_role(a int) returns void {BODY.format('delete from nodes;')}",
        "function lock_role",
        "write",
    ),
    (
        f"create function lock_role(a int) returns void {BODY.format('perform 1 from volumes;')}",
        "function lock_role",
        "read",
    ),
    (
        "create function lock_role(a int) returns text language sql as $$ select id from volumes $$",
        "function lock_role",
        "read",
    ),
    (
        "create function adopt_volume() returns void language sql as $$ update volumes set status = 'a' $$",
        "function adopt_volume",
        "status",
    ),
    (
        f"create function lock_role() returns void {DECLARED}",
        "function lock_role",
        "read",
    ),
    (
        "create function lock_role(a text) returns void language plpgsql as $$ begin execute a; end $$",
        "function lock_role",
        "composed",
    ),
    ("create policy planted on users using (exists (select from volumes))", "policy planted on users", "read"),
    ("create policy planted on users using (is_suspended(id, null))", "policy planted on users", "call"),
    (
        "create trigger planted after insert on tenants for each row execute function count_project()",
        "trigger planted on tenants",
        "call",
    ),
    ("create or replace view quota_truth as select id from volumes", "view quota_truth", "read"),
]


@pytest.mark.parametrize(("definition", "where", "kind"), IN_DATABASE)
def test_a_planted_violation_in_the_schema_is_found(definition: str, where: str, kind: str) -> None:
    found = set(schema_violations(OWNERS, read_schema(definition + ";")))
    assert {(each.where, each.kind) for each in found} == {(where, kind)}


async def test_functions_and_policies_are_judged_as_they_exist_in_a_migrated_database(migrated: str) -> None:
    before = set(schema_violations(OWNERS, read_schema(await describe(migrated))))
    await run(
        migrated,
        "create or replace function fence_user() returns text language sql as $$ select max(id) from volumes $$",
        "create policy planted on platform using (exists (select from allocations))",
        "create function planted() returns int language sql as $$ select 1 $$",
    )
    schema = read_schema(await describe(migrated))
    assert set(schema_violations(OWNERS, schema)) - before == {
        Violation("read", "function fence_user", "volumes"),
        Violation("read", "policy planted on platform", "allocations"),
    }
    assert list(missing_owners(OWNERS, schema)) == ["function planted has no owner in owners.toml"]


def test_a_table_without_an_owner_and_a_status_that_nothing_moves_are_reported() -> None:
    schema = read_schema(
        (ROOT / "docs/reference/schema.sql").read_text() + "create table planted (id int, status text);"
    )
    assert list(missing_owners(OWNERS, schema)) == [
        "table planted has no owner in owners.toml",
        "table planted has a column status, and owners.toml does not say what may write it",
    ]
    assert "table users has an owner in owners.toml and does not exist" in list(missing_owners(OWNERS, Schema()))


OLD, NEW = Violation("read", "domain.a.store:Q", "volumes"), Violation("write", "domain.b.store:Q", "volumes")


def test_a_violation_without_an_allowance_and_an_allowance_that_nothing_needs_fail() -> None:
    assert compare({OLD}, 1, {OLD}) == []
    assert compare({OLD, NEW}, 1, {OLD})[0].startswith("domain.b.store:Q: write volumes")
    assert compare(set(), 1, {OLD})[0].startswith("allowances.toml: nothing needs read volumes of domain.a.store:Q")
    assert compare({OLD}, 2, {OLD}) == ["allowances.toml: its sum is 2, and it lists 1"]


def test_allowances_are_read_as_they_are_written() -> None:
    assert rules.load_allowances(rules.write_allowances({NEW, OLD})) == (2, {OLD, NEW})


def test_this_repository_keeps_the_rules() -> None:
    found, errors = look(OWNERS)
    assert errors + compare(found, *rules.load_allowances(ALLOWANCES.read_text())) == []


def test_statements_of_the_transition_function_are_judged_by_the_kind_that_declares_them() -> None:
    where = "domain.allocations.kinds:ALLOCATION"
    assert set(kind_violations(OWNERS, where, ALLOCATION)) == set()
    assert len(list(statements_of_kind(where, ALLOCATION))) > len(ALLOCATION.states.moves)
    foreign = {each.name for each in kind_violations(OWNERS, "domain.skus.kinds:ALLOCATION", ALLOCATION)}
    assert foreign == {"allocations"}
    elsewhere = replace(ALLOCATION, table="volumes", writes={}, given={}, facts={}, billed=None, outbox=None)
    assert Violation("write", where, "volumes") in set(kind_violations(OWNERS, where, elsewhere))
    reads_above = replace(ALLOCATION, note="(select max(id) from volumes)")
    assert set(kind_violations(OWNERS, where, reads_above)) == {Violation("read", where, "volumes")}


def test_a_part_that_writes_and_belongs_to_no_statement_is_reported() -> None:
    text = "def f(table):\n    return f'moved as ( update {table} set a = 1 )'"
    _, broken = judged(statements_of("domain.skus.store", text, ModuleType("domain.skus.store")))
    assert [each.where for each in broken] == ["domain.skus.store:f"]
