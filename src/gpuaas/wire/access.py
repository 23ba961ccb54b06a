"""Access: personal SSH public keys, the keys of an allocation, and grants."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gpuaas.wire.common import Moment, Reason, Reference, Title


class AddSshKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: Title
    public_key: Annotated[str, Meta(min_length=1, max_length=16384)]


class OpenedMachine(Struct, frozen=True, kw_only=True):
    """A live allocation to which a key gives its owner access."""

    allocation_id: str
    name: str
    project_id: str


class SshKey(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    type: str
    fingerprint: str
    public_key: str  # rebuilt by the server: type and blob, without options and comment
    created_at: datetime
    opens: list[OpenedMachine] = []
    token_id: str | None = None  # the personal token that added it; the key ends with the token
    ends_at: datetime | None = None


class SetSshKeys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All keys of the holder on an allocation; keys of grants stay."""

    ssh_key_ids: Annotated[list[Reference], Meta(max_length=20)]
    confirm_no_way_in: bool = False


class AllocationKeys(Struct, frozen=True, kw_only=True):
    """The keys of an allocation. `installed` when the node has confirmed exactly these."""

    allocation_id: str
    ssh_key_ids: list[str]
    fingerprints: list[str]  # of all keys that give access, including those of grants
    generation: int
    installed: bool
    admits_own_keys: bool = False  # keys of ~/.ssh/authorized_keys in the environment admit too
    own_fingerprints: list[str] = []  # found there, unknown to the platform; empty while they do not admit
    own_observed_at: datetime | None = None
    own_refused_fingerprints: list[str] = []  # in the file, or of former grantees: keys of known people without access
    warning: str = ""
    lease_seconds: float = 0  # on an offline node, all keys but the holder's stop admitting after this time
    holder_lease_seconds: float = 0  # and the holder's keys after this time


class AllowOwnKeys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether keys of ~/.ssh/authorized_keys in the environment admit."""

    allowed: bool


class OwnKeyFile(Struct, frozen=True, kw_only=True):
    """An allocation that admits keys of its ~/.ssh/authorized_keys."""

    allocation_id: str
    allocation_name: str
    project_id: str
    allowed_by: str
    allowed_by_email: str
    allowed_at: datetime | None
    installed: bool  # the node confirmed that the allocation admits the file
    fingerprints: list[str]  # of the keys that the node found in it
    refused_fingerprints: list[str]  # of those, keys of known people without access; they are not admitted
    observed_at: datetime | None  # when the node last reported a change of the file


class GrantStatus(StrEnum):
    ASKED = "asked"
    AWAITING_KEY = "awaiting_key"
    ACTIVE = "active"
    REVOKED = "revoked"
    ENDED = "ended"


class CreateAccessGrant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Accepts an open request of this person, if there is one."""

    user_id: Reference
    ssh_key_id: Reference | None = None
    expires_at: Moment | None = None


class AskAccess(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ssh_key_id: Reference | None = None
    reason: Reason = ""


class ChangeAccessGrant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The grantee chooses the key; people who share the allocation choose the end. Fields that are left out stay."""

    ssh_key_id: Reference | UnsetType = UNSET
    expires_at: Moment | UnsetType | None = UNSET


class AccessGrant(Struct, frozen=True, kw_only=True):
    id: str
    project_id: str
    allocation_id: str
    allocation_name: str
    user_id: str
    email: str
    status: GrantStatus
    status_since: datetime
    status_reason: str
    ssh_key_id: str | None
    key_fingerprint: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    installed: bool  # the grant is active and the node confirmed that the allocation admits its key
    applied: bool = False  # the node confirmed the current key set; after a revoke: it no longer holds this grant's key
    notice: str = ""


class HandOver(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The new holder, and those of their keys that shall give access."""

    user_id: Reference
    ssh_key_ids: Annotated[list[Reference], Meta(max_length=20)] = []
    reason: Reason = ""
