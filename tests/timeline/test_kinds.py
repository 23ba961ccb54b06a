"""Every statement that a declaration can compose is one that PostgreSQL accepts, and no other file writes history."""

import ast
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import cast

import asyncpg
import pytest

from gpuaas.core.states import Machine
from gpuaas.domain.access.kinds import GRANT
from gpuaas.domain.allocations.kinds import ALLOCATION
from gpuaas.domain.capacity.kinds import NODE
from gpuaas.domain.runtimes.kinds import BUNDLE, RUNTIME, STAGING
from gpuaas.domain.storage.kinds import ATTACHMENT, SNAPSHOT, VOLUME
from gpuaas.domain.timeline.kinds import Kind
from gpuaas.domain.timeline.statements.parameters import Statement, numbered
from gpuaas.domain.timeline.statements.store import Form, move, restate
from gpuaas.wire.allocations import Status
from gpuaas.wire.timeline import OperationStatus, Outcome
from tests.world import database

KINDS = cast("list[Kind[StrEnum]]", [ALLOCATION, ATTACHMENT, BUNDLE, GRANT, NODE, RUNTIME, SNAPSHOT, STAGING, VOLUME])
HISTORY = re.compile(r"insert\s+into\s+(timeline_entries|audit|operations|outbox|usage_intervals)\b", re.IGNORECASE)
WRITERS = {
    "domain/timeline/store.py",
    "domain/timeline/statements/store.py",
    "core/outbox.py",
}
SOURCE = Path(__file__).parents[2] / "src" / "gpuaas"


def statements(kind: Kind[StrEnum]) -> Iterator[tuple[str, Statement]]:
    for status in {to for onward in kind.states.moves.values() for to in onward}:
        for ends in (None, OperationStatus.FAILED) if kind.operation != "null" else (None,):
            for given in ((), tuple(kind.given)):
                form = Form(
                    begins=ends is not None and "operation_id" in given,
                    ends=ends,
                    audit=kind.audit,
                    given=given,
                    phase=None if kind.phase else Outcome.DONE,
                    pays=kind.pays(status),
                )
                yield f"{status} {form}", move(kind, status, form)
    for pays in (None, True, False) if kind.billed else (None,) if kind.facts else ():
        yield "restate", restate(kind, tuple(kind.facts), Outcome.DONE, Form(pays=pays))


async def test_postgresql_accepts_every_statement_of_every_kind() -> None:
    async with database() as dsn:
        connection = await asyncpg.connect(dsn)
        try:
            for kind in KINDS:
                for what, statement in statements(kind):
                    try:
                        await connection.prepare(statement.sql)
                    except asyncpg.PostgresError as error:
                        pytest.fail(f"{kind.noun} {what}: {error}\n{statement.sql}")
            with pytest.raises(asyncpg.UndefinedColumnError):
                await connection.prepare(restate(BROKEN, ("no_such_column",), Outcome.DONE, Form()).sql)
        finally:
            await connection.close()


BROKEN = Kind(
    noun="broken",
    table="allocations",
    states=Machine("broken", {Status.ACTIVE: set()}),
    subject_kind="allocation",
    facts={"no_such_column": "1"},
)


def writers(source: Path) -> set[str]:
    """Files with a string that inserts into a table of the history."""
    found = set()
    for path in source.rglob("*.py"):
        strings = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        if any(isinstance(text, str) and HISTORY.search(text) for text in strings):
            found.add(path.relative_to(source).as_posix())
    return found


def test_only_the_timeline_and_the_outbox_write_history() -> None:
    assert writers(SOURCE) == WRITERS


@pytest.mark.parametrize(
    "planted",
    [
        'SQL = "insert into timeline_entries (id) values (1)"',
        'SQL = """\n    with x as (\n INSERT INTO  audit (at) select 1)"""',
        'SQL = f"insert into operations ({1}) values (1)"',
        'SQL = "insert into outbox (topic) values ($1)"',
        'SQL = "insert into usage_intervals (id) values (1)"',
    ],
)
def test_a_planted_insert_is_found(planted: str, tmp_path: Path) -> None:
    (tmp_path / "commands.py").write_text(planted)
    assert writers(tmp_path) == {"commands.py"}


def test_the_words_around_an_insert_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(
        '"""Never insert rows into audit."""\nSQL = "insert into audit_seals (a) select 1"'
    )
    assert writers(tmp_path) == set()


@pytest.mark.parametrize(
    ("text", "sql", "names"),
    [
        ("select :id, :now::timestamptz, :id", "select $1, $2::timestamptz, $1", ("id", "now")),
        ("select concat_ws(': ', a), '{}'::jsonb", "select concat_ws(': ', a), '{}'::jsonb", ()),
    ],
)
def test_named_parameters_are_numbered_and_casts_are_left_alone(text: str, sql: str, names: tuple[str, ...]) -> None:
    assert numbered(text) == Statement(sql, names)


def test_only_moves_out_of_billable_states_end_usage() -> None:
    assert {status.value: ALLOCATION.pays(status) for status in Status} == {
        "requested": None,
        "provisioning": None,
        "active": True,
        "restarting": None,
        "restart_failed": False,
        "releasing": False,
        "release_failed": None,
        "released": None,
        "failed": False,
    }
