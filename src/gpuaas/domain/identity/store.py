"""SQL for people, tenants, projects, sessions and tokens."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct, convert
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.idempotency import Kept
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.principals import PrincipalKind
from gpuaas.domain.timeline.store import Subject
from gpuaas.wire.emails import key
from gpuaas.wire.identity import (
    PlatformRole,
    Project,
    ProjectMembership,
    Role,
    Scope,
    Session,
    TenantMembership,
    Token,
    User,
)

T_co = TypeVar("T_co", covariant=True)
CREDENTIALS = "credentials"  # the topic of revoked sessions and tokens; its row ids are theirs


IMPLIED = {  # a scope that may change things may also read them
    Scope.READ: {Scope.READ},
    Scope.WRITE: {Scope.READ, Scope.WRITE},
    Scope.ADMIN: {Scope.READ, Scope.WRITE, Scope.ADMIN},
}


class Entered(Struct, frozen=True, kw_only=True, rename=lambda field: f"caller_{field}"):
    """The caller of a token, from the database. Row-level security is then set for the rest of the transaction,
    unless the token has expired.
    """

    id: str
    kind: PrincipalKind
    name: str
    platform_role: PlatformRole | None
    credential_id: str
    scopes: list[Scope]
    expires_at: datetime
    tenant_ids: list[str]
    tenant_roles: list[Role]
    project_ids: list[str]
    project_roles: list[Role]
    suspension: str | None  # the reason, if the caller is suspended
    suspended_ids: list[str]

    def caller(self, kind: type[Caller]) -> Caller:
        return kind(
            id=self.id,
            kind=self.kind,
            name=self.name,
            credential_id=self.credential_id,
            platform_role=self.platform_role,
            scopes=frozenset().union(*(IMPLIED[scope] for scope in self.scopes)),
            tenants=dict(zip(self.tenant_ids, self.tenant_roles, strict=True)),
            projects=dict(zip(self.project_ids, self.project_roles, strict=True)),
            suspended=frozenset(self.suspended_ids),
        )


@dataclass(frozen=True)
class Query(Generic[T_co]):
    """A query that `enter` runs in its own statement. It returns at most one row, with an `id`. Its SQL may refer to
    `caller`; its parameters start at $2.
    """

    type: type[T_co]
    sql: str
    args: tuple[object, ...]


class Key(NamedTuple):
    """An idempotency key and its route."""

    route: str
    key: str


@dataclass(frozen=True)
class Entry(Generic[T_co]):
    """Somebody came in: who, what was answered to their key before, and what they asked to read."""

    entered: Entered
    kept: Kept | None
    found: T_co | None


class PasswordIdentity(Struct, frozen=True):
    secret_hash: str
    id: str
    email: str
    platform_role: PlatformRole | None
    suspension: str | None  # the reason, if the account is suspended


class NewSession(Struct, frozen=True, kw_only=True):
    id: str
    token_hash: bytes
    user_id: str
    device: str
    address: str
    created_at: datetime
    expires_at: datetime


class PlacedProject(Project, frozen=True, kw_only=True):
    """A project counts as placed in itself, so that permissions of the project can be checked like those of its
    contents.
    """

    @property
    def project_id(self) -> str:
        return self.id

    @property
    def subject(self) -> Subject:
        return Subject(kind="project", id=self.id, tenant_id=self.tenant_id, project_id=self.id)


class PlacedMembership(ProjectMembership, frozen=True, kw_only=True):
    @property
    def project_id(self) -> str:
        return self.id


async def enter(
    tx: Tx, token_hash: bytes, *, key: Key | None = None, query: Query[T_co] | None = None
) -> Entry[T_co] | None:
    """Authenticate a token, look up the idempotency key and run the query, in one statement. None for an unknown
    token.
    """
    args = query.args if query else ()
    sql = entering(query.sql if query else None, len(args), with_key=key is not None)
    row = await tx.connection.fetchrow(sql, token_hash, *args, *(key or ()))
    if row is None:
        return None
    columns = dict(row)
    return Entry(
        entered=convert(columns, Entered),
        kept=convert(columns, Kept) if key else None,
        found=convert(columns, query.type) if query and columns["id"] is not None else None,
    )


@cache
def entering(sql: str | None, arguments: int, *, with_key: bool) -> str:
    """Row-level security must be active before a row is read: a subquery that is separated by `offset 0` and refers
    to the caller can only run after the caller is known.
    """
    columns, tables = ["caller.*"], ["enter_principal($1) as caller"]
    if with_key:
        columns.append("kept.*")
        tables.append(f"lateral kept_answer(caller.caller_id, ${arguments + 2}, ${arguments + 3}) as kept on true")
    if sql:
        columns.append("found.*")
        tables.append(
            f"lateral (select * from ({sql}) as row where caller.caller_id is not null offset 0) as found on true"
        )
    return f"select {', '.join(columns)} from {' left join '.join(tables)}"


async def begin_attempt(tx: Tx, bucket: str, *, free: int, first: int, longest: int) -> int:
    """Returns the seconds to wait before another attempt; 0 if this attempt is allowed. Uses the database's clock."""
    if await tx.value(BEGIN_ATTEMPT, bucket, free, first, longest) is not None:
        return 0
    return max(1, int(await tx.value(WAIT, bucket) or 1))


