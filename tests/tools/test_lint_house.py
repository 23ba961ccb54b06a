"""Every rule of the house: a red snippet is caught, and its green twin passes."""

from pathlib import PurePosixPath
from textwrap import dedent

import pytest

from tools.lint_house import check, owned_tables

TABLES = frozenset({"allocations"})
COMMANDS = "src/gpuaas/domain/allocations/commands.py"
STORE = "src/gpuaas/domain/allocations/store.py"
LONG = "def long() -> None:\n" + "    print()\n" * 50

# rule, path of the red, red, path of the green, green
TWINS = [
    ("status", COMMANDS, "row.status = 'active'", STORE, "row.status = 'active'"),
    ("status", COMMANDS, "object.__setattr__(row, 'status', to)", COMMANDS, "object.__setattr__(row, 'name', to)"),
    ("status", "src/gpuaas/api/unit.py", "row.status = 1", "src/gpuaas/api/unit.py", "self.status = 500"),
    ("sql", COMMANDS, "Q = 'select id from nodes'", STORE, "Q = 'select id from nodes'"),
    ("sql", COMMANDS, "Q = f'update {t} set a = 1'", "src/gpuaas/core/work.py", "Q = 'update t set a = 1'"),
    ("sql", COMMANDS, "class W:\n    q = 'select id from t'", COMMANDS, "class W:\n    due = 'select id from t'"),
    ("sql", "src/gpuaas/api/nodes.py", "Q = 'insert into t'", "src/gpuaas/api/nodes.py", "Q = 'Select one from these'"),
    ("sql", COMMANDS, "Q = 'delete from t'", COMMANDS, "def f() -> None:\n    'delete from t, says a docstring'"),
    (
        "project-filter",
        STORE,
        "Q = 'select * from allocations a join nodes n on n.id = a.node_id'",
        STORE,
        "Q = 'select * from allocations where project_id = any($1)'",
    ),
    (
        "project-filter",
        STORE,
        "Q = 'select * from allocations'",
        STORE,
        "Q = 'select * from allocations where id = $1'",
    ),
    ("project-filter", STORE, "Q = 'select * from allocations'", STORE, "Q = 'select * from skus'"),
    (
        "project-filter",
        STORE,
        "S = 'select * from allocations'\nQ = f'{S} where node_id = $1'",
        STORE,
        "S = 'select * from allocations'\nQ = f'{S} where project_id = $1'",
    ),
    (
        "project-filter",
        STORE,
        "Q = 'select id from allocations'",
        "src/gpuaas/domain/allocations/reconcile.py",
        "class W:\n    due = 'select id from allocations'",
    ),
    ("clock", COMMANDS, "at = datetime.now(UTC)", "src/gpuaas/core/clock.py", "at = datetime.now(UTC)"),
    ("clock", COMMANDS, "from uuid import uuid4", COMMANDS, "from uuid import UUID"),
    ("clock", COMMANDS, "at = time.monotonic()", "src/gpuaas/agent/link.py", "at = time.monotonic()"),
    ("clock", COMMANDS, "n = random.choice(nodes)", COMMANDS, "n = random.Random(seed)"),
    ("clock", COMMANDS, "at = time.time()", "tests/world.py", "at = time.time()"),
    ("clock", COMMANDS, "def f(n=random.random()): ...", COMMANDS, "def f(n: Chance = random.random): ..."),
    (
        "open-transaction",
        COMMANDS,
        "async def f():\n    async with db.write() as tx:\n        await asyncio.sleep(1)",
        COMMANDS,
        "async def f():\n    async with db.write() as tx:\n        await store.get(tx)\n    await asyncio.sleep(1)",
    ),
    (
        "open-transaction",
        COMMANDS,
        "async def f(tx: Tx):\n    await self._engine.ensure(wanted)",
        COMMANDS,
        "async def f(db: Database):\n    await self._engine.ensure(wanted)",
    ),
    (
        "open-transaction",
        COMMANDS,
        "async def f():\n    async with db.read() as tx:\n        async with httpx.AsyncClient() as c: ...",
        COMMANDS,
        "async def f():\n    async with httpx.AsyncClient() as c: ...",
    ),
    (
        "broad-except",
        COMMANDS,
        "try: f()\nexcept Exception: pass",
        "src/gpuaas/core/work.py",
        "try: f()\nexcept Exception: pass",
    ),
    ("broad-except", COMMANDS, "try: f()\nexcept: pass", COMMANDS, "try: f()\nexcept ValueError: pass"),
    (
        "broad-except",
        COMMANDS,
        "try: f()\nexcept (OSError, BaseException): g()",
        COMMANDS,
        "try: f()\nexcept BaseException:\n    g()\n    raise",
    ),
    ("local-import", COMMANDS, "def f():\n    import os", "src/gpuaas/main/up.py", "def f():\n    import os"),
    ("length", COMMANDS, LONG, COMMANDS, LONG.replace("    print()\n", "", 1)),
    ("length", COMMANDS, "a = 1\n" * 401, COMMANDS, "a = 1\n" * 400),
    ("positional", COMMANDS, "def f(a, b, c, d, e, f): ...", COMMANDS, "def f(a, b, c, d, e, *, f): ..."),
    (
        "positional",
        COMMANDS,
        "class A:\n    def f(self, a, b, c, d, e, f): ...",
        COMMANDS,
        "class A:\n    def f(self, a, b, c, d, e): ...",
    ),
    ("leftover", COMMANDS, "a = 1  # TODO: more", COMMANDS, "a = 'TODO'  # said in a string"),
    ("name", "src/gpuaas/api/utils.py", "", "src/gpuaas/wire/common.py", ""),
    ("name", "tests/helpers/world.py", "", "tests/world.py", ""),
    (
        "opt-out",
        COMMANDS,
        "at = datetime.now()  # house: clock",
        COMMANDS,
        "at = datetime.now()  # house: clock because a person reads it",
    ),
    ("opt-out", COMMANDS, "a = 1  # house: clocks because", COMMANDS, "a = 1  # our house: a fine one"),
    ("opt-out", COMMANDS, "a = 1  # house: clock because it might", COMMANDS, "a = 1"),
    ("safe-path", COMMANDS, "c = [sys.executable, '-m', 'x']", COMMANDS, "c = [sys.executable, '-P', '-m', 'x']"),
    ("safe-path", COMMANDS, "run(sys.executable, '-c', 'x')", COMMANDS, "run(sys.executable, '-I', '-c', 'x')"),
    ("safe-path", COMMANDS, "c = (*sudo, f(sys.executable), '-m')", "tests/x.py", "c = (sys.executable, '-m')"),
    ("safe-path", COMMANDS, "c = ['-m', 'gpuaas.main']", COMMANDS, "c = ['mkfs', '-m', '0']"),
]


def judged(path: str, text: str) -> set[str]:
    return {finding.rule for finding in check(PurePosixPath(path), text, TABLES)}


@pytest.mark.parametrize(("rule", "red_path", "red", "green_path", "green"), TWINS)
def test_red_is_caught_and_its_green_twin_passes(
    rule: str, red_path: str, red: str, green_path: str, green: str
) -> None:
    assert rule in judged(red_path, red)
    assert judged(green_path, green) == set()


def test_an_opt_out_stands_on_the_first_or_the_last_line() -> None:
    text = '''
        Q = """
            select * from allocations
        """  # house: project-filter because operators see the fleet
    '''
    assert judged(STORE, dedent(text)) == set()


def test_a_finding_reads_as_path_line_rule_message() -> None:
    found = check(PurePosixPath(COMMANDS), "\nrow.status = 1\n", TABLES)
    assert [str(one) for one in found] == [f"{COMMANDS}:2 status only store.move() writes a status"]


def test_project_owned_tables_are_read_from_the_migrations() -> None:
    migrations = """
create table a (
    id text primary key,
    project_id text not null references projects
);
create table b (
    id text primary key
);
alter table c add column project_id text;
"""
    assert owned_tables(migrations) == {"a", "c"}
