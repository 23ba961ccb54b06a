"""The permissions that responses name. The role rule is in domain/identity/permissions.py."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta


class Permission(StrEnum):
    PROJECTS_READ = "projects:read"
    PROJECTS_CREATE = "projects:create"
    PROJECTS_MANAGE = "projects:manage"
    AUDIT_READ = "audit:read"
    ALLOCATIONS_READ = "allocations:read"
    ALLOCATIONS_CREATE = "allocations:create"
    ALLOCATIONS_RELEASE = "allocations:release"
    ALLOCATIONS_OPERATE = "allocations:operate"  # restart, resize, limits, volumes
    RUNTIMES_APPLY = "runtimes:apply"
    VOLUMES_READ = "volumes:read"
    VOLUMES_WRITE = "volumes:write"
    TERMINALS_OPEN = "terminals:open"  # also logins by SSH
    RECORDINGS_READ = "recordings:read"
    ACCESS_ASK = "access:ask"
    ACCESS_MANAGE = "access:manage"  # keys, grants, connections, handover
    KEYS_CHOOSE = "keys:choose"  # add personal keys, allow the own key file
    MEMBERS_READ = "members:read"
    MEMBERS_MANAGE = "members:manage"
    INVITATIONS_READ = "invitations:read"
    OWNERS_MANAGE = "owners:manage"
    FLEET_READ = "fleet:read"
    FLEET_OPERATE = "fleet:operate"
    OPERATORS_MANAGE = "operators:manage"


# The caller's permissions by role, relation and scope; a status may still refuse an action. Plain text, so that older
# clients can read a response with a permission that they do not know; the API description lists all.
NAMED = {"items": {"type": "string", "enum": [each.value for each in Permission]}}
Permissions = Annotated[list[str], Meta(extra_json_schema={"extra": NAMED})]
