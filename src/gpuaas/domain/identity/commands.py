"""Commands on accounts, sessions, personal tokens and projects."""

import re
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import asyncpg
from msgspec import UNSET
from msgspec.structs import replace

from gpuaas.core.db import Database, Tx
from gpuaas.core.errors import (
    Conflict,
    InsufficientPermissions,
    NotFound,
    Problem,
    Suspended,
    ValidationError,
)
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import token_hash
from gpuaas.domain.identity import attempts, store
from gpuaas.domain.identity.callers import Caller, Placed
from gpuaas.domain.identity.passwords import Passwords
from gpuaas.domain.identity.permissions import Permission, to_give
from gpuaas.domain.timeline.store import ANONYMOUS, Subject, audit, audit_failure
from gpuaas.wire.emails import EmailError, key, normalise
from gpuaas.wire.identity import (
    ChangeProject,
    CreateProject,
    CreateToken,
    LoggedIn,
    Login,
    Me,
    NewToken,
    Project,
    Role,
    SignUp,
    Token,
    User,
)

SESSION_LIFE = timedelta(days=30)
LEAST_DIFFERENT = 5  # minimum number of different characters in a password
TAKEN = "An account with this e-mail address already exists. Log in instead."
SESSION_PREFIX, TOKEN_PREFIX = "gps_", "gpt_"  # make a leaked secret recognisable


class WrongCredentials(Problem):
    """The same text after the same time, whether or not the account exists."""

    status, code = 401, "credentials_invalid"

    def __init__(self) -> None:
        super().__init__("Wrong e-mail or password. Check both and try again.")


def checked_email(address: str) -> str:
    """The normalised address; see emails.py."""
    try:
        return normalise(address)
    except EmailError as error:
        why = f"The e-mail address {error}. Correct it and try again."
        raise ValidationError(why, errors={"email": str(error)}) from error


def check_password(password: str) -> None:
    """The wire type checks the length; this check refuses passwords such as `aaaaaaaaaaaa`."""
    if len(set(password.casefold())) < LEAST_DIFFERENT:
        why = f"needs at least {LEAST_DIFFERENT} different characters"
        raise ValidationError(f"The password {why}. Choose another one.", errors={"password": why})


class Accounts:
    """Sign-up and login. They have no caller for row-level security, so they run as the worker role."""

    def __init__(self, db: Database, ids: Ids, passwords: Passwords) -> None:
        self._db, self._ids, self._passwords = db, ids, passwords

    async def sign_up(
        self, data: SignUp, *, device: str, address: str, now: datetime, then: Callable[[Tx, User], Awaitable[None]]
    ) -> LoggedIn:
        """`then` runs in the transaction that adds the account; if it raises, the account is not created."""
        await attempts.begin(self._db, attempts.sign_up_buckets(address))
        email = checked_email(data.email)
        check_password(data.password)
        secret_hash = await self._passwords.hash(data.password)
        user = User(id=self._ids.new("user"), email=email)
        try:
            async with self._db.write() as tx:
                if await store.password_identity(tx, data.email) is not None:
                    raise Conflict(TAKEN)
                await store.add_user(tx, user, secret_hash=secret_hash, now=now)
                await add_personal_tenant(tx, self._ids, user, now)
                made = await self._open_session(tx, user, device, address, now)
                subject, facts = Subject(kind="user", id=user.id), {"source": address}
                await audit(tx, subject, "user.sign_up", actor=user.id, at=now, facts=facts)
                await then(tx, user)
                return made
        except asyncpg.UniqueViolationError as error:
            raise Conflict(TAKEN) from error

    async def login(self, data: Login, *, device: str, address: str, now: datetime) -> LoggedIn:
        buckets = await attempts.login_buckets(self._db, key(data.email), address)
        await attempts.begin(self._db, buckets)
        async with self._db.read() as tx:
            found = await store.password_identity(tx, data.email)
        if not await self._passwords.matches(found.secret_hash if found else None, data.password) or not found:
            await self._tell_failed_login(data.email, found, address, now)
            raise WrongCredentials
        if found.suspension is not None:
            raise Suspended("your account", found.suspension)
        user = User(id=found.id, email=found.email, platform_role=found.platform_role)
        async with self._db.write() as tx:
            await attempts.succeed(tx, buckets)
            made = await self._open_session(tx, user, device, address, now)
            subject, facts = Subject(kind="user", id=user.id), {"source": address}
            await audit(tx, subject, "user.login", actor=user.id, at=now, facts=facts)
            return made

    async def _tell_failed_login(
        self, email: str, found: store.PasswordIdentity | None, address: str, now: datetime
    ) -> None:
        """A text that is not an address may be a password in the wrong field, so it is not stored."""
        try:
            target = found.id if found else normalise(email)
        except EmailError:
            target = "unknown"
        subject = Subject(kind="user", id=target)
        async with self._db.write() as tx:
            await audit_failure(tx, subject, "user.login", actor=ANONYMOUS, at=now, source=address)

    async def _open_session(self, tx: Tx, user: User, device: str, address: str, now: datetime) -> LoggedIn:
        token = SESSION_PREFIX + secrets.token_urlsafe(32)
        session = store.NewSession(
            id=self._ids.new("sess"),
            token_hash=token_hash(token),
            user_id=user.id,
            device=device[:200],
            address=address,
            created_at=now,
            expires_at=now + SESSION_LIFE,
        )
        await store.add_session(tx, session)
        return LoggedIn(access_token=token, expires_at=session.expires_at, user=user)


