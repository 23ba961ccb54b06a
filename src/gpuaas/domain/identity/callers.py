"""The principal of a request. A caller is checked first; row-level security in the database checks again."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from gpuaas.core.errors import NOWHERE, InsufficientPermissions, NotFound, Place, Suspended
from gpuaas.domain.identity.permissions import RULES, Permission, in_project
from gpuaas.domain.identity.principals import Principal
from gpuaas.wire.identity import PlatformRole, Role, Scope


class Placed(Protocol):
    """A thing that stands in a project."""

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
    suspended: frozenset[str] = frozenset()  # of their tenants, and of the projects in these

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
        """What the caller cannot see does not exist; what they see and may not do is forbidden."""
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
        """For what depends on more than a role, as on who holds a thing; `who` names the people who have the right."""
        if not self._has_role(Permission.PROJECTS_READ, thing):
            raise NotFound(noun)
        place = Place(thing.tenant_id, thing.project_id)
        self._require_scope(permission, place)
        if RULES[permission].scope is not Scope.READ:
            self.require_active(thing)
        elif self.is_suspended(thing):  # nobody has rights there, but what a role may read stays readable
            has_right = self._has_role(permission, thing)
        if not has_right:
            what = noun.replace("_", " ")
            why = f"You may not do this with this {what}. These people may: {who}. Ask one of them."
            raise InsufficientPermissions(why, place, permission=permission)

    def is_suspended(self, thing: Placed) -> bool:
        return not self.suspended.isdisjoint((thing.tenant_id, thing.project_id))

    def require_active(self, thing: Placed) -> None:
        if thing.tenant_id in self.suspended:
            raise Suspended("the tenant")
        if thing.project_id in self.suspended:
            raise Suspended("the project")

    def may(self, permission: Permission, thing: Placed) -> bool:
        """For what a response shows; an action requires its permission."""
        return permission in self.permissions_in(thing)

    def permissions_in(self, thing: Placed) -> frozenset[Permission]:
        """What this caller may do in a project, by role."""
        return self.usable(self.by_role(thing), thing)

    def by_role(self, thing: Placed) -> frozenset[Permission]:
        return in_project(self.projects.get(thing.project_id), self.tenants.get(thing.tenant_id))

    def with_role(self, thing: Placed, role: Role) -> Self:
        """As after this transaction, which gives the caller the role."""
        return replace(self, projects={**self.projects, thing.project_id: role})

    def usable(self, permissions: Iterable[Permission], thing: Placed) -> frozenset[Permission]:
        """Of what roles and relations allow, what the token's scopes and a suspension leave."""
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
        """Operator routes do not hide that they exist: they are in the published contract."""
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
        """For what is the caller's own, where no role is asked."""
        if Scope.WRITE not in self.scopes:
            raise InsufficientPermissions("This token may only read. Use one with the scope `write`.")

    def _has_role(self, permission: Permission, thing: Placed) -> bool:
        return permission in self.by_role(thing)

    def _require_scope(self, permission: Permission, place: Place = NOWHERE) -> None:
        scope = RULES[permission].scope
        if scope not in self.scopes:
            raise InsufficientPermissions(f"This token lacks the scope `{scope}` that {permission} needs.", place)
