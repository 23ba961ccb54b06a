"""Task keys: the keys that sign node tasks, by generation, and how nodes learn to trust a new one.

The server signs each statement with a generation that the node already trusts. A statement adds one generation and
may retire old ones. Both numbers only rise, so a repeated statement changes nothing.
"""

import base64
import hashlib
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.common import Reason

FIRST_GENERATION = 1
MOST_GENERATIONS = 1_000_000
MOST_TRUSTED = 64  # generations that a node names in its hello
STATEMENT_PURPOSE = b"gpuaas-task-key-v1\x00"


class Verifier(Struct, frozen=True, kw_only=True):
    """The public half of a task key."""

    id: str
    public_key: str
    generation: int = FIRST_GENERATION


def verifier_id(public_key: bytes) -> str:
    return hashlib.sha256(public_key).hexdigest()[:16]


def verifier_of(public_key: bytes, generation: int) -> Verifier:
    encoded = base64.b64encode(public_key).decode()
    return Verifier(id=verifier_id(public_key), public_key=encoded, generation=generation)


class TrustedKey(Struct, frozen=True, kw_only=True):
    """A generation whose signatures a node accepts."""

    generation: int
    id: str


class StatementBody(Struct, frozen=True, kw_only=True):
    """The signed part: this generation has this key, and generations before `oldest` are retired."""

    generation: int
    public_key: bytes
    oldest: int


class TaskKeyStatement(Struct, frozen=True, kw_only=True, tag="task_key_statement"):
    body: bytes
    signer: str
    signature: bytes


class TrustedKeys(Struct, frozen=True, kw_only=True, tag="trusted_keys"):
    """Every generation that the node trusts; sent after it has written them to its disk."""

    keys: list[TrustedKey]


class TaskKey(Struct, frozen=True, kw_only=True):
    """One generation as operators see it."""

    generation: int
    verifier_id: str
    is_current: bool
    created_at: datetime
    created_by: str | None
    reason: str
    retired_at: datetime | None
    retired_by: str | None
    retire_reason: str
    is_forced: bool  # retired although nodes did not trust a newer generation
    nodes_trusting: int  # enrolled nodes that accepted this generation or a newer one
    nodes_missing: int
    missing: list[str]  # names of nodes, at most 100


class RotateTaskKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class RetireTaskKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    force: bool = False
