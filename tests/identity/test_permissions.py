"""Who may do what: the table is whole, and each route keeps to it."""

import ast
import re
from pathlib import Path

import asyncpg
import pytest

from gpuaas.domain.identity.permissions import RULES, Permission, rows
from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import PlatformRole, Role, Scope
from tests import peek
from tests.world import World


def test_every_permission_has_its_rule_and_every_rule_somebody() -> None:
    assert set(RULES) == set(Permission)
    assert all(rule.project or rule.tenant or rule.platform or rule.allocation for rule in RULES.values())


async def test_the_database_has_the_same_rule(world: World) -> None:
    copied = await peek.rows(world.db, "select place, role, permission from role_permissions")
    assert {tuple(row) for row in copied} == set(rows())


ROOT = Path(__file__).parents[2]
ROLE_NAME = re.compile(r"'(owner|admin|member|viewer|ops)'")
DATA = {"join_by_invitation", "answer_invitation"}  # give the role `member`, and compare none
SCOPES = re.compile(r"array\['read', 'write', 'admin'\]|'admin' = any \(caller_scopes\)")  # of tokens


async def test_no_function_and_no_policy_of_the_database_names_a_role(world: World) -> None:
    assert await naming_roles(world) == []
    planted = "create function planted() returns boolean language sql as $$ select 'admin' = 'x' $$"
    connection = await asyncpg.connect(world.dsn)
    try:
        await connection.execute(planted)
        await connection.execute("create policy planted on users using (platform_role = 'ops')")
    finally:
        await connection.close()
    assert await naming_roles(world) == ["planted", "users.planted"]


async def naming_roles(world: World) -> list[str]:
    functions = "select proname as name, prosrc as source from pg_proc where pronamespace = 'public'::regnamespace"
    policies = "select tablename || '.' || policyname as name, concat(qual, with_check) as source from pg_policies"
    found = await peek.rows(world.db, f"{functions} union all {policies} order by 1")
    return [
        row["name"]
        for row in found
        if row["name"] not in DATA and ROLE_NAME.search(SCOPES.sub("", row["source"] or ""))
    ]


def test_what_reads_needs_the_read_scope_and_nothing_else_does() -> None:
    for permission, rule in RULES.items():
        is_reading = permission.value.endswith(":read") and not rule.platform
        assert (rule.scope is Scope.READ) == is_reading, permission


def test_operators_have_no_say_in_projects_and_project_roles_none_in_the_fleet() -> None:
    for rule in RULES.values():
        assert not (rule.platform and (rule.project or rule.tenant))


def test_whoever_may_act_may_also_read() -> None:
    for permission in (Permission.ALLOCATIONS_CREATE, Permission.ALLOCATIONS_RELEASE):
        assert RULES[permission].project <= RULES[Permission.ALLOCATIONS_READ].project
        assert RULES[permission].tenant <= RULES[Permission.ALLOCATIONS_READ].tenant


ROLES: dict[tuple[Role | None, Role | None], tuple[int, int, int]] = {
    # (role in the project, role in the tenant) → read, create, release
    (Role.OWNER, Role.MEMBER): (200, 202, 202),
    (Role.ADMIN, Role.MEMBER): (200, 202, 202),
    (Role.MEMBER, Role.MEMBER): (200, 202, 403),
    (Role.VIEWER, Role.MEMBER): (200, 403, 403),
    (None, Role.OWNER): (200, 202, 202),
    (None, Role.ADMIN): (200, 202, 202),
    (None, Role.MEMBER): (404, 404, 404),
    (None, Role.VIEWER): (404, 404, 404),
    (None, None): (404, 404, 404),
}


@pytest.mark.parametrize("roles", ROLES)
async def test_a_role_allows_what_the_table_says(world: World, roles: tuple[Role | None, Role | None]) -> None:
    a = await world.allocation(Status.ACTIVE)
    eve = await world.sign_up("eve")
    await world.join(eve, world.ada, project=roles[0], tenant=roles[1])
    got = (
        (await eve.http.get(f"/api/v1/allocations/{a}")).status_code,
        (await world.submit(eve, project_id=world.ada.project_id)).status_code,
        (await world.release(a, eve)).status_code,
    )
    assert got == ROLES[roles]


