"""Ed25519 public keys. Imported only to verify a signature, because the package cryptography belongs to an extra."""

from base64 import b64decode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class PublicKey:
    def __init__(self, text: str) -> None:
        """`text` is base64; raises ValueError if it is not a key."""
        self._key = Ed25519PublicKey.from_public_bytes(b64decode(text))
        self.raw = self._key.public_bytes_raw()

    def has_signed(self, message: bytes, signature: str) -> bool:
        try:
            self._key.verify(b64decode(signature, validate=True), message)
        except (InvalidSignature, ValueError):
            return False
        return True
