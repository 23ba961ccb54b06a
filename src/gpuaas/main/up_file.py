"""`DIR/up.json`: the platform of a data folder and its people."""

import os
import secrets
from pathlib import Path

import msgspec
from msgspec import Struct

USER, ADMIN = "dev-user@example.com", "dev-admin@example.com"
SLOTS = 8  # GPUs of the node


class UpUser(Struct, frozen=True, kw_only=True):
    email: str
    password: str
    role: str


class UpFile(Struct, frozen=True, kw_only=True):
    """`DIR/up.json`: everything that a script needs to use the platform."""

    url: str
    users: list[UpUser]
    tenant: str | None = None
    project_id: str | None = None
    engine: str = ""  # of its node; empty: a release that did not record it


def read(path: Path) -> UpFile | None:
    return msgspec.json.decode(path.read_bytes(), type=UpFile) if path.exists() else None


def write(path: Path, file: UpFile) -> None:
    """Written atomically, and readable only by its owner."""
    beside = path.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(msgspec.json.format(msgspec.json.encode(file)))
        out.flush()
        os.fsync(out.fileno())
    beside.rename(path)


def people(url: str, *, demo: bool, kept: UpFile | None = None) -> UpFile:
    """Passwords are generated and stored in the file before the accounts are created, so a crash in between loses
    none.
    """
    file = kept or UpFile(url=url, users=[drawn(ADMIN, "admin")])
    if demo and all(user.email != USER for user in file.users):
        file = msgspec.structs.replace(file, users=[drawn(USER, "user"), *file.users])
    return msgspec.structs.replace(file, url=url)


def drawn(email: str, role: str) -> UpUser:
    return UpUser(email=email, password=secrets.token_urlsafe(12), role=role)
