"""The users as which the parts of `gpuaas up` run: only the agent, and what it starts, needs root."""

import ctypes
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gpuaas.cli.complaints import Complaint
from gpuaas.core.owners import Owner, runs
from gpuaas.main.engine_kinds import EngineKind

SYSTEM_FOLDER = Path("/var/lib/gpuaas")
STARTED_BY_SUDO = ("make", "gpuaas")  # any other command of sudo, such as a shell, is a session of root
PR_SET_DUMPABLE = 4
FAKE_WORDS = "The node uses the fake engine: the console and the API work, but no allocation is real."

KEPT_WORDS = "This folder was created with it. For real allocations use another folder: gpuaas up --data FOLDER"


class Sudo(StrEnum):
    """How sudo is available to the person who starts this program."""

    FREE = "free"  # it asks for nothing
    ASKS = "asks"  # for a password, and there is a terminal
    NO = "no"


class AgentUser(StrEnum):
    """The user that runs the agent."""

    OURSELVES = "ourselves"
    ROOT = "root"  # in addition to this process, which is not root


@dataclass(frozen=True, kw_only=True)
class Situation:
    is_root: bool
    has_root_process: bool = False  # started by sudo, with a process that stays root
    sudo: Sudo = Sudo.NO
    lacks: Sequence[str] = ()  # what environments need in addition to root
    asked: EngineKind | None = None
    before: EngineKind | None = None  # of the node in the data folder

    @property
    def can_have_root(self) -> bool:
        return self.is_root or self.has_root_process or self.sudo is not Sudo.NO


@dataclass(frozen=True)
class Plan:
    engine: EngineKind
    agent: AgentUser
    words: tuple[str, ...] = ()  # for the person, before anything starts
    asks: bool = False  # sudo asks for a password first


def plan(situation: Situation) -> Plan:
    """A folder keeps its engine: the fake engine would report real environments as gone, and the offers of a platform
    are derived from what its engine found first.
    """
    if situation.asked and situation.before and situation.asked is not situation.before:
        raise Complaint(
            f"the node in this folder has the engine {situation.before}; another one cannot use its environments",
            next_step=f"gpuaas up --engine {situation.asked} --data ANOTHER_FOLDER",
        )
    if situation.before is EngineKind.OCI and not situation.can_have_root:
        raise Complaint(
            "the node in this folder needs root, and sudo is not available here",
            next_step="start it as root or as a user who may use sudo, or use another folder: gpuaas up --data FOLDER",
        )
    wanted = situation.asked or situation.before
    lacks = [*([] if situation.can_have_root else ["root"]), *situation.lacks]
    if wanted is None and lacks:
        return without_root(lacks)
    if wanted is EngineKind.FAKE:
        return Plan(EngineKind.FAKE, AgentUser.OURSELVES, () if situation.asked else (FAKE_WORDS, KEPT_WORDS))
    agent = AgentUser.ROOT if situation.can_have_root and not situation.is_root else AgentUser.OURSELVES
    words = (f"The node offers no capacity. Missing: {', '.join(lacks)}.",) if lacks else ()
    return Plan(EngineKind.OCI, agent, words, agent is AgentUser.ROOT and situation.sudo is Sudo.ASKS)


def without_root(lacks: Sequence[str]) -> Plan:
    words = (f"This computer cannot create environments. Missing: {', '.join(lacks)}.", FAKE_WORDS)
    return Plan(EngineKind.FAKE, AgentUser.OURSELVES, words)


def look_at_sudo() -> Sudo:
    if shutil.which("sudo") is None:
        return Sudo.NO
    tried = subprocess.run(
        ["sudo", "-n", "true"],  # noqa: S607 - the sudo of the person
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if tried.returncode == 0:
        return Sudo.FREE
    return Sudo.ASKS if sys.stdin.isatty() else Sudo.NO


def caller(environ: Mapping[str, str]) -> pwd.struct_passwd | None:
    """The person who ran `sudo make up` or `sudo gpuaas up`; None in a session of root, also one that sudo opened."""
    uid, command = environ.get("SUDO_UID", ""), environ.get("SUDO_COMMAND", "").split(maxsplit=1)
    if not uid.isdecimal() or uid == "0" or not command or Path(command[0]).name not in STARTED_BY_SUDO:
        return None
    try:
        return pwd.getpwuid(int(uid))
    except KeyError:
        return None


def owner(data: Path) -> pwd.struct_passwd | None:
    """The owner of the platform in this folder; None without a platform, or if it belongs to root."""
    try:
        return pwd.getpwuid(uid) if (uid := (data / "up.json").stat().st_uid) else None
    except (OSError, KeyError):
        return None


def data_folder_of(user: pwd.struct_passwd, data: Path | None, *, system: Path = SYSTEM_FOLDER) -> Path | None:
    """The data folder of this user; None if it belongs to root, who then runs everything."""
    folder = data or Path(user.pw_dir) / ".local/share/gpuaas"
    if data is None and (system / "up.json").exists():
        return None
    return None if folder.exists() and folder.stat().st_uid != user.pw_uid else folder


def can_run_us(user: pwd.struct_passwd) -> bool:
    """Whether this user can read the program, which may be in root's home."""
    return runs(Path(sys.executable), Owner(user.pw_name, user.pw_uid, user.pw_gid), "-P", "-c", "import gpuaas.wire")


def become(user: pwd.struct_passwd) -> None:
    """Become this user permanently. The environment is that of the person's own session."""
    os.initgroups(user.pw_name, user.pw_gid)
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1)  # otherwise /proc/self stays root's
    os.environ.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name)
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)  # of root's session, and of the Makefile for root
