"""The principal of a request. A caller is checked first; row-level security in the database checks again."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from gpuaas.core.errors import NOWHERE, InsufficientPermissions, NotFound, Place, Suspended
from gpuaas.domain.identity.permissions import RULES, Permission, in_project
from gpuaas.domain.identity.principals import Principal
from gpuaas.wire.identity import PlatformRole, Role, Scope


class Placed(Protocol):
    """A resource in a project."""

    @property
    def project_id(self) -> str: ...
    @property
    def tenant_id(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Caller(Principal):
    credential_id: str
    platform_role: PlatformRole | None = None
    scopes: frozenset[Scope] = frozenset(Scope)
    tenants: dict[str, Role] = field(default_factory=dict)
    projects: dict[str, Role] = field(default_factory=dict)
    suspended: frozenset[str] = frozenset()  # ids of suspended tenants and projects of the caller

    @property
    def actor(self) -> str:
        return self.id

    @property
    def user_id(self) -> str:
        return self.id

    @property
    def email(self) -> str:
        return self.name

    def require(self, permission: Permission, noun: str, thing: Placed) -> None:
        """Raises not found for resources that the caller cannot see, and forbidden for those that they see and may
        not change.
        """
        if not self._has_role(Permission.PROJECTS_READ, thing):
            raise NotFound(noun)
        place = Place(thing.tenant_id, thing.project_id)
        self._require_scope(permission, place)
        if RULES[permission].scope is not Scope.READ:
            self.require_active(thing)
        if not self._has_role(permission, thing):
            why = f"Your role does not allow {permission}. Ask an admin of the project for it."
            raise InsufficientPermissions(why, place, permission=permission)

    def require_right(self, permission: Permission, noun: str, thing: Placed, *, has_right: bool, who: str) -> None:
        """For permissions that depend on more than a role, such as the holder; `who` names the people who have it,
        for the error.
        """
        if not self._has_role(Permission.PROJECTS_READ, thing):
            raise NotFound(noun)
        place = Place(thing.tenant_id, thing.project_id)
        self._require_scope(permission, place)
        if RULES[permission].scope is not Scope.READ:
            self.require_active(thing)
        elif self.is_suspended(thing):  # all permissions are suspended, except reading by role
            has_right = self._has_role(permission, thing)
        if not has_right:
            what = noun.replace("_", " ")
            why = f"You do not have permission to do this with this {what}. Ask one of the people who do: {who}."
            raise InsufficientPermissions(why, place, permission=permission)

    def is_suspended(self, thing: Placed) -> bool:
        return not self.suspended.isdisjoint((thing.tenant_id, thing.project_id))

    def require_active(self, thing: Placed) -> None:
        if thing.tenant_id in self.suspended:
            raise Suspended("the tenant")
        if thing.project_id in self.suspended:
            raise Suspended("the project")

    def may(self, permission: Permission, thing: Placed) -> bool:
        """Use it for the content of responses; for an action, use `require`."""
        return permission in self.permissions_in(thing)

    def permissions_in(self, thing: Placed) -> frozenset[Permission]:
        """The caller's permissions in a project, by role."""
        return self.usable(self.by_role(thing), thing)

    def by_role(self, thing: Placed) -> frozenset[Permission]:
        return in_project(self.projects.get(thing.project_id), self.tenants.get(thing.tenant_id))

    def with_role(self, thing: Placed, role: Role) -> Self:
        """The caller with a role that the current transaction gives them."""
        return replace(self, projects={**self.projects, thing.project_id: role})

    def usable(self, permissions: Iterable[Permission], thing: Placed) -> frozenset[Permission]:
        """Reduce permissions of roles and relations to those that the token's scopes and a suspension permit."""
        scopes = {Scope.READ} & self.scopes if self.is_suspended(thing) else self.scopes
        return frozenset(permission for permission in permissions if RULES[permission].scope in scopes)

    def permissions_in_tenant(self, tenant_id: str) -> frozenset[Permission]:
        role = self.tenants.get(tenant_id)
        scopes = {Scope.READ} & self.scopes if tenant_id in self.suspended else self.scopes
        return frozenset(each for each, rule in RULES.items() if role in rule.tenant and rule.scope in scopes)

    def permissions_on_platform(self) -> frozenset[Permission]:
        return frozenset(
            each for each, rule in RULES.items() if self.platform_role in rule.platform and rule.scope in self.scopes
        )

    def require_tenant(self, permission: Permission, tenant_id: str) -> None:
        role = self.tenants.get(tenant_id)
        if role is None:
            raise NotFound("tenant")
        place = Place(tenant_id)
        self._require_scope(permission, place)
        if RULES[permission].scope is not Scope.READ and tenant_id in self.suspended:
            raise Suspended("the tenant")
        if role not in RULES[permission].tenant:
            raise InsufficientPermissions(f"Your role does not allow {permission}.", place, permission=permission)

    def require_platform(self, permission: Permission) -> None:
        """Operator routes answer forbidden instead of not found, because they are public in the API description."""
        self._require_scope(permission)
        if self.platform_role not in RULES[permission].platform:
            who = "operators" if self.platform_role is None else "admins"
            raise InsufficientPermissions(f"This is for {who} of the platform.", permission=permission)

    def is_user(self, user_id: str) -> bool:
        return user_id == self.id

    def require_own(self, noun: str, user_id: str) -> None:
        if user_id != self.id:
            raise NotFound(noun)

    def require_write(self) -> None:
        """For the caller's own resources, which need no role."""
        if Scope.WRITE not in self.scopes:
            raise InsufficientPermissions("This token can only read. Use one with the scope `write`.")

    def _has_role(self, permission: Permission, thing: Placed) -> bool:
        return permission in self.by_role(thing)

    def _require_scope(self, permission: Permission, place: Place = NOWHERE) -> None:
        scope = RULES[permission].scope
        if scope not in self.scopes:
            raise InsufficientPermissions(f"This token lacks the scope `{scope}` that {permission} needs.", place)
