"""SQL for the tenants, projects and people that operators list and suspend."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.store import KEYS
from gpuaas.domain.identity.store import CREDENTIALS
from gpuaas.domain.terminals.store import ENDS, TERMINALS
from gpuaas.domain.timeline.store import EVENTS
from gpuaas.wire.accounts import AccountKind, AdminProject, AdminTenant, AdminUser, Suspension


class Subject(Struct, frozen=True, kw_only=True):
    """The suspended party; the row is locked until the transaction ends."""

    id: str
    tenant_id: str | None
    project_id: str | None
    suspended_at: datetime | None


class Reached(Struct, frozen=True, kw_only=True):
    """An allocation whose key set was rendered again, or a terminal that was closed."""

    allocation_id: str
    project_id: str
    terminal_id: str | None
    node_id: str | None


async def subject(tx: Tx, kind: AccountKind, id: str) -> Subject:
    """The lock excludes new allocations: it waits for creates in progress, and later ones check again."""
    found = await tx.maybe(Subject, SUBJECT[kind], id)
    if found is None:
        raise NotFound(kind.value)
    return found


async def platform_role(tx: Tx, user_id: str) -> str | None:
    role: str | None = await tx.value("select platform_role from users where id = $1", user_id)
    return role


async def lock_active_admins(tx: Tx) -> list[str]:
    return [str(id) for id in await tx.column(LOCK_ACTIVE_ADMINS)]


async def write(tx: Tx, kind: AccountKind, id: str, *, at: datetime | None, by: str | None, reason: str) -> Suspension:
    return await tx.one(Suspension, WRITE[kind], id, at, by, reason)


async def apply(tx: Tx, kind: AccountKind, id: str, *, now: datetime, why: str) -> list[Reached]:
    """After the commit, nodes receive new key sets, and replicas close terminals and streams."""
    reached = await tx.all(Reached, "select * from apply_suspension($1, $2, $3, $4)", kind.value, id, now, why)
    for one in reached:
        if one.terminal_id and one.node_id:
            tx.hint(TERMINALS, one.terminal_id)
            tx.hint(ENDS, one.node_id)
        else:
            tx.hint(KEYS, one.allocation_id)
    for project_id in {one.project_id for one in reached}:
        tx.hint(EVENTS, project_id)
    if kind is AccountKind.PROJECT:
        tx.hint(EVENTS, id)
    if kind is AccountKind.TENANT:
        for project_id in await tx.column("select id from projects where tenant_id = $1", id):
            tx.hint(EVENTS, str(project_id))
    if kind is AccountKind.USER:
        tx.hint(CREDENTIALS, id)
    return reached


async def tenants(tx: Tx, search: str | None, paging: Paging) -> list[AdminTenant]:
    return await tx.all(AdminTenant, TENANTS, search, paging.before, paging.limit + 1)


async def projects(tx: Tx, search: str | None, tenant_id: str | None, paging: Paging) -> list[AdminProject]:
    return await tx.all(AdminProject, PROJECTS, search, tenant_id, paging.before, paging.limit + 1)


async def users(tx: Tx, search: str | None, paging: Paging) -> list[AdminUser]:
    return await tx.all(AdminUser, USERS, search, paging.before, paging.limit + 1)


SUBJECT = {
    AccountKind.TENANT: """
        select id, id as tenant_id, null as project_id, suspended_at from tenants where id = $1 for update
    """,
    AccountKind.PROJECT: """
        select id, tenant_id, id as project_id, suspended_at from projects where id = $1 for update
    """,
    AccountKind.USER: """
        select id, null as tenant_id, null as project_id, suspended_at from users where id = $1 for update
    """,
}
LOCK_ACTIVE_ADMINS = """
    select id from users where suspended_at is null and platform_role in (
        select role from role_permissions where place = 'platform' and permission = 'operators:manage')
    order by id for update
"""
WRITE = {
    kind: f"""
        update {kind}s set suspended_at = $2, suspended_by = $3, suspension_reason = $4 where id = $1
        returning '{kind}' as kind, id, suspended_at, suspended_by, suspension_reason as reason
    """
    for kind in AccountKind
}
TENANTS = """
    select t.*, (select count(*) from tenant_members m where m.tenant_id = t.id) as members,
        coalesce(u.projects, 0) as projects, coalesce(u.allocations, 0) as allocations
    from tenants t left join quota_usage u on u.scope_id = t.id
    where ($1::text is null or t.id = $1 or strpos(t.slug, lower($1)) > 0) and t.id < $2 order by t.id desc limit $3
"""
PROJECTS = """
    select p.*, t.slug as tenant_slug, coalesce(u.allocations, 0) as allocations
    from projects p join tenants t on t.id = p.tenant_id left join quota_usage u on u.scope_id = p.id
    where ($1::text is null or p.id = $1 or strpos(p.slug, lower($1)) > 0 or strpos(t.slug, lower($1)) > 0)
        and ($2::text is null or p.tenant_id = $2) and p.id < $3
    order by p.id desc limit $4
"""
USERS = """
    select * from users where ($1::text is null or id = $1 or strpos(lower(email), lower($1)) > 0) and id < $2
    order by id desc limit $3
"""
