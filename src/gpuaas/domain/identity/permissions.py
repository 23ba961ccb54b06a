"""The role rule: the permissions of each role. The table `role_permissions` is its copy for SQL; a test compares
them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from gpuaas.wire.identity import PlatformRole, Role, Scope
from gpuaas.wire.permissions import Permission

__all__ = ["RULES", "WORK", "Permission", "Relation", "Rule", "by_relation", "in_project", "raises", "rows", "to_give"]


class Relation(StrEnum):
    """The relation of a person to one allocation, in addition to their role. Facts decide it; see
    `allocation_permissions` in SQL.
    """

    HOLDER = "holder"  # recorded as its holder, and works in the project
    ACTING_HOLDER = "acting_holder"  # project or tenant admin while the recorded holder does not work in the project
    GRANTEE = "grantee"  # has an active grant, and works in the project


@dataclass(frozen=True)
class Rule:
    """Any one of the roles or relations is enough; the scope is what a personal token needs."""

    project: frozenset[Role] = frozenset()
    tenant: frozenset[Role] = frozenset()
    platform: frozenset[PlatformRole] = frozenset()
    allocation: frozenset[Relation] = frozenset()
    scope: Scope = Scope.WRITE


EVERYBODY = frozenset(Role)
WORKING = frozenset({Role.OWNER, Role.ADMIN, Role.MEMBER})
LEADING = frozenset({Role.OWNER, Role.ADMIN})
OWNING = frozenset({Role.OWNER})
OPERATORS = frozenset(PlatformRole)
HOLDER = frozenset({Relation.HOLDER})
HOLDING = frozenset({Relation.HOLDER, Relation.ACTING_HOLDER})
ADMITTED = frozenset(Relation)

RULES: dict[Permission, Rule] = {
    Permission.PROJECTS_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.PROJECTS_CREATE: Rule(tenant=LEADING),
    Permission.PROJECTS_MANAGE: Rule(project=LEADING, tenant=LEADING),
    Permission.AUDIT_READ: Rule(project=LEADING, tenant=LEADING, scope=Scope.READ),
    Permission.ALLOCATIONS_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.ALLOCATIONS_CREATE: Rule(project=WORKING, tenant=LEADING),
    Permission.ALLOCATIONS_RELEASE: Rule(project=LEADING, tenant=LEADING, allocation=HOLDER),
    Permission.ALLOCATIONS_OPERATE: Rule(project=LEADING, tenant=LEADING, allocation=HOLDER),
    Permission.RUNTIMES_APPLY: Rule(project=LEADING, tenant=LEADING, allocation=HOLDER),
    Permission.VOLUMES_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.VOLUMES_WRITE: Rule(project=WORKING, tenant=LEADING),
    Permission.TERMINALS_OPEN: Rule(allocation=ADMITTED),
    Permission.ACCESS_ASK: Rule(project=WORKING, tenant=LEADING),
    Permission.ACCESS_MANAGE: Rule(project=LEADING, tenant=LEADING, allocation=HOLDER),
    Permission.KEYS_CHOOSE: Rule(allocation=HOLDING),
    Permission.MEMBERS_READ: Rule(project=EVERYBODY, tenant=LEADING, scope=Scope.READ),
    Permission.MEMBERS_MANAGE: Rule(project=LEADING, tenant=LEADING),
    Permission.INVITATIONS_READ: Rule(project=LEADING, tenant=LEADING, scope=Scope.READ),
    Permission.OWNERS_MANAGE: Rule(project=OWNING, tenant=OWNING),
    Permission.RECORDINGS_READ: Rule(project=LEADING, tenant=LEADING, allocation=HOLDER, scope=Scope.READ),
    Permission.FLEET_READ: Rule(platform=OPERATORS, scope=Scope.ADMIN),
    Permission.FLEET_OPERATE: Rule(platform=OPERATORS, scope=Scope.ADMIN),
    Permission.OPERATORS_MANAGE: Rule(platform=frozenset({PlatformRole.ADMIN}), scope=Scope.ADMIN),
}
WORK = Permission.ACCESS_ASK  # people who have it work in the project: they may hold allocations and receive grants


def rows() -> Iterator[tuple[str, str, str]]:
    """Place, role and permission: the rows of `role_permissions`."""
    for permission, rule in RULES.items():
        roles = {
            "project": rule.project,
            "tenant": rule.tenant,
            "platform": rule.platform,
            "allocation": rule.allocation,
        }
        for place, allowed in roles.items():
            yield from ((place, role.value, permission.value) for role in sorted(allowed))


@cache
def in_project(role: Role | None, tenant_role: Role | None) -> frozenset[Permission]:
    """The permissions in a project of a principal with these roles in the project and its tenant."""
    return frozenset(
        permission for permission, rule in RULES.items() if role in rule.project or tenant_role in rule.tenant
    )


@cache
def by_relation(relations: frozenset[Relation]) -> frozenset[Permission]:
    """The permissions of these relations on one allocation."""
    return frozenset(permission for permission, rule in RULES.items() if rule.allocation & relations)


def to_give(role: Role) -> Permission:
    """The permission that a person needs to give or take away this role: only owners manage owners."""
    makes_owners = role in RULES[Permission.OWNERS_MANAGE].project
    return Permission.OWNERS_MANAGE if makes_owners else Permission.MEMBERS_MANAGE


def raises(role: Role, before: Role) -> bool:
    """Whether this role allows anything that the previous one did not."""
    return not in_project(role, None) <= in_project(before, None)
