"""Principals: the acting parties. Rows name a principal as actor, holder, requester and caller."""

from dataclasses import dataclass
from enum import StrEnum


class PrincipalKind(StrEnum):
    """The kinds of principals; `system` is the platform itself."""

    USER = "user"
    SERVICE_ACCOUNT = "service_account"
    NODE = "node"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Principal:
    id: str
    kind: PrincipalKind = PrincipalKind.USER
    name: str  # the email address of a user
