"""Quotas: the limits of a tenant, a project or a person."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.common import Reason


class Dimension(StrEnum):
    """Resources with a limit. Tenants and projects have all down to snapshots, tenants also projects, and people the
    rest.
    """

    ALLOCATIONS = "allocations"
    GPUS = "gpus"
    VCPUS = "vcpus"
    MEMORY_MIB = "memory_mib"
    VOLUMES = "volumes"
    STORAGE_GIB = "storage_gib"  # the sum of the sizes of volumes and snapshots
    SNAPSHOTS = "snapshots"
    PROJECTS = "projects"
    TOKENS = "tokens"
    SSH_KEYS = "ssh_keys"
    STREAMS = "streams"  # open event streams, followed logs and terminals, per person and replica


LABELS = {
    **{dimension: dimension.value for dimension in Dimension},
    Dimension.GPUS: "GPUs",
    Dimension.VCPUS: "vCPUs",
    Dimension.MEMORY_MIB: "memory (MiB)",
    Dimension.STORAGE_GIB: "storage (GiB)",
    Dimension.SSH_KEYS: "SSH keys",
}


class QuotaScope(StrEnum):
    PLATFORM = "platform"  # the defaults
    TENANT = "tenant"
    PROJECT = "project"
    USER = "user"


OF_PROJECT = frozenset(
    {
        Dimension.ALLOCATIONS,
        Dimension.GPUS,
        Dimension.VCPUS,
        Dimension.MEMORY_MIB,
        Dimension.VOLUMES,
        Dimension.STORAGE_GIB,
        Dimension.SNAPSHOTS,
    }
)
OF_USER = frozenset({Dimension.TOKENS, Dimension.SSH_KEYS, Dimension.STREAMS})
DIMENSIONS = {
    QuotaScope.PLATFORM: frozenset(Dimension),
    QuotaScope.TENANT: OF_PROJECT | {Dimension.PROJECTS},
    QuotaScope.PROJECT: OF_PROJECT,
    QuotaScope.USER: OF_USER,
}
Amount = Annotated[int, Meta(ge=0, le=1 << 40)]


class QuotaLine(Struct, frozen=True, kw_only=True):
    """One dimension. `limit` and `remaining` are null without a limit, `used` if nothing is counted."""

    dimension: Dimension
    limit: int | None
    used: int | None
    remaining: int | None
    limited_by: QuotaScope | None  # whose limit is the tightest; platform: the default


class Quota(Struct, frozen=True, kw_only=True):
    """The limits, the usage and what remains, of a tenant, a project or a person."""

    scope: QuotaScope
    scope_id: str
    lines: list[QuotaLine]


class QuotaLimit(Struct, frozen=True, kw_only=True):
    """A limit that an operator has set; `amount` null: no limit."""

    scope: QuotaScope
    scope_id: str
    dimension: Dimension
    amount: int | None
    set_by: str
    set_at: datetime
    reason: str


class SetQuotas(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits to set; null: no limit. Dimensions that are left out stay as they are."""

    limits: Annotated[dict[Dimension, Amount | None], Meta(min_length=1)]
    reason: Reason = ""
