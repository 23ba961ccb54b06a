"""Getting in: the exact words given to OpenSSH, and the host key it will insist on."""

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gpuaas.cli.openssh import known_hosts_file, remember_host_keys
from gpuaas.wire.allocations import Status
from tests.cli.conftest import Terminal
from tests.sdk import samples
from tests.sdk.fake_api import Answer, FakeApi, page, problem

LIST = f"/projects/{samples.PROJECT}/allocations"


@pytest.fixture
def one(api: FakeApi) -> FakeApi:
    api.on("GET", LIST, page(samples.allocation()))
    return api


def test_ssh_becomes_openssh_with_the_key_the_api_vouches_for(terminal: Terminal, one: FakeApi) -> None:
    assert terminal.run("ssh", "train-a", "-L", "8888:localhost:8888", "--", "nvidia-smi", "-L").code == 0
    file = known_hosts_file(terminal.process)
    assert terminal.became == [
        [
            "ssh",
            *("-o", f"HostKeyAlias={samples.ALLOCATION}"),
            *("-o", f"UserKnownHostsFile={file}"),
            *("-o", "StrictHostKeyChecking=yes"),
            *("-o", "UpdateHostKeys=no"),
            *("-L", "8888:localhost:8888"),
            *("-p", "20001", "-l", "ada", "--", "127.0.0.1"),
            *("nvidia-smi", "-L"),
        ]
    ]
    assert file.read_text() == f"{samples.ALLOCATION} {samples.HOST_KEY}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_print_shows_the_command_and_runs_nothing(terminal: Terminal, one: FakeApi) -> None:
    ran = terminal.run("ssh", "train-a", "--print", "-i", "my key")
    assert (ran.code, terminal.became) == (0, [])
    words = shlex.split(ran.out)
    assert words[0] == "ssh"
    assert words[words.index("-i") + 1] == "my key"


@pytest.mark.parametrize("changes", [{"status": Status.PROVISIONING, "connection": None}, {"status": Status.RELEASED}])
def test_there_is_no_way_into_what_is_not_active(terminal: Terminal, api: FakeApi, changes: dict[str, object]) -> None:
    api.on("GET", LIST, page(samples.allocation(**changes)))
    ran = terminal.run("ssh", "train-a")
    assert (ran.code, terminal.became) == (5, [])
    assert str(changes["status"]) in ran.err


def test_a_host_key_is_kept_per_allocation_and_replaced(terminal: Terminal) -> None:
    first, second = samples.allocation(), samples.allocation(id=samples.id_of("alloc", 2))
    for seen in ([first], [second], [first, second], []):
        remember_host_keys(terminal.process, seen)
    lines = known_hosts_file(terminal.process).read_text().splitlines()
    assert [line.split()[0] for line in lines] == [first.id, second.id]


def test_ssh_config_lists_every_active_allocation_and_openssh_agrees(
    terminal: Terminal, api: FakeApi, tmp_path: Path
) -> None:
    two = samples.allocation(name="train-b", id=samples.id_of("alloc", 2))
    api.on("GET", LIST, page(samples.allocation(), two))
    ran = terminal.run("ssh-config")
    assert api.seen[-1].query == {"status": "active"}
    file = tmp_path / "ssh.conf"
    file.write_text(ran.out)
    read = subprocess.run(["ssh", "-G", "-F", file, "train-b"], capture_output=True, text=True, check=True).stdout
    understood = dict(line.split(" ", 1) for line in read.splitlines())
    assert (understood["hostname"], understood["port"], understood["user"]) == ("127.0.0.1", "20001", "ada")
    assert (understood["hostkeyalias"], understood["stricthostkeychecking"]) == (two.id, "true")
    assert understood["userknownhostsfile"] == str(known_hosts_file(terminal.process))


def test_a_config_folder_with_spaces_reaches_openssh_whole(terminal: Terminal, one: FakeApi, tmp_path: Path) -> None:
    spaced = tmp_path / "my config" / "config.toml"
    terminal.environ["GPUAAS_CONFIG"] = str(spaced)
    terminal.sign_in(one.url)
    terminal.run("ssh", "train-a")
    words = [*terminal.became[0]]
    read = subprocess.run([words[0], "-G", *words[1:]], capture_output=True, text=True, check=True).stdout
    assert f"userknownhostsfile {spaced.parent / 'known_hosts'}\n" in read


def test_the_real_process_is_given_away(terminal: Terminal, one: FakeApi, tmp_path: Path) -> None:
    stand_in = tmp_path / "bin" / "ssh"
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 42\n')
    stand_in.chmod(0o755)
    environ = {**terminal.environ, "PATH": f"{stand_in.parent}{os.pathsep}{os.defpath}"}
    line = [sys.executable, "-c", "from gpuaas.main.cli import main; main()", "ssh", "train-a", "--", "true"]
    done = subprocess.run(line, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (42, ["127.0.0.1", "true"])


def test_keys_are_added_from_a_file_named_after_their_comment(terminal: Terminal, api: FakeApi) -> None:
    folder = terminal.home / ".ssh"
    folder.mkdir()
    (folder / "id_ed25519.pub").write_text("ssh-ed25519 AAAA ada at home\n")
    api.on("POST", "/ssh-keys", Answer(samples.ssh_key(), 201))
    assert terminal.run("ssh-keys", "add").code == 0
    assert api.seen[-1].body == {"title": "ada at home", "public_key": "ssh-ed25519 AAAA ada at home"}
    assert terminal.run("ssh-keys", "add", "-", stdin="ssh-ed25519 BBBB\n").code == 0
    assert api.seen[-1].body == {"title": "desk", "public_key": "ssh-ed25519 BBBB"}


def test_without_a_key_file_one_learns_how_to_make_one(terminal: Terminal, api: FakeApi) -> None:
    ran = terminal.run("ssh-keys", "add")
    assert (ran.code, api.seen) == (1, [])
    assert "ssh-keygen -t ed25519" in ran.err


def test_a_private_key_is_never_sent(terminal: Terminal, api: FakeApi, tmp_path: Path) -> None:
    private = tmp_path / "id_ed25519"
    private.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n")
    ran = terminal.run("ssh-keys", "add", str(private))
    assert (ran.code, api.seen) == (1, [])
    assert "secret" not in ran.err


def test_keys_are_removed_by_title(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", "/ssh-keys", page(samples.ssh_key("laptop", 1), samples.ssh_key("desk", 2)))
    api.on("DELETE", f"/ssh-keys/{samples.id_of('key', 2)}", Answer(status=204))
    assert terminal.run("ssh-keys", "remove", "desk").code == 1
    assert terminal.run("ssh-keys", "remove", "desk", "--yes").code == 0
    assert api.seen[-1].method == "DELETE"


def test_an_api_that_refuses_the_list_is_told(terminal: Terminal, api: FakeApi) -> None:
    api.on("GET", LIST, problem(403, "insufficient_permissions"))
    assert terminal.run("ssh-config").code == 3
