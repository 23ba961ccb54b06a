"""One master key: seals secrets at rest and holds the key that signs node tasks."""

import base64
import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gpuaas.core.db import Database
from gpuaas.core.owners import sync_folder
from gpuaas.wire.audit import PURPOSE
from gpuaas.wire.link import STREAM_PURPOSE, TASK_PURPOSE, OpenStream, Task
from gpuaas.wire.task_keys import (
    FIRST_GENERATION,
    MOST_GENERATIONS,
    STATEMENT_PURPOSE,
    StatementBody,
    TaskKeyStatement,
    TrustedKey,
    verifier_of,
)

MASTER_BYTES = 32
CACHED_SIGNERS = 64


class MasterKeyError(RuntimeError):
    """The master key in the data folder is damaged or another platform's; the message says what to do."""


class MasterKey:
    """Derives one key per purpose; the master itself is used for nothing else."""

    def __init__(self, raw: bytes) -> None:
        if len(raw) != MASTER_BYTES:
            raise ValueError(f"a master key is {MASTER_BYTES} bytes, this one is {len(raw)}")
        self._raw = raw
        self._box = AESGCM(self.derive("seal"))

    @classmethod
    def from_file(cls, path: Path) -> "MasterKey":
        """The key in this file; of all who find none and make one, the first wins and the others take theirs."""
        if not path.exists():
            made, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # mode 0600
            try:
                with os.fdopen(made, "wb") as out:
                    out.write(base64.b64encode(os.urandom(MASTER_BYTES)))
                    out.flush()
                    os.fsync(out.fileno())
                with suppress(FileExistsError):
                    os.link(draft, path)  # whole or not at all
            finally:
                Path(draft).unlink()
            sync_folder(path.parent)
        try:
            return cls(base64.b64decode(path.read_bytes()))
        except ValueError as error:
            raise MasterKeyError(f"{path} is damaged: {error}. Put a backup of it there.") from error

    def derive(self, purpose: str) -> bytes:
        return HKDF(hashes.SHA256(), MASTER_BYTES, salt=None, info=f"gpuaas:{purpose}".encode()).derive(self._raw)

    def seal(self, plain: bytes, bound_to: str) -> bytes:
        """Opens only under the same name it was sealed for."""
        nonce = os.urandom(12)
        return nonce + self._box.encrypt(nonce, plain, bound_to.encode())

    def open(self, sealed: bytes, bound_to: str) -> bytes:
        return self._box.decrypt(sealed[:12], sealed[12:], bound_to.encode())


class TaskSigner:
    """Signs the exact bytes that go down a link, with the task key of one generation."""

    def __init__(self, master: MasterKey, generation: int = FIRST_GENERATION) -> None:
        purpose = "task-signing" if generation == FIRST_GENERATION else f"task-signing:{generation}"
        self._key = Ed25519PrivateKey.from_private_bytes(master.derive(purpose))
        self.public_key = self._key.public_key().public_bytes_raw()
        self.verifier = verifier_of(self.public_key, generation)

    def sign(self, body: bytes) -> Task:
        return Task(body=body, signer=self.verifier.id, signature=self._key.sign(TASK_PURPOSE + body))

    def sign_stream(self, body: bytes) -> OpenStream:
        return OpenStream(body=body, signer=self.verifier.id, signature=self._key.sign(STREAM_PURPOSE + body))

    def state(self, body: StatementBody) -> TaskKeyStatement:
        """Tells nodes that trust this key of another generation, or to trust old ones no more."""
        encoded = msgspec.msgpack.encode(body)
        signature = self._key.sign(STATEMENT_PURPOSE + encoded)
        return TaskKeyStatement(body=encoded, signer=self.verifier.id, signature=signature)


class TaskKeyring:
    """The task key of every generation, derived from the master key: no generation is lost with the database."""

    def __init__(self, master: MasterKey) -> None:
        self._master, self._signers = master, dict[int, TaskSigner]()

    def signer(self, generation: int) -> TaskSigner:
        if generation not in self._signers:
            if len(self._signers) >= CACHED_SIGNERS:
                self._signers.clear()
            self._signers[generation] = TaskSigner(self._master, generation)
        return self._signers[generation]

    def is_ours(self, key: TrustedKey) -> bool:
        """Nobody can name a generation by its id before a server of this platform has announced it."""
        is_possible = FIRST_GENERATION <= key.generation <= MOST_GENERATIONS
        return is_possible and self.signer(key.generation).verifier.id == key.id

    def ours(self, keys: Sequence[TrustedKey]) -> tuple[int, ...]:
        """The generations among them, oldest first."""
        return tuple(sorted({key.generation for key in keys if self.is_ours(key)}))


class AuditSigner:
    """Signs the seals of the audit log. The database never has this key, so whoever changes rows cannot seal them."""

    def __init__(self, master: MasterKey) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(master.derive("audit-signing"))
        public = self._key.public_key().public_bytes_raw()
        self.id = hashlib.sha256(public).hexdigest()[:16]
        self.public_key = base64.b64encode(public).decode()

    def sign(self, seal_hash: str) -> str:
        return base64.b64encode(self._key.sign(PURPOSE + seal_hash.encode())).decode()


async def pin(db: Database, keyring: TaskKeyring) -> TaskKeyring:
    """A platform keeps the master key it began with, known by its first task key: nodes follow no other."""
    signer = keyring.signer(FIRST_GENERATION)
    async with db.write() as tx:
        first = await tx.value(PIN, signer.verifier.id)
    if first != signer.verifier.id:
        raise MasterKeyError(
            f"this platform's node tasks are signed by {first}, and the master key here makes {signer.verifier.id}. "
            "Put master.key of the first start into the data folder, from a backup or another replica; see "
            "docs/runbooks/master-key.md."
        )
    return keyring


def token_hash(token: str) -> bytes:
    """Tokens are 256 random bits: one round of SHA-256 is all a thief of the table could be denied."""
    return hashlib.sha256(token.encode()).digest()


PIN = """
    insert into platform as kept (key, value) values ('task_signer', $1)
    on conflict (key) do update set value = kept.value returning value
"""
