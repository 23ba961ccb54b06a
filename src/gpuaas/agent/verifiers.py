"""The task keys that this node trusts.

They change by statements of the server, which only the newest trusted key may sign, or by an operator's token. So a
leaked key can add nothing once a newer one is trusted, and a repeated statement changes nothing.
"""

import base64
from collections.abc import Iterable
from typing import Self

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gpuaas.wire.link import STREAM_PURPOSE, TASK_PURPOSE, OpenStream, Task
from gpuaas.wire.task_keys import (
    STATEMENT_PURPOSE,
    StatementBody,
    TaskKeyStatement,
    TrustedKey,
    Verifier,
    verifier_of,
)

UNKNOWN_SIGNER = "unknown signer"
BAD_SIGNATURE = "bad signature"
RETIRED_SIGNER = "signed with a retired key"


class StatementRefusedError(Exception):
    """The statement changes nothing; the message says why."""


class Verifiers:
    """Known keys by id. Keys that are no longer trusted verify only tasks that were taken while they were."""

    def __init__(self, known: Iterable[Verifier], trusted: Iterable[str]) -> None:
        self.known = {one.id: one for one in known}
        self.trusted_ids = frozenset(trusted)
        self.keys = {id: Ed25519PublicKey.from_public_bytes(raw_key(one)) for id, one in self.known.items()}

    @property
    def newest(self) -> Verifier:
        return max((self.known[id] for id in self.trusted_ids), key=lambda one: one.generation)

    @property
    def trusted(self) -> list[TrustedKey]:
        """Oldest first."""
        ours = sorted((self.known[id] for id in self.trusted_ids), key=lambda one: one.generation)
        return [TrustedKey(generation=one.generation, id=one.id) for one in ours]

    def objection(self, signed: Task | OpenStream) -> str | None:
        """Why these bytes cannot be trusted; None if they can."""
        purpose = TASK_PURPOSE if isinstance(signed, Task) else STREAM_PURPOSE
        return self._objection(signed, purpose) or self._retired(signed.signer)

    def objection_to_taken(self, task: Task) -> str | None:
        """The same for a task in the journal: the key that signed it may have been retired since."""
        return self._objection(task, TASK_PURPOSE)

    def _objection(self, signed: Task | OpenStream | TaskKeyStatement, purpose: bytes) -> str | None:
        if signed.signer not in self.keys:
            return UNKNOWN_SIGNER
        try:
            self.keys[signed.signer].verify(signed.signature, purpose + signed.body)
        except InvalidSignature:
            return BAD_SIGNATURE
        return None

    def _retired(self, signer: str) -> str | None:
        return None if signer in self.trusted_ids else RETIRED_SIGNER

    def _superseded(self, signer: str) -> str | None:
        return None if signer == self.newest.id else "not signed with the newest key"

    def _not_newer(self, stated: Verifier) -> str | None:
        is_newer = stated.generation > self.newest.generation or stated == self.newest
        return None if is_newer else f"generation {stated.generation} is not newer than the trusted one"

    def after(self, statement: TaskKeyStatement) -> Self:
        """The trusted keys after this statement."""
        why = self._objection(statement, STATEMENT_PURPOSE) or self._retired(statement.signer)
        if why := why or self._superseded(statement.signer):
            raise StatementRefusedError(why)
        try:
            body = msgspec.msgpack.decode(statement.body, type=StatementBody)
            Ed25519PublicKey.from_public_bytes(body.public_key)
        except (msgspec.DecodeError, ValueError) as error:
            raise StatementRefusedError(f"malformed statement: {error}") from error
        stated = verifier_of(body.public_key, body.generation)
        if why := self._not_newer(stated):
            raise StatementRefusedError(why)
        if body.oldest > self.newest.generation:
            raise StatementRefusedError("it retires the key that signed it")
        kept = {id for id in self.trusted_ids if self.known[id].generation >= body.oldest}
        return type(self)([*self.known.values(), stated], {*kept, stated.id})

    def only(self, brought: Iterable[Verifier]) -> Self:
        """Trust only these keys, which an operator's token authorised, and none of the previous ones."""
        brought = list(brought)
        return type(self)([*self.known.values(), *brought], {one.id for one in brought})

    def become(self, other: "Verifiers") -> None:
        self.known, self.trusted_ids, self.keys = other.known, other.trusted_ids, other.keys


def raw_key(verifier: Verifier) -> bytes:
    return base64.b64decode(verifier.public_key, validate=True)
