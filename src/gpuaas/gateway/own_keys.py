"""Reads the holder's own ~/.ssh/authorized_keys through the environment's root, without writing or following links.

As in sshd, the file counts only if it is an ordinary file that only the holder can write. Other mounts in its path
are refused, because a volume that does not respond would block the gateway.
"""

import base64
import binascii
import errno
import hashlib
import os
import stat
from contextlib import ExitStack, suppress

from gpuaas.engines.node.kernel import RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_XDEV, open_beneath
from gpuaas.wire.environments import AuthorizedKey
from gpuaas.wire.gateway import EnvironmentAccess

MOST_BYTES = 65_536
MOST_KEYS = 100
RSA_BITS = 3072
CURVES = {"nistp256": 65, "nistp384": 97, "nistp521": 133}  # bytes of a curve point
ED25519_BYTES = 32
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNUSABLE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENXIO, errno.EXDEV)
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW
INSIDE = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV


def read(access: EnvironmentAccess) -> dict[str, AuthorizedKey]:
    """Keys by fingerprint. A line with options is skipped, because its options would not be enforced. Raises if the
    file cannot be read; that is different from an empty file."""
    try:
        text = _text(access.init.pid, access.username, access.first_id + access.uid)
    except OSError as error:
        if error.errno not in UNUSABLE:
            raise
        return {}
    found: dict[str, AuthorizedKey] = {}
    for line in text.splitlines()[: 10 * MOST_KEYS]:
        key = parse(line)
        if key is not None and len(found) < MOST_KEYS:
            found[key.fingerprint] = key
    return found


def _text(pid: int, username: str, owner: int) -> str:
    with ExitStack() as opened:

        def keep(descriptor: int) -> int:
            opened.callback(os.close, descriptor)
            return descriptor

        at = keep(os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
        for name in ("home", username):
            at = keep(open_beneath(at, name, FOLDER, resolve=INSIDE))
        at = _owned(keep(open_beneath(at, ".ssh", FOLDER, resolve=INSIDE)), owner)
        file = _owned(keep(open_beneath(at, "authorized_keys", FILE, resolve=INSIDE)), owner)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return ""
        return os.read(file, MOST_BYTES).decode("ascii", "replace")


def _owned(descriptor: int, owner: int) -> int:
    found = os.fstat(descriptor)
    if found.st_uid != owner or found.st_mode & WRITABLE_BY_OTHERS:
        raise PermissionError(errno.EPERM, "others can write it")
    return descriptor


def parse(line: str) -> AuthorizedKey | None:
    """A key of an accepted type and strength, or None."""
    words = line.split()
    if len(words) < 2:  # noqa: PLR2004 - type and blob
        return None
    with suppress(binascii.Error, ValueError):
        blob = base64.b64decode(words[1], validate=True)
        if _is_sound(words[0], _fields(blob)):
            digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
            return AuthorizedKey(type=words[0], blob=words[1], fingerprint=f"SHA256:{digest}", user_id="")
    return None


def _fields(blob: bytes) -> list[bytes]:
    """The length-prefixed parts of a key; ValueError if they do not fill the blob exactly."""
    fields, at = [], 0
    while at < len(blob):
        end = at + 4 + int.from_bytes(blob[at : at + 4], "big")
        if at + 4 > len(blob) or end > len(blob):
            raise ValueError("cut short")
        fields.append(blob[at + 4 : end])
        at = end
    return fields


def _is_sound(kind: str, fields: list[bytes]) -> bool:
    match kind, fields:
        case "ssh-ed25519", [b"ssh-ed25519", point]:
            return len(point) == ED25519_BYTES
        case "sk-ssh-ed25519@openssh.com", [b"sk-ssh-ed25519@openssh.com", point, application]:
            return len(point) == ED25519_BYTES and bool(application)
        case "ssh-rsa", [b"ssh-rsa", exponent, modulus]:
            return int.from_bytes(modulus, "big").bit_length() >= RSA_BITS and bool(exponent)
        case "sk-ecdsa-sha2-nistp256@openssh.com", [name, b"nistp256", point, application]:
            return name.decode() == kind and len(point) == CURVES["nistp256"] and bool(application)
        case _, [name, curve, point] if kind.startswith("ecdsa-sha2-"):
            size = CURVES.get(curve.decode())
            return name.decode() == kind == f"ecdsa-sha2-{curve.decode()}" and len(point) == size
    return False
