"""People, tenants, projects, sessions and tokens."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gpuaas.wire.common import Email, Name, Reference, Title
from gpuaas.wire.permissions import Permissions

Password = Annotated[str, Meta(min_length=12, max_length=256)]


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


class PlatformRole(StrEnum):
    ADMIN = "admin"
    OPS = "ops"


class Scope(StrEnum):
    """The most that a personal token permits; its owner's roles still limit it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class SignUpMode(StrEnum):
    """The people who may create an account without an operator."""

    OPEN = "open"
    INVITATION = "invitation"  # people with the secret of a valid invitation
    CLOSED = "closed"


class SignUpOffer(Struct, frozen=True, kw_only=True):
    mode: SignUpMode


class SignUp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """With an invitation's secret, the new account accepts it at once."""

    email: Email
    password: Password
    invitation: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class Login(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    email: Annotated[str, Meta(max_length=254)]
    password: Annotated[str, Meta(max_length=256)]


class User(Struct, frozen=True, kw_only=True):
    id: str
    email: str
    platform_role: PlatformRole | None = None


class LoggedIn(Struct, frozen=True, kw_only=True):
    access_token: str
    expires_at: datetime
    user: User


class TenantMembership(Struct, frozen=True, kw_only=True):
    id: str
    slug: str
    role: Role
    suspended_at: datetime | None = None
    suspension_reason: str | None = None
    permissions: Permissions = []


class ProjectMembership(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    slug: str
    role: Role
    suspended_at: datetime | None = None  # of the project, or of its tenant
    suspension_reason: str | None = None
    permissions: Permissions = []
    assignable_roles: list[Role] = []  # that the caller may give to members


class Me(Struct, frozen=True, kw_only=True):
    """The caller, and what they can access."""

    user: User
    tenants: list[TenantMembership]
    projects: list[ProjectMembership]
    scopes: list[Scope]
    permissions: Permissions = []  # on the platform


class Session(Struct, frozen=True, kw_only=True):
    id: str
    device: str
    address: str
    created_at: datetime
    expires_at: datetime
    current: bool


class CreateToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: Title
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=3)]
    expires_in_days: Annotated[int, Meta(ge=1, le=365)] = 30


class Token(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime


class NewToken(Struct, frozen=True, kw_only=True):
    """The only response that contains the token."""

    token: str
    details: Token


class Project(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    slug: str
    created_at: datetime
    record_terminals: bool = False  # every browser terminal on its allocations is recorded
    permissions: Permissions = []
    assignable_roles: list[Role] = []  # that the caller may give to members


class ChangeProject(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields that are left out stay as they are."""

    record_terminals: bool | UnsetType = UNSET


class CreateProject(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: Name
    tenant_id: Reference | None = None