async def take_back_attempt(tx: Tx, bucket: str) -> None:
    await tx.run(TAKE_BACK_ATTEMPT, bucket)


async def clear_attempts(tx: Tx, bucket: str) -> None:
    await tx.run("delete from attempt_delays where bucket = $1", bucket)


async def is_known_source(tx: Tx, bucket: str) -> bool:
    """Whether a login to this account from this source succeeded within a day."""
    return bool(await tx.value("select exists (select from attempt_delays where bucket = $1)", f"known-{bucket}"))


async def know_source(tx: Tx, bucket: str) -> None:
    await tx.run(KNOW_SOURCE, f"known-{bucket}")


async def password_identity(tx: Tx, email: str) -> PasswordIdentity | None:
    """By the normalised address, or by the lower-case address of an account from before addresses were normalised."""
    return await tx.maybe(PasswordIdentity, PASSWORD_IDENTITY, [key(email), email.lower()])


async def add_user(tx: Tx, user: User, *, secret_hash: str, now: datetime) -> None:
    role = user.platform_role.value if user.platform_role else None
    await tx.run(
        "insert into users (id, email, platform_role, created_at) values ($1, $2, $3, $4)",
        user.id,
        user.email,
        role,
        now,
    )
    await tx.run(
        "insert into identities (issuer, subject, user_id, secret_hash) values ('password', $1, $2, $3)",
        key(user.email),
        user.id,
        secret_hash,
    )


async def email_of(tx: Tx, user_id: str) -> str:
    """Empty for a person who no longer exists."""
    return str(await tx.value("select coalesce((select email from users where id = $1), '')", user_id))


async def add_tenant(tx: Tx, id: str, slug: str, type: str, now: datetime) -> None:
    await tx.run("insert into tenants (id, type, slug, created_at) values ($1, $2, $3, $4)", id, type, slug, now)


async def add_tenant_member(tx: Tx, tenant_id: str, user_id: str, role: Role) -> None:
    await tx.run("insert into tenant_members (tenant_id, user_id, role) values ($1, $2, $3)", tenant_id, user_id, role)


async def add_project(tx: Tx, project: Project) -> None:
    await tx.run(
        "insert into projects (id, tenant_id, slug, created_at) values ($1, $2, $3, $4)",
        project.id,
        project.tenant_id,
        project.slug,
        project.created_at,
    )


async def add_project_member(tx: Tx, project: Project, user_id: str, role: Role) -> None:
    await tx.run(
        "insert into project_members (project_id, tenant_id, user_id, role) values ($1, $2, $3, $4)",
        project.id,
        project.tenant_id,
        user_id,
        role,
    )


async def project(tx: Tx, id: str) -> PlacedProject:
    row = await tx.maybe(PlacedProject, PROJECT, id)
    if row is None:
        raise NotFound("project")
    return row


async def record_terminals(tx: Tx, project_id: str, *, wanted: bool) -> None:
    await tx.run("update projects set record_terminals = $2 where id = $1", project_id, wanted)


async def projects(tx: Tx, ids: list[str], tenant_ids: list[str], paging: Paging) -> list[PlacedProject]:
    return await tx.all(PlacedProject, LIST_PROJECTS, ids, tenant_ids, paging.before, paging.limit + 1)


async def memberships(tx: Tx, user_id: str) -> tuple[list[TenantMembership], list[PlacedMembership]]:
    return (
        await tx.all(TenantMembership, TENANT_MEMBERSHIPS, user_id),
        await tx.all(PlacedMembership, PROJECT_MEMBERSHIPS, user_id),
    )


async def add_session(tx: Tx, session: NewSession) -> None:
    await tx.run(ADD_SESSION, *astuple(session))


