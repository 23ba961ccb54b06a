"""Every cell of the authorization matrix: the SQL rule, the key set and the terminals agree with the model."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import asyncpg
import pytest

from gpuaas.api.app import described
from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.secrets import token_hash
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.authority import NEEDS, Action, permissions, readable
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import rows
from gpuaas.wire.identity import Role
from gpuaas.wire.permissions import Permission
from tests.access.authorization import (
    BY_KEY,
    BY_TERMINAL,
    CHANGES,
    ENTRIES,
    FILE,
    OWN_FILE,
    PLACE,
    ROUTES,
    STANDINGS,
    Standing,
    after,
    allows,
    decided,
    document,
    expected,
    expected_permissions,
)
from tests.access.test_allocation_keys import a_key
from tests.world import Person, World

MUTATIONS = {
    "whoever reads works": ("works_in", "'access:ask'", "'allocations:read'"),
    "a holder need not work": ("allocation_permissions", "holder_id = principal and", "holder_id = principal or"),
    "an expired grant admits": ("allocation_permissions", "> clock_timestamp()", "> '-infinity'"),
    "a revoked grant admits": ("allocation_permissions", "g.status = 'active'", "true"),
    "nobody holds what is vacant": ("allocation_permissions", "not works_in(holder_id, project_id)", "false"),
    "a grantee is a holder": ("allocation_permissions", "select 'grantee'", "select 'holder'"),
    "tenant roles count as project roles": ("project_permissions", "r.place = 'tenant'", "r.place = 'project'"),
    "tenant roles do not count": ("project_permissions", "m.tenant_id = t.id", "false"),
    "a suspended person keeps the role": ("project_permissions", "and c.suspended_at is null", ""),
    "key sets ask nobody": ("render_keyset", "may_on_allocation(k.user_id, 'keys:choose', allocation)", "true"),
    "grants of viewers stay": ("render_keyset", "works_in(k.user_id, g.project_id)", "true"),
    "the file outlives its permission": (
        "render_keyset",
        "may_on_allocation(k.admits_own_by, 'keys:choose', allocation), k",
        "true, k",
    ),
    "the file admits whoever is in it": (
        "render_keyset",
        "may_on_allocation(o.user_id, 'terminals:open', allocation)",
        "true",
    ),
    "terminals stay open": ("terminal_objection", "'terminals:open' = any (r.permissions)", "true"),
}


# Every row of the role rule that decides about an allocation; without any one of them a cell changes.
DECISIVE = {permission.value for permission in NEEDS.values()}
RULE_ROWS = [row for row in rows() if row[0] != "platform" and row[2] in DECISIVE]


class Scene:
    """One allocation held by Hal, and Pat, who stands in every way to it."""

    def __init__(self, world: World, pat: Person, hal: Person, allocation_id: str) -> None:
        self.world, self.pat, self.hal, self.id = world, pat, hal, allocation_id
        self.tenant, self.project = world.ada.tenant_id, world.ada.project_id

    async def differences(self) -> AsyncGenerator[str, None]:
        """Cells where the product does not decide what the model expects."""
        async with self.world.db.read() as tx:
            for name, standing in STANDINGS.items():
                for change in CHANGES:
                    may, admitted, by_file, objection, shown = await self._decide(tx, standing, change)
                    if shown != expected_permissions(after(standing, change)):
                        yield f"{name}, {change}: the response shows {sorted(shown)}"
                    for entry in ENTRIES:
                        if entry in BY_KEY:
                            got = admitted
                        elif entry == OWN_FILE:
                            got = by_file
                        elif entry in BY_TERMINAL:
                            got = objection is None
                        else:
                            got = decided(may, entry, NEEDS)
                        if got != allows(entry, standing, change):
                            yield f"{name}, {change}: {entry} is {'allowed' if got else 'refused'}"

    async def _decide(
        self, tx: Tx, standing: Standing, change: str
    ) -> tuple[set[str], bool, bool, str | None, set[str]]:
        db: Any = tx.connection
        transaction = db.transaction()
        await transaction.start()
        try:
            await self._arrange(db, standing)
            for statement in CHANGES[change]:
                args = (self.pat.id, self.tenant, self.hal.id)
                await db.execute(statement, *args[: 3 if "$3" in statement else 2])
            await db.execute("select render_keyset($1)", self.id)
            may = set(await db.fetchval("select allocation_permissions($1, $2)", self.pat.id, self.id))
            admitted = await db.fetchval(ADMITTED, self.id, self.pat.id)
            by_file = await db.fetchval(BY_FILE, self.id, self.pat.id)
            objection = await db.fetchval(OBJECTION, self.id, self.pat.id)
            return may, bool(admitted), bool(by_file), objection, await self._shown(tx)
        finally:
            await transaction.rollback()

    async def _shown(self, tx: Tx) -> set[str]:
        """The permissions in the response to Pat, who enters as every request does; none if there is no response."""
        await tx.run("set local role gpuaas_api")
        entry: identity.Entry[object] | None = await identity.enter(tx, token_hash(self.pat.token))
        if entry is None or entry.entered.suspension is not None:
            return set()
        caller = entry.entered.caller(Caller)
        try:
            return set(permissions(caller, readable(caller, await store.get(tx, self.id))))
        except NotFound:
            return set()

    async def _arrange(self, db: Any, standing: Standing) -> None:
        if standing.project:
            sql = "insert into project_members (project_id, tenant_id, user_id, role) values ($1, $2, $3, $4)"
            await db.execute(sql, self.project, self.tenant, self.pat.id, standing.project)
        if standing.tenant:
            sql = "insert into tenant_members (tenant_id, user_id, role) values ($1, $2, $3)"
            await db.execute(sql, self.tenant, self.pat.id, standing.tenant)
        if standing.holds:
            await db.execute("update allocations set holder_id = $2 where id = $1", self.id, self.pat.id)
        if standing.granted:
            await db.execute(GRANT, self.tenant, self.project, self.id, self.pat.id, self.pat.key_id)
        else:  # a key that Pat chose once: whether it counts is the rule's to say
            sql = "insert into allocation_keys (allocation_id, tenant_id, ssh_key_id) values ($1, $2, $3)"
            await db.execute(sql, self.id, self.tenant, self.pat.key_id)
        await db.execute(ALLOW_FILE, self.id, self.pat.id if standing.holds else self.hal.id, self.pat.key_id)


GRANT = """
    insert into access_grants (id, tenant_id, project_id, allocation_id, user_id, ssh_key_id, status, status_since,
        created_by, created_at)
    values ('grant_matrix', $1, $2, $3, $4, $5, 'active', now(), $4, now())
