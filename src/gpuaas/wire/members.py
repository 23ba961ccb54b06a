"""Project members, invitations, and what a person can access."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.access import GrantStatus
from gpuaas.wire.allocations import Status
from gpuaas.wire.common import Email
from gpuaas.wire.identity import Role, User
from gpuaas.wire.permissions import Permissions


class Member(Struct, frozen=True, kw_only=True):
    project_id: str
    user_id: str
    email: str
    role: Role
    permissions: Permissions = []  # of the caller on this member
    can_be_granted: bool = False  # access to allocations, because they work in the project


class InviteMember(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    email: Email
    role: Role = Role.MEMBER


class ChangeMember(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    role: Role


class Invitation(Struct, frozen=True, kw_only=True):
    """Does not reveal whether the person has an account. Names are as they were when it was sent."""

    id: str
    project_id: str
    project_slug: str
    tenant_slug: str
    email: str
    role: Role
    invited_by: str
    invited_by_email: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None = None
    withdrawn_at: datetime | None = None
    is_valid: bool = True  # false: it has no secret, or the inviter may no longer invite; invite again


class SentInvitation(Invitation, frozen=True, kw_only=True):
    """The only response that contains the link. Anyone who has it can join: give it to the invited person only."""

    link: str


class AcceptInvitation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    secret: Annotated[str, Meta(min_length=1, max_length=200)]


def secret_in(link: str) -> str:
    """The secret of an invitation, from its link or given directly."""
    return link.rpartition("#")[2].strip()


class ReachedMachine(Struct, frozen=True, kw_only=True):
    """A live allocation that a person holds, or was granted."""

    allocation_id: str
    name: str
    status: Status
    is_holder: bool
    grant: GrantStatus | None


class ReachedProject(Struct, frozen=True, kw_only=True):
    project_id: str
    slug: str
    tenant_id: str
    tenant_slug: str
    role: Role | None  # in the project; None if only the tenant role counts
    tenant_role: Role | None
    machines: list[ReachedMachine]


class Reach(Struct, frozen=True, kw_only=True):
    """Everything that a person can access, in one response."""

    user: User
    projects: list[ReachedProject]
    ssh_key_count: int
