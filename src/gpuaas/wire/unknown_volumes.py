"""Unknown volumes on nodes or shared storage, and what operators can do about them."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Name, Reference
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.storage import Backend, VolumeOwnership
from gpuaas.wire.unknown_environments import Evidence


class VolumeSighting(Struct, frozen=True, kw_only=True):
    """A node that sees the volume, and the environments in which it is mounted there."""

    node_id: str
    node_name: str
    mounted_in: list[str]


class UnknownVolume(Struct, frozen=True, kw_only=True):
    """Its data is kept until it is adopted or removed."""

    volume_id: str
    backend: Backend
    sightings: list[VolumeSighting]  # one node for a local volume; every node that sees it for a shared one
    ownership: VolumeOwnership | None  # None: it can only be removed
    detail: str  # why there is no record, unless an older version created the volume
    first_seen_at: datetime
    last_seen_at: datetime
    gone_at: datetime | None = None  # when all nodes stopped reporting it
    removal_requested_at: datetime | None = None
    removal_note: str = ""  # why the last attempt did not prove that it is gone
    removed_at: datetime | None = None
    proofs: list[ProofItem] = []


class AdoptVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything is restored as recorded, except for another name, if given."""

    reason: Evidence
    name: Name | None = None


class RemoveVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Erases the volume's data. `confirm` must repeat its id."""

    confirm: Reference
    reason: Evidence
