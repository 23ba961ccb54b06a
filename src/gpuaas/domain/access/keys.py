"""Parses public keys. A key is rebuilt from its parsed parts; the text that a person sent is never passed on."""

import base64
import binascii
import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric import ec
from msgspec import Struct

from gpuaas.core.errors import ValidationError

RSA_BITS = 3072
FIELDS = {  # type → number of length-prefixed fields that follow it in the blob
    "ssh-ed25519": 1,
    "ecdsa-sha2-nistp256": 2,
    "ecdsa-sha2-nistp384": 2,
    "ecdsa-sha2-nistp521": 2,
    "ssh-rsa": 2,
    "sk-ssh-ed25519@openssh.com": 2,
    "sk-ecdsa-sha2-nistp256@openssh.com": 3,
}
LENGTHS = {"ssh-ed25519": 32, "sk-ssh-ed25519@openssh.com": 32}
CURVES = {"nistp256": ec.SECP256R1(), "nistp384": ec.SECP384R1(), "nistp521": ec.SECP521R1()}
UNCOMPRESSED = b"\x04"  # the first byte of a point that has both its coordinates


class PublicKey(Struct, frozen=True):
    type: str
    blob: str
    fingerprint: str
    comment: str

    @property
    def line(self) -> str:
        return f"{self.type} {self.blob}"


class MalformedKey(ValidationError):
    code = "ssh_key_invalid"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"This is not a public key we can accept: {why}. Paste one line of a .pub file, such as id_ed25519.pub.",
            errors={"public_key": why},
        )


def parse(text: str) -> PublicKey:
    """Parse one OpenSSH public key line: type, blob and an optional comment. Options and certificates are refused."""
    line = text.strip(" \t\r\n")
    if any(ord(character) < 32 or ord(character) == 127 for character in line):  # noqa: PLR2004 - control characters
        raise MalformedKey("it holds a line break or another control character")
    if "PRIVATE KEY" in line:
        raise MalformedKey("it is a private key; never send that to anybody")
    words = line.split(None, 2)
    if not words or words[0] not in FIELDS:
        known = ", ".join(FIELDS)
        raise MalformedKey(f"its first word is not one of {known}")
    if len(words) == 1:
        raise MalformedKey("the key itself is missing")
    type, encoded = words[0], words[1]
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedKey("its second word is not base64") from error
    check_blob(type, blob)
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    comment = words[2] if len(words) > 2 else ""  # noqa: PLR2004 - type, blob, comment
    return PublicKey(type, base64.b64encode(blob).decode(), f"SHA256:{digest}", comment)


def check_blob(type: str, blob: bytes) -> None:
    """The blob must contain the same type as the line, and exactly the fields of that type."""
    parts = split(blob)
    if parts[0] != type.encode():
        raise MalformedKey("the type inside the key differs from its first word")
    fields = parts[1:]
    if len(fields) != FIELDS[type]:
        raise MalformedKey("it has too few or too many parts")
    if type == "ssh-rsa":
        check_rsa(*fields)
    elif "ecdsa" in type:
        curve = fields[0].decode("ascii", "replace")
        if not type.removesuffix("@openssh.com").endswith(f"-{curve}") or curve not in CURVES:
            raise MalformedKey("its curve differs from its first word")
        check_point(CURVES[curve], fields[1])
    elif len(fields[0]) != LENGTHS[type]:
        raise MalformedKey("its length is wrong")


def check_point(curve: ec.EllipticCurve, point: bytes) -> None:
    """OpenSSH accepts only uncompressed points, and only points on the curve."""
    if not point.startswith(UNCOMPRESSED):
        raise MalformedKey("its point is not in uncompressed form")
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(curve, point)
    except ValueError as error:
        raise MalformedKey("its point is not on its curve") from error


def check_rsa(exponent: bytes, modulus: bytes) -> None:
    e, n = int.from_bytes(exponent, "big"), int.from_bytes(modulus, "big")
    if modulus[:1] >= b"\x80" or exponent[:1] >= b"\x80":
        raise MalformedKey("its numbers are negative")
    if n.bit_length() < RSA_BITS:
        raise MalformedKey(f"it has {n.bit_length()} bits, and RSA keys need {RSA_BITS}; better make an ed25519 key")
    if n.bit_length() > RSA_BITS * 6 or e < 3 or e % 2 == 0 or n % 2 == 0:  # noqa: PLR2004 - no RSA key has these
        raise MalformedKey("its numbers are not those of an RSA key")


def split(blob: bytes) -> list[bytes]:
    """Split into length-prefixed fields; bytes after the last field are an error."""
    parts, at = [], 0
    while at < len(blob):
        if at + 4 > len(blob):
            raise MalformedKey("it is cut short")
        (length,) = struct.unpack_from(">I", blob, at)
        at += 4
        if at + length > len(blob):
            raise MalformedKey("it is cut short")
        parts.append(blob[at : at + length])
        at += length
    if not parts:
        raise MalformedKey("it is empty")
    return parts