async def add_personal_tenant(tx: Tx, ids: Ids, user: User, now: datetime) -> Project:
    """Create the tenant of a new person, with a project `default`."""
    local_part = re.sub(r"[^a-z0-9]+", "-", user.email.split("@")[0].lower()).strip("-") or "user"
    slug = f"{local_part[:40]}-{user.id[-6:]}"
    return await add_tenant(tx, ids, slug, "personal", owner_id=user.id, now=now)


async def add_tenant(tx: Tx, ids: Ids, slug: str, type: str, *, owner_id: str, now: datetime) -> Project:
    """Create a tenant, its project `default`, and its owner."""
    tenant_id = ids.new("ten")
    project = Project(id=ids.new("proj"), tenant_id=tenant_id, slug="default", created_at=now)
    await store.add_tenant(tx, tenant_id, slug, type, now)
    await store.add_tenant_member(tx, tenant_id, owner_id, Role.OWNER)
    await store.add_project(tx, project)
    await store.add_project_member(tx, project, owner_id, Role.OWNER)
    return project


async def me(tx: Tx, caller: Caller) -> Me:
    tenants, projects = await store.memberships(tx, caller.user_id)
    user = User(id=caller.user_id, email=caller.email, platform_role=caller.platform_role)
    return Me(
        user=user,
        tenants=[replace(one, permissions=sorted(caller.permissions_in_tenant(one.id))) for one in tenants],
        projects=[
            replace(one, permissions=sorted(caller.permissions_in(one)), assignable_roles=assignable(caller, one))
            for one in projects
        ],
        scopes=sorted(caller.scopes),
        permissions=sorted(caller.permissions_on_platform()),
    )


def project_view(row: store.PlacedProject, caller: Caller) -> Project:
    return replace(row, permissions=sorted(caller.permissions_in(row)), assignable_roles=assignable(caller, row))


def assignable(caller: Caller, project: Placed) -> list[Role]:
    """The roles that the caller may give to members of a project."""
    permissions = caller.permissions_in(project)
    return [role for role in Role if to_give(role) in permissions]


def is_session(caller: Caller) -> bool:
    return caller.credential_id.startswith("sess_")


def require_session(caller: Caller, act: str) -> None:
    """For actions whose effect outlives the token and its revocation."""
    if not is_session(caller):
        raise InsufficientPermissions(f"A token cannot {act}: it would outlive the token. Log in and try again.")


async def logout(tx: Tx, caller: Caller, now: datetime) -> None:
    """End the current session; a personal token has its own route for revocation."""
    if is_session(caller):
        await revoke_session(tx, caller, caller.credential_id, now)


async def revoke_session(tx: Tx, caller: Caller, id: str, now: datetime) -> None:
    caller.require_write()
    await store.revoke_session(tx, caller, id, now)
    await audit(tx, Subject(kind="session", id=id), "session.revoke", actor=caller.actor, at=now)


async def create_token(tx: Tx, caller: Caller, data: CreateToken, *, ids: Ids, now: datetime) -> NewToken:
    require_session(caller, "make tokens")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = Token(
        id=ids.new("tok"),
        title=data.title,
        scopes=sorted(set(data.scopes)),
        created_at=now,
        expires_at=now + timedelta(days=data.expires_in_days),
    )
    await store.add_token(tx, caller.user_id, token, token_hash(secret))
    facts = {"scopes": token.scopes, "expires_at": token.expires_at}
    await audit(tx, Subject(kind="token", id=token.id), "token.create", actor=caller.actor, at=now, facts=facts)
    return NewToken(token=secret, details=token)


async def revoke_token(tx: Tx, caller: Caller, id: str, now: datetime) -> None:
    caller.require_write()
    await store.revoke_token(tx, caller, id, now)
    await audit(tx, Subject(kind="token", id=id), "token.revoke", actor=caller.actor, at=now)


async def create_project(tx: Tx, caller: Caller, data: CreateProject, *, ids: Ids, now: datetime) -> Project:
    tenant_id = data.tenant_id or only_tenant(caller)
    caller.require_tenant(Permission.PROJECTS_CREATE, tenant_id)
    project = store.PlacedProject(id=ids.new("proj"), tenant_id=tenant_id, slug=data.slug, created_at=now)
    try:
        await store.add_project(tx, project)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"A project named {data.slug} already exists. Choose another name.") from error
    except asyncpg.InsufficientPrivilegeError as error:  # row-level security: other tenants do not exist for the caller
        raise NotFound("tenant") from error
    await store.add_project_member(tx, project, caller.user_id, Role.OWNER)
    subject = Subject(kind="project", id=project.id, tenant_id=tenant_id, project_id=project.id)
    await audit(tx, subject, "project.create", actor=caller.actor, at=now)
    return project_view(project, caller.with_role(project, Role.OWNER))


def only_tenant(caller: Caller) -> str:
    match list(caller.tenants):
        case [tenant_id]:
            return tenant_id
        case _:
            raise ValidationError("You belong to several tenants. Set tenant_id.", errors={"tenant_id": "is needed"})


async def change_project(tx: Tx, caller: Caller, id: str, data: ChangeProject, *, now: datetime) -> Project:
    """Terminals that are open stay as they are. People who open or reattach one from now on see a notice and are
    recorded.
    """
    project = await get_project(tx, caller, id)
    caller.require(Permission.PROJECTS_MANAGE, "project", project)
    if data.record_terminals is not UNSET and data.record_terminals != project.record_terminals:
        await store.record_terminals(tx, id, wanted=data.record_terminals)
        facts = {"record_terminals": data.record_terminals}
        await audit(tx, project.subject, "project.change", actor=caller.actor, at=now, facts=facts)
    return project_view(await store.project(tx, id), caller)


async def get_project(tx: Tx, caller: Caller, id: str) -> store.PlacedProject:
    project = await store.project(tx, id)
    caller.require(Permission.PROJECTS_READ, "project", project)
    return project
