"""A person's own ~/.ssh/authorized_keys: read, never written, and only where the holder allows it.

The person owns every name on the way to it, so none of them is followed if it is a link, and it is read only if it is
an ordinary file that nobody but them can write, as sshd demands it too.
"""

import base64
import binascii
import errno
import hashlib
import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

import asyncssh
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from gpuaas.wire.environments import AuthorizedKey

MOST_BYTES = 65_536
MOST_KEYS = 100
RSA_BITS = 3072
TYPES = frozenset(
    {
        *("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
        *("sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"),
    }
)
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNUSABLE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENXIO, None)
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class OwnKeys:
    """The file of one environment. `owner` is the person, as the machine numbers people."""

    def __init__(self, folder: Path, username: str, owner: int) -> None:
        self._folder, self._username, self._owner = folder, username, owner

    def read(self) -> dict[bytes, AuthorizedKey]:
        """By what a client offers; a line that is no plain key is passed over: what it demands would not be kept."""
        try:
            text = self._text()
        except OSError as error:
            if error.errno not in UNUSABLE:  # a failed look is not an empty file
                raise
            return {}
        found: dict[bytes, AuthorizedKey] = {}
        for line in text.splitlines()[: 10 * MOST_KEYS]:
            key = _parse(line)
            if key is not None and len(found) < MOST_KEYS:
                found[base64.b64decode(key.blob)] = key
        return found

    def _text(self) -> str:
        with ExitStack() as opened:
            at = _open(opened, str(self._folder), FOLDER, None)
            for name in ("disk", "home", self._username):
                at = _open(opened, name, FOLDER, at)
            at = self._owned(_open(opened, ".ssh", FOLDER, at))
            file = self._owned(_open(opened, "authorized_keys", FILE, at))
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return ""
            return os.read(file, MOST_BYTES).decode("ascii", "replace")

    def _owned(self, descriptor: int) -> int:
        found = os.fstat(descriptor)
        if found.st_uid != self._owner or found.st_mode & WRITABLE_BY_OTHERS:
            raise PermissionError("others could write it")
        return descriptor


def _open(opened: ExitStack, name: str, flags: int, at: int | None) -> int:
    descriptor = os.open(name, flags, dir_fd=at)
    opened.callback(os.close, descriptor)
    return descriptor


def _parse(line: str) -> AuthorizedKey | None:
    words = line.split()
    if len(words) < 2 or words[0] not in TYPES:  # noqa: PLR2004 - type and blob; options stand before them
        return None
    with suppress(binascii.Error, ValueError, asyncssh.KeyImportError):
        blob = base64.b64decode(words[1], validate=True)
        key = asyncssh.import_public_key(f"{words[0]} {words[1]}")
        inner = key.pyca_key
        is_weak = isinstance(inner, RSAPublicKey) and inner.key_size < RSA_BITS
        if key.public_data == blob and not is_weak:
            digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
            return AuthorizedKey(type=words[0], blob=words[1], fingerprint=f"SHA256:{digest}", user_id="")
    return None
