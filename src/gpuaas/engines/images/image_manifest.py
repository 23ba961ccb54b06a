"""The manifest of an image: one line per file, a digest over all lines, and a comparison with the files."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

CAPABILITY = "security.capability"


class Entry(Struct, frozen=True, array_like=True):
    """One file. Times are omitted, because they do not affect behaviour and differ between equal builds."""

    path: str
    kind: str
    mode: int
    uid: int
    gid: int
    size: int
    content: str
    """SHA-256 of a file, the target of a link, the number of a device."""
    capability: str = ""
    """A file capability grants rights like setuid, so a planted one must be detected."""


def entries(root: Path) -> Iterator[Entry]:
    """All paths below the folder, and the folder, sorted; does not follow links."""
    paths = [root]
    for folder, folders, files in os.walk(root):  # `walk` reports links to folders and does not enter them
        paths += [Path(folder, name) for name in (*folders, *files)]
    for path in sorted(paths):
        yield look(path, shown(path.relative_to(root)))


def look(path: Path, name: str) -> Entry:
    found = path.lstat()
    kind, content, size = "other", "", 0
    if stat.S_ISREG(found.st_mode):
        with path.open("rb") as file:
            kind, content, size = "file", hashlib.file_digest(file, "sha256").hexdigest(), found.st_size
    elif stat.S_ISLNK(found.st_mode):
        kind, content = "link", shown(path.readlink())
    elif stat.S_ISDIR(found.st_mode):
        kind = "folder"
    elif stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
        kind, content = "device", f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
    return Entry(
        name, kind, stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, size, content, capability_of(path, kind)
    )


def shown(path: Path) -> str:
    """File names are bytes; JSON needs text."""
    return os.fsencode(path).decode(errors="backslashreplace")


def capability_of(path: Path, kind: str) -> str:
    if kind != "file":
        return ""
    try:
        return os.getxattr(path, CAPABILITY, follow_symlinks=False).hex()
    except OSError:  # no capability, or a file system without capabilities
        return ""


def encode(found: Iterator[Entry]) -> bytes:
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in found)


def digest(manifest: bytes) -> str:
    return f"sha256:{hashlib.sha256(manifest).hexdigest()}"


def decode(manifest: bytes) -> dict[str, Entry]:
    found = (msgspec.json.decode(line, type=Entry) for line in manifest.splitlines())
    return {entry.path: entry for entry in found}


def total(manifest: bytes) -> int:
    return sum(entry.size for entry in decode(manifest).values())


def differences(recorded: Mapping[str, Entry], root: Path) -> Iterator[str]:
    """A line for each path that differs from the manifest, with the difference."""
    unseen = dict(recorded)
    for entry in entries(root):
        known = unseen.pop(entry.path, None)
        if known is None:
            yield f"added: {entry.path}"
        elif known != entry:
            fields = [name for name in Entry.__struct_fields__ if getattr(known, name) != getattr(entry, name)]
            yield f"changed: {entry.path} ({', '.join(fields)})"
    yield from (f"missing: {path}" for path in sorted(unseen))
