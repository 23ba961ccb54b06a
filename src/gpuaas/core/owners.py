"""Runs programs and writes files as another operating system user, and checks what that user can access."""

import os
import pwd
import stat
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

USERADD = (
    *("/usr/sbin/useradd", "--system", "--user-group", "--no-create-home"),
    *("--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin"),
)


class MachineError(Exception):
    """The operation is not possible on this computer; the message contains the next step."""


@dataclass(frozen=True)
class Owner:
    """The operating system user that the server runs as."""

    name: str
    uid: int
    gid: int

    def run(
        self, *command: str, cwd: Path, text: str | None = None, new_session: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as this user inside `cwd`; enter the folder before dropping privileges."""
        dropped = {"user": self.uid, "group": self.gid, "extra_groups": []} if os.geteuid() != self.uid else {}
        return subprocess.run(  # type: ignore[call-overload,no-any-return]  # noqa: S603 - our own binaries, no shell of a caller
            command,
            cwd=cwd,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            start_new_session=new_session,
            umask=0o077,
            text=True,
            check=False,
            **dropped,
        )


def runs(program: Path, owner: Owner, *words: str) -> bool:
    """Whether `owner` can access and run the program; checked by running it."""
    try:
        return owner.run(str(program), *(words or ("--version",)), cwd=Path("/")).returncode == 0
    except OSError:
        return False


def system_user(name: str) -> pwd.struct_passwd:
    """The system user of that name, created if it is missing."""
    for _ in range(20):  # another process may hold the lock on /etc/passwd, or be creating the same user
        with suppress(KeyError):
            return pwd.getpwnam(name)
        try:
            made = subprocess.run(  # noqa: S603 - a constant command
                [*USERADD, name],
                capture_output=True,
                text=True,
                check=False,
            )
        except FileNotFoundError:
            raise MachineError(f"useradd is missing: add a system user {name}, or start as an ordinary user") from None
    raise MachineError(f"system user {name} could not be created: {made.stderr.strip()}")


def put(folder: Path, name: str, text: str, owner: Owner) -> None:
    """Write a file for `owner` without following links that `owner` may have planted."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with suppress(FileNotFoundError):
            os.unlink(f"{name}.new", dir_fd=at)
        file = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=at)
        with os.fdopen(file, "w") as out:
            out.write(text)
            out.flush()
            if owner.uid != os.geteuid():
                os.fchown(file, owner.uid, owner.gid)
            os.fsync(file)
        os.replace(f"{name}.new", name, src_dir_fd=at, dst_dir_fd=at)
    finally:
        os.close(at)


def sync_folder(folder: Path) -> None:
    """Sync a folder: a new or renamed file survives a power failure only after its folder is on disk."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(at)
    finally:
        os.close(at)


def is_private(folder: Path) -> bool:
    """Whether this is a real folder, owned by us and inaccessible to other users."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not stat.S_IMODE(facts.st_mode) & 0o077
