"""A guest who is root inside and wants out, or wants to be somebody else: the gateway is not harmed."""

import asyncio
import os
from pathlib import Path

import pytest

from gpuaas.engines.node import processes
from tests.gateway.node import ALLOCATION, Node, run, until

RESTORE = """
rm -rf /home/ada/.ssh; rm -f /run/sshd; test -L /tmp && rm /tmp && mkdir -m 1777 /tmp
test -e /bin/bash.real && mv /bin/bash.real /bin/bash; exit 0
"""


@pytest.fixture(autouse=True)
def restored(node: Node) -> None:
    node.container.run("sh", "-c", RESTORE)


def connection_processes(node: Node) -> list[int]:
    """Of every connection, as the node numbers them: sshd and what it started outside the environment."""
    found = []
    for path in (node.root / "connections").iterdir():
        pid = int((path / "connection.json").read_text().split('"pid":')[1].split(",")[0])
        found += [other for other, _ in processes.in_pid_namespace_of(pid)]
    return found


async def test_root_inside_sees_no_process_of_the_connection(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        outside = connection_processes(node)
        assert len(outside) >= 3  # the red twin of the next line: they exist
        inside = node.container.run("ps", "-eo", "args")
        assert "sshd" not in inside
        assert "perl" not in inside
        assert all(processes.namespace(pid, "pid") != processes.namespace(node.container.pid, "pid") for pid in outside)


async def test_root_inside_can_neither_kill_nor_trace_beyond_the_environment(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        numbers = " ".join(str(pid) for pid in connection_processes(node))
        script = f"for pid in {numbers}; do kill -9 $pid 2>/dev/null && echo killed $pid; done; kill -0 1 && echo own"
        assert node.container.run("sh", "-c", script).split() == ["own"]
        await live.say("echo $((60 + 1)) alive\n")
        await live.see("61 alive")


async def test_the_platform_files_are_nowhere_inside(node: Node) -> None:
    async with node.session("-tt") as live:
        await live.see("$")
        found = node.container.run("sh", "-c", "ls -d /platform /proc/*/root/platform 2>/dev/null", check=False)
        assert found == ""
        (first, *_) = connection_processes(node)
        assert os.listdir(f"/proc/{first}/root/platform")  # noqa: PTH208 - through a magic link


@pytest.mark.parametrize(
    "trick",
    [
        "rm -rf /tmp && ln -s /platform /tmp",
        "rm -rf /run/sshd && ln -s /platform /run/sshd",
        "rm -rf /run/sshd && touch /run/sshd",
        "for file in /var/log/lastlog /var/log/wtmp /run/utmp; do ln -sfn /platform/host_key $file; done",
        "mv /home/ada /home/ada.real; ln -s / /home/ada",
        "cp /etc/passwd /etc/passwd.real; echo 'ada:x:99999999999:x:::' > /etc/passwd",
        "rm -f /etc/resolv.conf; mkfifo /etc/resolv.conf",
    ],
)
async def test_planted_files_do_not_stop_a_login_or_lead_anywhere(node: Node, trick: str) -> None:
    node.container.run("sh", "-c", trick)
    try:
        code, out, error = await node.ssh("echo inside; ls /platform")
        assert "inside" in out, error
        assert code != 0
        async with node.session("-tt") as live:
            await live.say("echo $((70 + 1)) terminal; exit\n")
            await live.see("71 terminal")
    finally:
        undo = "mv /home/ada.real /home/ada; mv /etc/passwd.real /etc/passwd"
        node.container.run("sh", "-c", f"test -L /home/ada && rm /home/ada; ({undo}) 2>/dev/null; {RESTORE}")
    assert (await node.ssh("exit 4"))[0] == 4


async def test_nothing_that_sshd_mounts_appears_inside(node: Node) -> None:
    """systemd shares its mounts: a mount on a copy of a shared one would appear inside too."""
    await run("nsenter", "-t", str(node.container.pid), "-U", "-m", "mount", "--make-rshared", "/")
    before = node.container.run("cat", "/proc/self/mountinfo")
    assert " shared:" in before
    async with node.session("-tt") as live:
        await live.see("$")
        (first, *_) = connection_processes(node)
        assert "/run/sshd" in (Path("/proc") / str(first) / "mountinfo").read_text()
        assert len(node.container.run("cat", "/proc/self/mountinfo").splitlines()) == len(before.splitlines())


async def test_a_linked_own_key_file_is_not_followed(node: Node) -> None:
    secret = node.keys.public("secret")
    node.container.run("sh", "-c", f"echo '{secret}' > /home/ada/keys; chown -R 1000:1000 /home/ada")
    node.container.run("sh", "-c", "mkdir -m 700 /home/ada/.ssh; chown 1000:1000 /home/ada/.ssh")
    node.container.run("ln", "-s", "../keys", "/home/ada/.ssh/authorized_keys", user=1000)
    assert (await node.set_keys(node.keys.authorized("holder"), admits_own=True)).own_keys == ()
    script = "cd /home/ada; rm .ssh/authorized_keys; cp keys .ssh/authorized_keys; chmod 600 .ssh/*"
    node.container.run("sh", "-c", script, user=1000)
    fingerprint = node.keys.authorized("secret").fingerprint
    assert (await node.gateway.sync(ALLOCATION)).own_keys == (fingerprint,)


async def test_a_replaced_shell_gets_no_rights_of_the_gateway(node: Node) -> None:
    """As /proc/self/exe it would be the interpreter of the node: it must be nobody, with nothing open."""
    evil = "#!/bin/dash\necho uid $(id -u) groups $(id -G); ls -l /proc/self/fd; exit 6\n"
    node.container.run(
        "sh", "-c", f"mv /bin/bash /bin/bash.real; printf '%b' '{evil}' > /bin/bash; chmod 755 /bin/bash"
    )
    code, out, _ = await node.ssh("anything")
    assert code == 6
    assert out.splitlines()[0] == "uid 1000 groups 1000 2000"
    opened = {line.split(" -> ")[1].split(":")[0] for line in out.splitlines() if " -> " in line}
    assert not {name for name in opened if name.startswith("/") and not name.startswith("/proc/")} - {
        "/bin/bash",
        "/usr/bin/bash",
    }
    node.container.run("sh", "-c", "rm /bin/bash; ln -s /proc/self/exe /bin/bash")
    code, out, _ = await node.ssh("import os; print(os.getuid())")
    assert code != 0
    assert (await node.gateway.status()).environments == 1


async def test_no_shell_at_all_is_one_line_and_a_code(node: Node) -> None:
    node.container.run("sh", "-c", "mv /bin/bash /bin/bash.real")
    code, out, _ = await node.ssh("echo by sh: $0")
    assert (code, out) == (0, "by sh: sh\n")


async def test_a_forward_to_the_session_socket_starts_nothing(node: Node) -> None:
    """The socket is in sshd's root, so a client can have sshd connect to it."""
    path = node.keys.folder / "s"
    async with node.session("-N", "-L", f"{path}:/platform/gateway/session.sock"):

        async def connected() -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
            try:
                return await asyncio.open_unix_connection(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                return None

        reader, writer = await until(connected)
        assert await reader.read() == b""
        writer.close()
    assert (await node.ssh("exit 2"))[0] == 2


REPLACE = """perl -e 'for (;;) { open(my $f, ">", "/etc/hosts.new"); print $f "127.0.0.1 localhost\\n"; close $f;
rename "/etc/hosts.new", "/etc/hosts" }' >/dev/null 2>&1 & echo $!"""


async def test_a_file_that_is_replaced_all_the_time_keeps_nobody_out(node: Node) -> None:
    pid = node.container.run("sh", "-c", REPLACE).strip()
    try:
        assert [await node.ssh("true") for _ in range(10)] == [(0, "", "")] * 10
    finally:
        node.container.run("kill", "-9", pid)
        node.container.run("sh", "-c", "printf '127.0.0.1 localhost\\n127.0.1.1 container\\n' > /etc/hosts")
