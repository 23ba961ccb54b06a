"""Plain OpenSSH clients against a real environment: what works with a sshd works here."""

import hashlib
import os
import signal
from pathlib import Path

import pytest

from gpuaas.gateway import kernel
from tests.gateway.node import Node, run


async def test_a_command_runs_inside_as_the_holder(node: Node) -> None:
    code, out, _ = await node.ssh("id -u; hostname; id -Gn; pwd; echo $EXAMPLE; echo $USER $HOME $SHELL")
    wanted = ["1000", "container", "ada example", "/home/ada", "of the platform", "ada /home/ada /bin/bash"]
    assert (code, out.splitlines()) == (0, wanted)


async def test_output_and_errors_stay_apart(node: Node) -> None:
    assert await node.ssh("echo out; echo error >&2") == (0, "out\n", "error\n")


@pytest.mark.parametrize("code", [0, 42, 255])
async def test_exit_codes_come_back(node: Node, code: int) -> None:
    assert (await node.ssh(f"exit {code}"))[0] == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGRTMAX])
async def test_a_shell_that_a_signal_ends_exits_with_128_and_its_number(node: Node, number: int) -> None:
    assert (await node.ssh(f"kill -{int(number)} $$"))[0] == 128 + number


async def test_standard_input_reaches_the_command(node: Node) -> None:
    data = os.urandom(300_000)
    code, out, _ = await node.ssh("sha256sum", stdin=data)
    assert (code, out.split()[0]) == (0, hashlib.sha256(data).hexdigest())


async def test_a_long_command_line_arrives_whole(node: Node) -> None:
    code, out, _ = await node.ssh(f"echo {'x' * 100_000} | wc -c")
    assert (code, out.strip()) == (0, "100001")


async def test_a_login_shell_has_a_terminal_of_the_environment(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.say("tty; shopt -q login_shell && echo a login $((1 + 1)) shell; exit 3\n")
        code, shown = await live.end()
    assert code == 3
    assert "/dev/pts/" in shown
    assert "a login 2 shell" in shown


async def test_the_size_of_the_window_reaches_the_terminal_and_so_do_its_changes(node: Node) -> None:
    async with node.on_terminal() as terminal:
        os.write(terminal.descriptor, b"stty size; echo $((20 + 3)) ready\n")
        await terminal.see("24 80")
        await terminal.see("23 ready")
        kernel.resize_terminal(terminal.descriptor, 40, 132)
        os.write(terminal.descriptor, b"until [ \"$(stty size)\" = '40 132' ]; do :; done; echo $((20 + 4)) changed\n")
        await terminal.see("24 changed")


async def test_interrupting_on_a_terminal_ends_the_command_and_not_the_shell(node: Node) -> None:
    async with node.on_terminal() as terminal:
        os.write(terminal.descriptor, b"sh -c 'echo $((30 + 1)) begins; exec sleep 1000'\n")
        await terminal.see("31 begins")
        os.write(terminal.descriptor, b"\x03")
        await terminal.see("^C")
        os.write(terminal.descriptor, b"echo $((30 + 2)) goes on\n")
        await terminal.see("32 goes on")


async def test_sudo_works(node: Node) -> None:
    assert (await node.ssh("sudo id -u"))[1] == "0\n"


async def test_only_named_variables_are_passed(node: Node) -> None:
    option = "SetEnv=LC_EXAMPLE=german LD_PRELOAD=/tmp/evil.so COLORTERM=truecolor"
    out = (await node.ssh("echo $LC_EXAMPLE,$LD_PRELOAD,$COLORTERM", "-o", option))[1]
    assert out == "german,,truecolor\n"


def scp_words(node: Node, *options: str) -> list[str]:
    return ["scp", *node.options(), "-q", "-P", str(node.port), *options]


@pytest.mark.parametrize("protocol", ["-s", "-O"])
async def test_scp_copies_there_and_back(node: Node, tmp_path: Path, protocol: str) -> None:
    data = os.urandom(200_000)
    (tmp_path / "there").write_bytes(data)
    there = f"{node.target}:/home/ada/file{protocol}"
    assert (await run(*scp_words(node, protocol, str(tmp_path / "there"), there)))[0] == 0
    assert (await run(*scp_words(node, protocol, there, str(tmp_path / "back"))))[0] == 0
    assert (tmp_path / "back").read_bytes() == data


async def test_sftp_lists_and_changes_files(node: Node, tmp_path: Path) -> None:
    (tmp_path / "local").write_text("by sftp")
    put = f"put {tmp_path / 'local'} sftp-folder/a"
    orders = f"mkdir sftp-folder\n{put}\nrename sftp-folder/a sftp-folder/b\nls sftp-folder\n"
    words = ["sftp", *node.options(), "-q", "-P", str(node.port), "-b", "-", node.target]
    code, out, error = await run(*words, stdin=orders.encode())
    assert code == 0, error
    assert "sftp-folder/b" in out
    assert (await node.ssh("cat sftp-folder/b; stat -c %U sftp-folder/b"))[1] == "by sftpada\n"


async def test_rsync_copies_a_tree(node: Node, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("one", "two/three"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    shell = " ".join(node.ssh_words())
    code, _, error = await run("rsync", "-a", "-e", shell, f"{source}/", f"{node.target}:/home/ada/tree/")
    assert code == 0, error
    assert (await node.ssh("cat tree/one tree/two/three"))[1] == "onetwo/three"
