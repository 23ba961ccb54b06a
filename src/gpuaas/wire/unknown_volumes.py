"""Volumes on nodes or shared storage that the database does not know, and what operators do about them."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Name, Reference
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.storage import Backend, VolumeOwnership
from gpuaas.wire.unknown_environments import Evidence


class VolumeSighting(Struct, frozen=True, kw_only=True):
    """A node that sees the volume, and the environments that it is mounted in there."""

    node_id: str
    node_name: str
    mounted_in: list[str]


class UnknownVolume(Struct, frozen=True, kw_only=True):
    """Its data is kept until it is adopted or removed."""

    volume_id: str
    backend: Backend
    sightings: list[VolumeSighting]  # one node for a local volume; every node that sees it for a shared one
    ownership: VolumeOwnership | None  # none: it can only be removed
    detail: str  # why there is no record, if not because an older version made the volume
    first_seen_at: datetime
    last_seen_at: datetime
    gone_at: datetime | None = None  # no node reports it any more
    removal_requested_at: datetime | None = None
    removal_note: str = ""  # why the last attempt did not prove that it is gone
    removed_at: datetime | None = None
    proofs: list[ProofItem] = []


class AdoptVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All is restored as recorded, but for a name that is free."""

    reason: Evidence
    name: Name | None = None


class RemoveVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Erases the volume's data. `confirm` is its id, written out."""

    confirm: Reference
    reason: Evidence
