"""The one permission table: who may do what, by role in project, tenant and platform."""

from dataclasses import dataclass
from enum import StrEnum

from gpuaas.wire.identity import PlatformRole, Role, Scope


class Permission(StrEnum):
    PROJECTS_READ = "projects:read"
    PROJECTS_CREATE = "projects:create"
    PROJECTS_MANAGE = "projects:manage"
    AUDIT_READ = "audit:read"
    ALLOCATIONS_READ = "allocations:read"
    ALLOCATIONS_CREATE = "allocations:create"
    ALLOCATIONS_RELEASE = "allocations:release"
    ALLOCATIONS_OPERATE = "allocations:operate"  # restart, resize, limits, volumes; a holder may without it
    RUNTIMES_APPLY = "runtimes:apply"
    VOLUMES_READ = "volumes:read"
    VOLUMES_WRITE = "volumes:write"
    TERMINALS_OPEN = "terminals:open"
    RECORDINGS_READ = "recordings:read"
    ACCESS_ASK = "access:ask"
    ACCESS_MANAGE = "access:manage"  # keys, grants, sessions, handover; a holder may without it
    MEMBERS_READ = "members:read"
    MEMBERS_MANAGE = "members:manage"
    INVITATIONS_READ = "invitations:read"
    OWNERS_MANAGE = "owners:manage"
    FLEET_READ = "fleet:read"
    FLEET_OPERATE = "fleet:operate"
    OPERATORS_MANAGE = "operators:manage"


@dataclass(frozen=True)
class Rule:
    """Any one of the roles is enough; the scope bounds what a personal token may use."""

    project: frozenset[Role] = frozenset()
    tenant: frozenset[Role] = frozenset()
    platform: frozenset[PlatformRole] = frozenset()
    scope: Scope = Scope.WRITE


EVERYBODY = frozenset(Role)
WORKING = frozenset({Role.OWNER, Role.ADMIN, Role.MEMBER})
LEADING = frozenset({Role.OWNER, Role.ADMIN})
OWNING = frozenset({Role.OWNER})
OPERATORS = frozenset(PlatformRole)

RULES: dict[Permission, Rule] = {
    Permission.PROJECTS_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.PROJECTS_CREATE: Rule(tenant=LEADING),
    Permission.PROJECTS_MANAGE: Rule(project=LEADING, tenant=LEADING),
    Permission.AUDIT_READ: Rule(project=LEADING, tenant=LEADING, scope=Scope.READ),
    Permission.ALLOCATIONS_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.ALLOCATIONS_CREATE: Rule(project=WORKING, tenant=LEADING),
    # On one allocation, its holder has these too; domain/allocations/authority.py decides.
    Permission.ALLOCATIONS_RELEASE: Rule(project=LEADING, tenant=LEADING),
    Permission.ALLOCATIONS_OPERATE: Rule(project=LEADING, tenant=LEADING),
    Permission.RUNTIMES_APPLY: Rule(project=LEADING, tenant=LEADING),
    Permission.VOLUMES_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.VOLUMES_WRITE: Rule(project=WORKING, tenant=LEADING),
    Permission.TERMINALS_OPEN: Rule(project=WORKING, tenant=LEADING),  # the holder and grantees
    Permission.ACCESS_ASK: Rule(project=WORKING, tenant=LEADING),
    Permission.ACCESS_MANAGE: Rule(project=LEADING, tenant=LEADING),
    Permission.MEMBERS_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.MEMBERS_MANAGE: Rule(project=LEADING, tenant=LEADING),
    Permission.INVITATIONS_READ: Rule(project=LEADING, tenant=LEADING, scope=Scope.READ),
    Permission.OWNERS_MANAGE: Rule(project=OWNING, tenant=OWNING),
    Permission.RECORDINGS_READ: Rule(project=LEADING, tenant=LEADING, scope=Scope.READ),  # and the holder
    Permission.FLEET_READ: Rule(platform=OPERATORS, scope=Scope.ADMIN),
    Permission.FLEET_OPERATE: Rule(platform=OPERATORS, scope=Scope.ADMIN),
    Permission.OPERATORS_MANAGE: Rule(platform=frozenset({PlatformRole.ADMIN}), scope=Scope.ADMIN),
}
