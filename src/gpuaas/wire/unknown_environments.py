"""Unknown environments on a node, and what operators can do about them."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.common import Name, Reference
from gpuaas.wire.environments import EnvironmentState, Ownership, ProofItem

Evidence = Annotated[str, Meta(min_length=1, max_length=500, description="what you checked, for the audit log")]


class UnknownEnvironment(Struct, frozen=True, kw_only=True):
    """It keeps its devices until it is adopted or removed."""

    environment_id: str
    node_id: str
    node_name: str
    state: EnvironmentState
    boot: int
    port: int | None
    host_key: str | None
    devices: list[str] | None  # UUIDs; None: unknown, so it holds every slot of its node
    slots: list[int]  # indexes of the slots that it holds
    ownership: Ownership | None  # None: an older version created it, and it can only be removed
    first_seen_at: datetime
    last_seen_at: datetime
    removal_requested_at: datetime | None = None
    removal_note: str = ""  # why the last attempt did not prove that it is gone
    removed_at: datetime | None = None
    proofs: list[ProofItem] = []


class AdoptEnvironment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything is restored as recorded, except for another holder in the same project or another name, if given."""

    reason: Evidence
    holder_id: Reference | None = None
    name: Name | None = None


class RemoveUnknownEnvironment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Destroys the environment and its disk. `confirm` must repeat its id."""

    confirm: Reference
    reason: Evidence