"""
ADMITTED = """
    select exists (select from allocation_keysets k, jsonb_array_elements(k.body) as e
        where k.allocation_id = $1 and e ->> 'user_id' = $2
            and coalesce((e ->> 'ends_at')::timestamptz, 'infinity') > clock_timestamp())
"""
# The holder allows the own key file, and Pat's key is in it.
ALLOW_FILE = """
    update allocation_keysets set admits_own = true, admits_own_by = $2,
        own_keys = array(select fingerprint from ssh_keys where id = $3) where allocation_id = $1
"""
BY_FILE = """
    select k.admits_own and not k.refused_own && array(select fingerprint from ssh_keys where user_id = $2)
    from allocation_keysets k where k.allocation_id = $1
"""
OBJECTION = """
    select terminal_objection($1, a.boot, $2, (select s.id from sessions s where s.user_id = $2 limit 1))
    from allocations a where a.id = $1
"""


@pytest.fixture
async def scene(world: World) -> Scene:
    hal, pat = await world.sign_up("hal", key=a_key()), await world.sign_up("pat", key=a_key())
    await world.join(hal, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    return Scene(world, pat, hal, await world.allocation(of=hal, project_id=world.ada.project_id))


async def test_the_rule_decides_every_cell_as_the_model_expects_and_each_broken_rule_is_seen(scene: Scene) -> None:
    assert len(ENTRIES) * len(STANDINGS) * len(CHANGES) >= 2000
    assert [each async for each in scene.differences()] == []
    connection = await asyncpg.connect(scene.world.dsn)
    try:
        for what, (function, rule, broken) in MUTATIONS.items():
            source = await connection.fetchval(
                "select pg_get_functiondef(oid) from pg_proc where proname = $1", function
            )
            assert rule in source, what
            await connection.execute(source.replace(rule, broken))
            async with aclosing(scene.differences()) as found:
                assert await anext(found, None), what
            await connection.execute(source)
        for row in RULE_ROWS:
            await connection.execute(
                "delete from role_permissions where (place, role, permission) = ($1, $2, $3)", *row
            )
            async with aclosing(scene.differences()) as found:
                assert await anext(found, None), row
            await connection.execute("insert into role_permissions values ($1, $2, $3)", *row)
        assert [each async for each in scene.differences()] == []
    finally:
        await connection.close()


def test_every_action_is_needed_and_a_weaker_need_is_seen() -> None:
    """The same with the table of actions: each is used by an entry point, and lowered to `read` it is noticed."""
    assert set(ENTRIES.values()) == set(Action) == set(NEEDS)
    member, viewer = after(STANDINGS["member"], "none"), after(STANDINGS["viewer"], "none")
    for entry, action in ENTRIES.items():
        weaker = {**NEEDS, action: Permission.ALLOCATIONS_READ}
        is_seen = decided({"allocations:read"}, entry, weaker) != expected(viewer, action)
        assert is_seen or action is Action.READ, entry
        assert expected(member, action) == (NEEDS[action].value in {"allocations:read", "access:ask"}), entry


def test_every_route_of_an_allocation_is_in_the_matrix() -> None:
    published = {
        f"{method.upper()} {path}"
        for path, methods in described().openapi_schema.to_schema()["paths"].items()
        for method in methods
        if path.startswith(f"{PLACE}/{{")
    }
    assert published == set(ROUTES)


def test_the_reference_is_current() -> None:
    assert FILE.read_text() == document(), "run python -m tests.access.authorization"
