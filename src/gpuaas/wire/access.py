"""Personal SSH public keys."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.common import Title


class AddSshKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: Title
    public_key: Annotated[str, Meta(min_length=1, max_length=16384)]


class SshKey(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    type: str
    fingerprint: str
    public_key: str  # as we emit it: type, blob, no options, no comment of the sender's
    created_at: datetime
