"""As whom the parts of `gpuaas up` run, and what ends the root process."""

import asyncio
import os
import pwd
import signal
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpuaas.cli.complaints import Complaint
from gpuaas.engines.oci import requirements
from gpuaas.main import up, up_file
from gpuaas.main.engine_kinds import EngineKind
from gpuaas.main.privileges import AgentUser, Plan, Situation, Sudo, caller, data_folder_of, plan
from gpuaas.main.root_messages import Begin
from gpuaas.main.root_side import RootSide, passed_on, spawn
from gpuaas.main.up_file import UpFile
from tests.agent.world import NODE_ID, enrolled
from tests.patience import PATIENCE_SECONDS

OCI, FAKE = EngineKind.OCI, EngineKind.FAKE
LACKS = ("the program conmon",)
PERSON = next((each for each in pwd.getpwall() if each.pw_uid not in (0, os.geteuid())), None)

CHOSEN = {
    "root": (Situation(is_root=True), OCI, AgentUser.OURSELVES),
    "root of a machine that lacks something": (Situation(is_root=True, lacks=LACKS), FAKE, AgentUser.OURSELVES),
    "somebody without sudo": (Situation(is_root=False), FAKE, AgentUser.OURSELVES),
    "somebody whom sudo asks for nothing": (Situation(is_root=False, sudo=Sudo.FREE), OCI, AgentUser.ROOT),
    "somebody whom sudo asks for a password": (Situation(is_root=False, sudo=Sudo.ASKS), OCI, AgentUser.ROOT),
    "sudo on a machine that lacks something": (
        Situation(is_root=False, sudo=Sudo.FREE, lacks=LACKS),
        FAKE,
        AgentUser.OURSELVES,
    ),
    "sudo make up": (Situation(is_root=False, has_root_process=True), OCI, AgentUser.ROOT),
    "the fake engine was asked for": (Situation(is_root=False, sudo=Sudo.FREE, asked=FAKE), FAKE, AgentUser.OURSELVES),
    "the fake engine before, root now": (Situation(is_root=True, before=FAKE), FAKE, AgentUser.OURSELVES),
    "real environments, and something was lost": (
        Situation(is_root=True, before=OCI, lacks=LACKS),
        OCI,
        AgentUser.OURSELVES,
    ),
    "real environments of somebody with sudo, and something was lost": (
        Situation(is_root=False, sudo=Sudo.ASKS, before=OCI, lacks=LACKS),
        OCI,
        AgentUser.ROOT,
    ),
    "the oci engine was asked for without root": (Situation(is_root=False, asked=OCI), OCI, AgentUser.OURSELVES),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_who_starts_it_decides_about_the_engine_and_the_user_of_the_agent(case: str) -> None:
    situation, engine, agent = CHOSEN[case]
    chosen = plan(situation)
    assert (chosen.engine, chosen.agent) == (engine, agent)


def test_what_is_missing_is_told_and_the_fake_engine_is_named() -> None:
    fake = " ".join(plan(Situation(is_root=False, lacks=LACKS)).words)
    assert ("Missing: root, the program conmon" in fake, "the fake engine" in fake) == (True, True)
    kept = plan(Situation(is_root=True, before=OCI, lacks=LACKS))
    assert kept.words == ("The node offers no capacity. Missing: the program conmon.",)
    assert plan(Situation(is_root=True)) == Plan(OCI, AgentUser.OURSELVES)


@pytest.mark.parametrize(
    "situation",
    [
        Situation(is_root=True, before=OCI, asked=FAKE),
        Situation(is_root=True, before=FAKE, asked=OCI),
        Situation(is_root=False, before=OCI),
        Situation(is_root=False, before=OCI, asked=OCI),
    ],
)
def test_a_node_never_gets_an_engine_that_does_not_know_its_environments(situation: Situation) -> None:
    """The twin of each was chosen above: the same without a node before it starts."""
    with pytest.raises(Complaint) as refused:
        plan(situation)
    assert "--data" in refused.value.next_step


def test_the_engine_before_is_read_from_the_folder(tmp_path: Path) -> None:
    assert up.engine_before(tmp_path) is None
    (tmp_path / "agent" / "oci").mkdir(parents=True)  # of a release that did not write it down
    assert up.engine_before(tmp_path) is OCI
    up_file.write(tmp_path / "up.json", UpFile(url="http://a", users=[], engine="fake"))
    assert up.engine_before(tmp_path) is FAKE


@pytest.mark.skipif(PERSON is None, reason="no other user is known here")
@pytest.mark.parametrize(
    ("command", "is_theirs"),
    [
        ("/usr/bin/make up", True),
        ("/home/ada/gpuaas/.venv/bin/gpuaas up --port 8081", True),
        ("/bin/bash", False),
        ("/usr/bin/systemctl restart gpuaas", False),
        ("", False),
    ],
)
def test_sudo_make_up_is_the_persons_and_a_shell_of_roots_is_roots(command: str, *, is_theirs: bool) -> None:
    assert PERSON is not None
    found = caller({"SUDO_UID": str(PERSON.pw_uid), "SUDO_COMMAND": command})
    assert (found == PERSON) is is_theirs


@pytest.mark.parametrize("uid", ["", "0", "-1", "4294967294", "root"])
def test_nobody_else_is_taken_for_the_person(uid: str) -> None:
    assert caller({"SUDO_UID": uid, "SUDO_COMMAND": "/usr/bin/make up"}) is None


def test_data_that_belongs_to_root_stays_roots(tmp_path: Path) -> None:
    me = pwd.getpwuid(os.geteuid())
    other = pwd.struct_passwd(("ada", "x", me.pw_uid + 1, me.pw_gid, "", str(tmp_path / "home"), "/bin/sh"))
    nothing, system = tmp_path / "none", tmp_path / "system"
    home = tmp_path / "home" / ".local/share/gpuaas"
    assert data_folder_of(other, None, system=nothing) == home
    assert data_folder_of(other, tmp_path / "new", system=nothing) == tmp_path / "new"
    assert data_folder_of(other, tmp_path, system=nothing) is None
    assert data_folder_of(me, tmp_path, system=nothing) == tmp_path
    system.mkdir()
    (system / "up.json").touch()  # a platform that `sudo make up` made before
    assert data_folder_of(other, None, system=system) is None


def test_what_sudo_removes_and_agents_read_is_passed_on() -> None:
    environ = {"GPUAAS_IMAGES": "/i", "PIP_INDEX_URL": "u", "HTTPS_PROXY": "p", "no_proxy": "n", "LD_PRELOAD": "x"}
    assert set(passed_on(environ)) == {"GPUAAS_IMAGES", "PIP_INDEX_URL", "HTTPS_PROXY", "no_proxy"}


def test_a_file_system_that_the_kernel_can_load_is_not_missing(tmp_path: Path) -> None:
    present, modules = tmp_path / "filesystems", tmp_path / "modules.dep"
    present.write_text("nodev\tproc\n\text4\n")
    assert requirements.missing_file_systems(present, modules) == ["the file system overlay"]
    modules.write_text("kernel/fs/overlayfs/overlay.ko.xz:\nkernel/fs/xfs/xfs.ko: kernel/lib/libcrc32c.ko\n")
    assert requirements.missing_file_systems(present, modules) == []
    present.write_text("nodev\toverlay\n")
    assert requirements.missing_file_systems(present, modules) == ["the file system ext4"]


async def prepared(tmp_path: Path) -> RootSide:
    """As whoever runs the tests: who it is makes no difference to how it is told."""
    enrolled(tmp_path, "http://127.0.0.1:1", Ed25519PrivateKey.generate())
    side = spawn(())
    begin = Begin(
        folder=tmp_path,
        url="http://127.0.0.1:2",
        gpus=1,
        shared_storage=tmp_path / "shared",
        log=tmp_path / "agent.log",
        environ=passed_on(os.environ),
    )

    async def no_token() -> str:
        raise AssertionError("it is enrolled")

    assert await side.prepare(begin, no_token) == NODE_ID
    assert "http://127.0.0.1:2" in (tmp_path / "node.json").read_text()
    return side


async def test_the_root_process_ends_when_it_is_told_to(tmp_path: Path) -> None:
    side = await prepared(tmp_path)
    await asyncio.wait_for(side.stop(), PATIENCE_SECONDS)
    assert side._process.returncode == 0


async def test_the_root_process_ends_with_its_supervisor_and_not_with_ctrl_c(tmp_path: Path) -> None:
    side = await prepared(tmp_path)
    side._process.send_signal(signal.SIGINT)
    side._process.send_signal(signal.SIGHUP)
    side.leave()  # as the kernel does for a supervisor that was killed
    assert await asyncio.wait_for(asyncio.to_thread(side._process.wait), PATIENCE_SECONDS) == 1
    await asyncio.wait_for(side.stop(), PATIENCE_SECONDS)  # what a supervisor does at its own end harms nobody


def test_a_root_process_that_sudo_refuses_is_noticed() -> None:
    assert not spawn(("false",)).wait_until_ready()
