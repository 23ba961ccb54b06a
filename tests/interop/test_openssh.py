"""OpenSSH with each of its options that people use."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gateway.node import free_port
from tests.interop import table
from tests.interop.people import Person

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("clients")]

UNIX_SERVER = """
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
while True:
    peer, _ = server.accept()
    peer.recv(4096)
    peer.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nby a socket")
    peer.close()
"""
READER = "curl --silent --show-error --fail --retry 20 --retry-all-errors --retry-delay 1"


def works(what: str, result: str = "works") -> None:
    version = subprocess.run(["ssh", "-V"], capture_output=True, text=True, check=True).stderr
    table.record("OpenSSH `ssh`", re.split(r"[ ,]", version)[0].removeprefix("OpenSSH_"), what, result)


@contextmanager
def page_inside(plain: Person, port: int) -> Iterator[None]:
    plain.inside("mkdir -p web && echo a page inside > web/page")
    with plain.server_inside(f"python3 -m http.server {port} --bind 127.0.0.1 --directory web"):
        yield


@contextmanager
def page_here(plain: Person) -> Iterator[int]:
    port, folder = free_port(), plain.folder / "web"
    folder.mkdir(exist_ok=True)
    (folder / "page").write_text("a page here\n")
    with plain.meanwhile("python3", "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)):
        plain.page(f"http://127.0.0.1:{port}/page")
        yield port


def test_commands_and_terminals(plain: Person) -> None:
    done = plain.ssh("echo out; echo error >&2; exit 42")
    assert (done.code, done.out, done.err) == (42, "out\n", "error\n")
    works("command, output, exit code")
    assert plain.inside(f"echo {'x' * 120_000} | wc -c") == "120001"
    works("command of 120,000 characters")
    assert "/dev/pts/" in plain.inside("tty", "-tt")
    works("`-t`, `-tt`")
    done = plain.run(*plain.ssh_words("-tt"), plain.name, text="echo $((40 + 2)) is seen\nexit 3\n")
    assert done.code == 3
    assert "42 is seen" in done.out
    works("login shell")


def test_variables(plain: Person) -> None:
    show = "echo $LC_EXAMPLE,$LD_PRELOAD,$SECRET"
    assert plain.inside(show, "-o", "SetEnv=LC_EXAMPLE=set LD_PRELOAD=/tmp/x SECRET=x") == "set,,"
    words = plain.ssh_words("-o", "SendEnv=LC_EXAMPLE SECRET")
    assert plain.says(*words, plain.name, show, LC_EXAMPLE="sent", SECRET="x") == "sent,,"
    works("`SendEnv`, `SetEnv`", "works for `LANG`, `LANGUAGE`, `LC_*`, `COLORTERM`, `NO_COLOR`; others are ignored")


def test_local_forwards(plain: Person) -> None:
    with page_inside(plain, 4001):
        with plain.forward("127.0.0.1:4001") as port:
            assert plain.page(f"http://127.0.0.1:{port}/page") == "a page inside\n"
        works("`-L` port")
        path = plain.folder / "local.sock"
        with plain.meanwhile(*plain.ssh_words("-N", "-L", f"{path}:127.0.0.1:4001"), plain.name):
            assert plain.page("http://inside/page", "--unix-socket", str(path)) == "a page inside\n"
        works("`-L` unix socket here")
    with plain.server_inside("python3 -c '" + UNIX_SERVER + "' /home/ada/inside.sock"):
        with plain.forward("/home/ada/inside.sock") as port:
            assert plain.page(f"http://127.0.0.1:{port}/", "--http0.9") == "by a socket"
        works("`-L` unix socket inside")


def test_dynamic_forwards(plain: Person) -> None:
    with page_inside(plain, 4002):
        port = free_port()
        with plain.meanwhile(*plain.ssh_words("-N", "-D", f"127.0.0.1:{port}"), plain.name):
            proxy = f"socks5h://127.0.0.1:{port}"
            assert plain.page("http://127.0.0.1:4002/page", "--proxy", proxy) == "a page inside\n"
        works("`-D` (SOCKS)")
        done = plain.run(*plain.ssh_words("-W", "127.0.0.1:4002"), plain.name, text="GET /page HTTP/1.0\r\n\r\n")
        assert "a page inside" in done.out, done
        works("`-W`")


def test_remote_forwards(plain: Person) -> None:
    with page_here(plain) as port:
        found = plain.inside(f"{READER} http://127.0.0.1:4003/page", "-R", f"127.0.0.1:4003:127.0.0.1:{port}")
        assert found == "a page here"
        works("`-R` port")
        path = "/home/ada/remote.sock"
        command = f"{READER} --unix-socket {path} http://here/page; stat -c %F {path}"
        assert plain.inside(command, "-R", f"{path}:127.0.0.1:{port}") == "a page here\nsocket"
        works("`-R` unix socket inside")
        command = f"{READER} --proxy socks5h://127.0.0.1:4004 http://127.0.0.1:{port}/page"
        assert plain.inside(command, "-R", "127.0.0.1:4004") == "a page here"
        works("`-R` without a target (SOCKS)")
    path = str(plain.folder / "here.sock")
    with plain.meanwhile("python3", "-c", UNIX_SERVER, path):
        found = plain.inside(f"{READER} --http0.9 http://127.0.0.1:4005/", "-R", f"127.0.0.1:4005:{path}")
        assert found == "by a socket"
        works("`-R` unix socket here")
    command = "ss -Hltn sport = 4006"
    assert "127.0.0.1:4006" in plain.inside(command, "-R", "0.0.0.0:4006:127.0.0.1:1")
    works("`-R` on all addresses", "listens on 127.0.0.1 inside only (`GatewayPorts no`)")


def test_agent_forwarding(plain: Person) -> None:
    path = str(plain.folder / "agent")
    with plain.meanwhile("ssh-agent", "-D", "-a", path):
        while not Path(path).exists():
            time.sleep(0.05)
        plain.says("ssh-add", "-q", str(plain.folder / "key"), SSH_AUTH_SOCK=path)
        own = plain.says("ssh-add", "-L", SSH_AUTH_SOCK=path).split()[1]
        words = [*plain.ssh_words("-A"), plain.name, "ssh-add -L; stat -c %U $SSH_AUTH_SOCK"]
        found = plain.says(*words, SSH_AUTH_SOCK=path)
        assert own in found
        assert found.endswith("ada")
    works("`-A`")


def test_jumps(plain: Person) -> None:
    """To a sshd that the holder runs inside, on a port of its own: the environment is the jump host."""
    public = plain.says("ssh-keygen", "-y", "-f", str(plain.folder / "key"))
    plain.inside(
        f"mkdir -p own && echo '{public}' > own/keys && chmod 700 own && cd own && rm -f host* &&"
        " ssh-keygen -q -t ed25519 -N '' -f host"
    )
    host = plain.inside("cat own/host.pub")
    with (plain.folder / "known_hosts").open("a") as known:
        known.write(f"behind {' '.join(host.split()[:2])}\n")
    options = "-o UsePAM=no -o StrictModes=no -o PidFile=none -o AuthorizedKeysFile=/home/ada/own/keys"
    server = f"/usr/sbin/sshd -D -f /dev/null -p 4022 -h /home/ada/own/host -o ListenAddress=127.0.0.1 {options}"
    with plain.server_inside(server):
        plain.inside("until ss -Hltn sport = 4022 | grep -q .; do sleep 0.1; done")
        jump = ["-J", plain.name, "-p", "4022", "-o", "HostKeyAlias=behind", "-i", str(plain.folder / "key")]
        more = ["-o", f"UserKnownHostsFile={plain.folder}/known_hosts"]
        assert plain.says(*plain.ssh_words(*jump, *more), "ada@127.0.0.1", "echo behind") == "behind"
    works("`-J` through an environment")


def test_shared_connections(plain: Person) -> None:
    path = plain.folder / "c"
    sharing = ("-o", f"ControlPath={path}")
    with plain.meanwhile(*plain.ssh_words("-M", "-N", *sharing), plain.name):
        while not path.exists():
            time.sleep(0.05)
        sources = {plain.inside("echo $SSH_CONNECTION", *sharing) for _ in range(5)}
        assert len(sources) == 1
        with page_here(plain) as port:
            words = plain.ssh_words(*sharing, "-O", "forward", "-R", f"127.0.0.1:4007:127.0.0.1:{port}")
            plain.says(*words, plain.name)
            assert plain.inside(f"{READER} http://127.0.0.1:4007/page", *sharing) == "a page here"
        plain.says(*plain.ssh_words(*sharing, "-O", "exit"), plain.name)
    works("`ControlMaster`, `ControlPath`, `-O forward`, `-O exit`")


def test_compression_and_keep_alive(plain: Person) -> None:
    data = os.urandom(50_000).hex() * 3
    assert plain.inside("wc -c", "-C", text=data) == str(len(data))
    works("`-C`")
    idle = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1")
    assert plain.inside("sleep 4; echo still here", *idle) == "still here"
    works("`ServerAliveInterval`")


def test_what_is_refused(plain: Person) -> None:
    words = plain.ssh_words("-Y", "-o", "LogLevel=INFO", "-o", "ExitOnForwardFailure=no")
    done = plain.run(*words, plain.name, "echo [$DISPLAY]", DISPLAY=":99")
    assert (done.code, done.out) == (0, "[]\n")
    assert "X11 forwarding request failed" in done.err
    works("`-X`, `-Y` (X11)", "refused; the session goes on")
    done = plain.run(*plain.ssh_words("-o", "BatchMode=yes", "-l", "root"), plain.name, "true")
    assert (done.code, "Permission denied" in done.err) == (255, True)
    works("`root@`", "refused; `sudo` inside needs no password")
