"""The master key: encrypts stored secrets, and derives the keys that sign node tasks."""

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
    """The master key in the data folder is damaged or belongs to another platform; the message has the next step."""


class MasterKey:
    """Derives one key per purpose; the master key has no other use."""

    def __init__(self, raw: bytes) -> None:
        if len(raw) != MASTER_BYTES:
            raise ValueError(f"a master key is {MASTER_BYTES} bytes, this one is {len(raw)}")
        self._raw = raw
        self._box = AESGCM(self.derive("seal"))

    @classmethod
    def from_file(cls, path: Path) -> "MasterKey":
        """Read the key from this file. If several processes create it concurrently, the first one wins for all."""
        if not path.exists():
            made, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # mode 0600
            try:
                with os.fdopen(made, "wb") as out:
                    out.write(base64.b64encode(os.urandom(MASTER_BYTES)))
                    out.flush()
                    os.fsync(out.fileno())
                with suppress(FileExistsError):
                    os.link(draft, path)  # atomically
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
        """Decrypts only under the name used for encryption."""
        nonce = os.urandom(12)
        return nonce + self._box.encrypt(nonce, plain, bound_to.encode())

    def open(self, sealed: bytes, bound_to: str) -> bytes:
        return self._box.decrypt(sealed[:12], sealed[12:], bound_to.encode())


class TaskSigner:
    """Signs the exact bytes sent over a link, with the task key of one generation."""

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
        """Signs a statement that introduces another generation, or withdraws trust in old ones."""
        encoded = msgspec.msgpack.encode(body)
        signature = self._key.sign(STATEMENT_PURPOSE + encoded)
        return TaskKeyStatement(body=encoded, signer=self.verifier.id, signature=signature)


class TaskKeyring:
    """Task keys of all generations, derived from the master key, so that a loss of the database loses none."""

    def __init__(self, master: MasterKey) -> None:
        self._master, self._signers = master, dict[int, TaskSigner]()

    def signer(self, generation: int) -> TaskSigner:
        if generation not in self._signers:
            if len(self._signers) >= CACHED_SIGNERS:
                self._signers.clear()
            self._signers[generation] = TaskSigner(self._master, generation)
        return self._signers[generation]

    def is_ours(self, key: TrustedKey) -> bool:
        """The id of a generation; unpredictable until a server of this platform has announced it."""
        is_possible = FIRST_GENERATION <= key.generation <= MOST_GENERATIONS
        return is_possible and self.signer(key.generation).verifier.id == key.id

    def ours(self, keys: Sequence[TrustedKey]) -> tuple[int, ...]:
        """The known generations among these key ids, oldest first."""
        return tuple(sorted({key.generation for key in keys if self.is_ours(key)}))


class AuditSigner:
    """Signs the seals of the audit log. The key is not in the database, so changed rows cannot be sealed again."""

    def __init__(self, master: MasterKey) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(master.derive("audit-signing"))
        public = self._key.public_key().public_bytes_raw()
        self.id = hashlib.sha256(public).hexdigest()[:16]
        self.public_key = base64.b64encode(public).decode()

    def sign(self, seal_hash: str) -> str:
        return base64.b64encode(self._key.sign(PURPOSE + seal_hash.encode())).decode()


async def pin(db: Database, keyring: TaskKeyring) -> TaskKeyring:
    """Verify that the master key is that of the first start, because nodes accept tasks of no other key."""
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
    """Hash a token. Tokens have 256 random bits, so one round of SHA-256 is sufficient."""
    return hashlib.sha256(token.encode()).digest()


PIN = """
    insert into platform as kept (key, value) values ('task_signer', $1)
    on conflict (key) do update set value = kept.value returning value
"""
