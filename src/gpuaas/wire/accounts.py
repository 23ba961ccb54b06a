"""Tenants, projects and people as operators see them, and their suspension."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.common import Reason
from gpuaas.wire.identity import PlatformRole


class AccountKind(StrEnum):
    TENANT = "tenant"
    PROJECT = "project"
    USER = "user"


class AdminTenant(Struct, frozen=True, kw_only=True):
    id: str
    slug: str
    type: str
    created_at: datetime
    members: int
    projects: int
    allocations: int  # those that hold capacity
    suspended_at: datetime | None
    suspension_reason: str


class AdminProject(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    tenant_slug: str
    slug: str
    created_at: datetime
    allocations: int
    suspended_at: datetime | None
    suspension_reason: str


class AdminUser(Struct, frozen=True, kw_only=True):
    id: str
    email: str
    platform_role: PlatformRole | None
    created_at: datetime
    suspended_at: datetime | None
    suspension_reason: str


class Suspend(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The reason is shown to the suspended person, or to the members of the suspended project or tenant."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class Unsuspend(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class Suspension(Struct, frozen=True, kw_only=True):
    kind: AccountKind
    id: str
    suspended_at: datetime | None  # null: not suspended
    suspended_by: str | None
    reason: str