async def sessions(tx: Tx, caller: Caller, paging: Paging, now: datetime) -> list[Session]:
    args = (caller.user_id, caller.credential_id, now, paging.before, paging.limit + 1)
    return await tx.all(Session, LIST_SESSIONS, *args)


async def revoke_session(tx: Tx, caller: Caller, id: str, now: datetime) -> None:
    if not await tx.run(REVOKE.format(table="sessions"), id, caller.user_id, now):
        raise NotFound("session")
    tx.hint(CREDENTIALS, id)


async def add_token(tx: Tx, user_id: str, token: Token, token_hash: bytes) -> None:
    scopes = [scope.value for scope in token.scopes]
    await tx.run(ADD_TOKEN, token.id, token_hash, user_id, token.title, scopes, token.created_at, token.expires_at)


async def tokens(tx: Tx, caller: Caller, paging: Paging, now: datetime) -> list[Token]:
    return await tx.all(Token, LIST_TOKENS, caller.user_id, now, paging.before, paging.limit + 1)


async def revoke_token(tx: Tx, caller: Caller, id: str, now: datetime) -> None:
    if not await tx.run(REVOKE.format(table="tokens"), id, caller.user_id, now):
        raise NotFound("token")
    tx.hint(CREDENTIALS, id)


# Failures expire an hour after the last one.
BEGIN_ATTEMPT = """
    insert into attempt_delays as kept (bucket, failures, last_at, next_at)
    values ($1, 1, clock_timestamp(), clock_timestamp())
    on conflict (bucket) do update set (failures, last_at, next_at) = (
        select count, clock_timestamp(), clock_timestamp() + case when count < $2::int then 0
            else least($4::int, $3::int * 2 ^ least(count - $2::int, 20)) end * interval '1 second'
        from (select case when kept.last_at < clock_timestamp() - interval '1 hour' then 1
            else kept.failures + 1 end as count) as counted)
    where kept.next_at <= clock_timestamp()
    returning failures
"""
WAIT = "select ceil(extract(epoch from next_at - clock_timestamp())) from attempt_delays where bucket = $1"
TAKE_BACK_ATTEMPT = """
    update attempt_delays set failures = greatest(failures - 1, 0), next_at = clock_timestamp() where bucket = $1
"""
KNOW_SOURCE = """
    insert into attempt_delays (bucket, failures, last_at, next_at)
    values ($1, 0, clock_timestamp(), clock_timestamp())
    on conflict (bucket) do update set last_at = clock_timestamp()
"""
PASSWORD_IDENTITY = """
    select i.secret_hash, u.id, u.email, u.platform_role,
        case when u.suspended_at is not null then u.suspension_reason end as suspension
    from identities i join users u on u.id = i.user_id
    where i.issuer = 'password' and i.subject = any ($1) order by i.subject <> $1[1] limit 1
"""
PROJECT = "select id, tenant_id, slug, created_at, record_terminals from projects where id = $1"
LIST_PROJECTS = """
    select id, tenant_id, slug, created_at, record_terminals from projects
    where (id = any ($1) or tenant_id = any ($2)) and id < $3 order by id desc limit $4
"""
TENANT_MEMBERSHIPS = """
    select t.id, t.slug, m.role, t.suspended_at,
        case when t.suspended_at is not null then t.suspension_reason end as suspension_reason
    from tenant_members m join tenants t on t.id = m.tenant_id
    where m.user_id = $1 order by t.id
"""
PROJECT_MEMBERSHIPS = """
    select p.id, p.tenant_id, p.slug, m.role, coalesce(t.suspended_at, p.suspended_at) as suspended_at,
        case when t.suspended_at is not null then t.suspension_reason
            when p.suspended_at is not null then p.suspension_reason end as suspension_reason
    from project_members m join projects p on p.id = m.project_id join tenants t on t.id = p.tenant_id
    where m.user_id = $1 order by p.id
"""
ADD_SESSION = """
    insert into sessions (id, token_hash, user_id, device, address, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7)
"""
LIST_SESSIONS = """
    select id, device, address, created_at, expires_at, id = $2 as current from sessions
    where user_id = $1 and revoked_at is null and expires_at > $3 and id < $4 order by id desc limit $5
"""
ADD_TOKEN = """
    insert into tokens (id, token_hash, user_id, title, scopes, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7)
"""
LIST_TOKENS = """
    select id, title, scopes, created_at, expires_at from tokens
    where user_id = $1 and revoked_at is null and expires_at > $2 and id < $3 order by id desc limit $4
"""
REVOKE = "update {table} set revoked_at = $3 where id = $1 and user_id = $2 and revoked_at is null"
