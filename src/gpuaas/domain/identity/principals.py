"""Principals: whoever acts. Rows name a principal as actor, holder, requester and caller."""

from dataclasses import dataclass
from enum import StrEnum


class PrincipalKind(StrEnum):
    """What a principal is; `system` is the platform itself."""

    USER = "user"
    SERVICE_ACCOUNT = "service_account"
    NODE = "node"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Principal:
    id: str
    kind: PrincipalKind = PrincipalKind.USER
    name: str  # the email address of a user
