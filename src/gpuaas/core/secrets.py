"""One master key: seals secrets at rest and holds the key that signs node tasks."""

import base64
import hashlib
import os
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gpuaas.wire.link import TASK_PURPOSE, Task, Verifier

MASTER_BYTES = 32


class MasterKey:
    """Derives one key per purpose; the master itself is used for nothing else."""

    def __init__(self, raw: bytes) -> None:
        if len(raw) != MASTER_BYTES:
            raise ValueError(f"a master key is {MASTER_BYTES} bytes, this one is {len(raw)}")
        self._raw = raw
        self._box = AESGCM(self.derive("seal"))

    @classmethod
    def from_file(cls, path: Path) -> "MasterKey":
        """The key in this file, made with mode 0600 if there is none."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls(base64.b64decode(path.read_bytes()))
        with os.fdopen(descriptor, "wb") as out:
            raw = os.urandom(MASTER_BYTES)
            out.write(base64.b64encode(raw))
            out.flush()
            os.fsync(out.fileno())
        return cls(raw)

    def derive(self, purpose: str) -> bytes:
        return HKDF(hashes.SHA256(), MASTER_BYTES, salt=None, info=f"gpuaas:{purpose}".encode()).derive(self._raw)

    def seal(self, plain: bytes, bound_to: str) -> bytes:
        """Opens only under the same name it was sealed for."""
        nonce = os.urandom(12)
        return nonce + self._box.encrypt(nonce, plain, bound_to.encode())

    def open(self, sealed: bytes, bound_to: str) -> bytes:
        return self._box.decrypt(sealed[:12], sealed[12:], bound_to.encode())


class TaskSigner:
    """Signs the exact bytes that go down a link."""

    def __init__(self, master: MasterKey) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(master.derive("task-signing"))
        public = self._key.public_key().public_bytes_raw()
        self.verifier = Verifier(
            id=hashlib.sha256(public).hexdigest()[:16], public_key=base64.b64encode(public).decode()
        )

    def sign(self, body: bytes) -> Task:
        return Task(body=body, signer=self.verifier.id, signature=self._key.sign(TASK_PURPOSE + body))


def token_hash(token: str) -> bytes:
    """Tokens are 256 random bits: one round of SHA-256 is all a thief of the table could be denied."""
    return hashlib.sha256(token.encode()).digest()