@pytest.mark.parametrize(
    ("role", "status"), [(Role.OWNER, 201), (Role.ADMIN, 201), (Role.MEMBER, 403), (Role.VIEWER, 403)]
)
async def test_projects_are_made_by_who_leads_the_tenant(world: World, role: Role, status: int) -> None:
    eve = await world.sign_up("eve")
    await world.join(eve, world.ada, project=None, tenant=role)
    answer = await eve.http.post("/api/v1/projects", json={"slug": "new", "tenant_id": world.ada.tenant_id})
    assert answer.status_code == status


async def test_another_tenants_project_looks_like_none(world: World) -> None:
    eve = await world.sign_up("eve")
    theirs = await eve.http.get(f"/api/v1/projects/{world.ada.project_id}")
    missing = await eve.http.get("/api/v1/projects/proj_none")
    assert (theirs.status_code, missing.status_code) == (404, 404)
    assert [answer.json()["detail"] for answer in (theirs, missing)] == [missing.json()["detail"]] * 2


@pytest.mark.parametrize("role", list(PlatformRole))
async def test_both_kinds_of_operator_run_the_fleet_and_nobody_else_does(world: World, role: PlatformRole) -> None:
    other = await world.hire_operator("other", role)
    for path in ("nodes", "allocations", "workers"):
        assert (await other.http.get(f"/api/v1/admin/{path}")).status_code == 200
        refused = await world.http.get(f"/api/v1/admin/{path}")
        assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_permissions")


async def test_a_denial_is_audited_and_its_repeats_are_counted(world: World) -> None:
    for _ in range(3):
        await world.http.get("/api/v1/admin/nodes")
    sql = """
        select a.actor, a.action, a.target_id, r.repeats from audit a join audit_repeats r on r.audit_id = a.id
        where a.result = 'denied'
    """
    rows = await peek.rows(world.db, sql)
    assert [tuple(row) for row in rows] == [(world.ada.id, "fleet:read", "GET /api/v1/admin/nodes", 3)]


async def test_a_worker_is_switched_off_and_on_by_operators_and_shown_so(world: World) -> None:
    workers = "/api/v1/admin/workers"
    off = await world.operator.http.post(f"{workers}/allocations/disable", json={"reason": "it runs wild"})
    assert (off.json()["disabled_reason"], off.json()["disabled_by"]) == ("it runs wild", world.operator.id)
    shown = {each["worker"]: each["disabled_at"] for each in (await world.operator.http.get(workers)).json()["items"]}
    assert {name for name, at in shown.items() if at} == {"allocations"}
    on = await world.operator.http.post(f"{workers}/allocations/enable", json={})
    assert on.json()["disabled_at"] is None
    assert (await world.operator.http.post(f"{workers}/nobody/disable", json={})).status_code == 404


# Give a role, which is data, or ask for one in a text; none of these decides what a role may do.
GIVING = {"src/gpuaas/cli/members.py"}


def comparing_roles(path: Path, text: str) -> list[str]:
    """Comparisons with a member of Role or PlatformRole, and role names in SQL."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            names = [each.value for each in ast.walk(node) if isinstance(each, ast.Attribute)]
            if any(isinstance(each, ast.Name) and each.id in ("Role", "PlatformRole") for each in names):
                found.append(f"{path}:{node.lineno}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ROLE_NAME.search(node.value):
            found.append(f"{path}:{node.lineno}")
    return found


def test_no_service_compares_roles() -> None:
    sources = {path.relative_to(ROOT): path.read_text() for path in (ROOT / "src/gpuaas").rglob("*.py")}
    rule = Path("src/gpuaas/domain/identity/permissions.py")
    found = [one for path, text in sources.items() if path != rule for one in comparing_roles(path, text)]
    assert {one.partition(":")[0] for one in found} == GIVING


@pytest.mark.parametrize(
    "line",
    [
        "if member.role is Role.OWNER: pass",
        "leads = role in (Role.OWNER, Role.ADMIN)",
        "if caller.platform_role == PlatformRole.ADMIN: pass",
        """SQL = "select id from users where platform_role = 'admin'" """,
    ],
)
def test_a_comparison_of_roles_is_found(line: str) -> None:
    assert comparing_roles(Path("planted.py"), line) == ["planted.py:1"]
