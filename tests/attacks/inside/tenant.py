"""A tenant who looks for traces of others and then leaves traces of each kind. Runs inside; standard library only.

`python3 tenant.py <name>` prints JSON: what it found of other tenants by kind, and which kinds its own traces are seen
in afterwards. A tenant's traces carry its name, `tenant<number>x`.
"""

import contextlib
import ctypes
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

NAME = re.compile(rb"tenant\d+x")
PORT = 7777
SHARED, VOLUME = "/dev/shm", "/data"  # noqa: S108 (of the environment)
SYSTEM = ("/", "/opt", "/usr/local/bin", "/var/lib")
NUMBER = re.compile(r"\d+")
DAEMON = """
import os, socket, sys
name = sys.argv[1]
hidden = socket.socket(socket.AF_UNIX); hidden.bind("\\0" + name); hidden.listen()
shown = socket.socket(socket.AF_UNIX); shown.bind("/run/" + name + ".sock"); shown.listen()
server = socket.create_server(("", 7777))
print(1, flush=True)
while True:
    link = server.accept()[0]; link.sendall(name.encode()); link.close()
"""
Looked = Callable[[], bytes]
KINDS: dict[str, tuple[Callable[[str], object], Looked]] = {}


def run(*words: str, text: str = "") -> bytes:
    return subprocess.run(words, input=text.encode(), capture_output=True, check=False).stdout


def names(*folders: str) -> Looked:
    return lambda: "\n".join(path.name for folder in folders for path in Path(folder).glob("*")).encode()


def texts(*patterns: str) -> Looked:
    """Whatever can be read of these files."""

    def look() -> bytes:
        found = b""
        for pattern in patterns:
            for path in Path("/").glob(pattern.lstrip("/")):
                with contextlib.suppress(OSError):
                    if path.is_file():
                        found += path.read_bytes()
        return found

    return look


def writes(*folders: str) -> Callable[[str], None]:
    def plant(name: str) -> None:
        for folder in folders:
            Path(folder).mkdir(exist_ok=True)
            Path(folder, name).write_text(name)

    return plant


def appends(path: str) -> Callable[[str], None]:
    def plant(name: str) -> None:
        Path(path).parent.mkdir(exist_ok=True)
        with Path(path).open("a") as file:
            file.write(f"# {name}\n")

    return plant


def nothing(name: str) -> None:
    """Its name is there without its doing."""


def start_daemon(name: str) -> None:
    leave(sys.executable, "-c", DAEMON, name)


def leave(*words: str) -> None:
    """A process in a session of its own, once it has said that it is ready; it holds nothing of ours open."""
    quiet, said = subprocess.DEVNULL, subprocess.PIPE
    process = subprocess.Popen(words, stdin=quiet, stdout=said, stderr=quiet, start_new_session=True)
    if process.stdout is None or process.stdout.readline() != b"1\n":
        raise RuntimeError(f"{words[0]} did not start")


def greeting() -> bytes:
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=5) as link:
            return link.recv(100)
    except OSError:
        return b""


def install(name: str) -> None:
    folder = Path("/var/tmp/package/DEBIAN")  # noqa: S108 (of the environment)
    folder.mkdir(parents=True)
    about = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: {name} <a@b>\nDescription: {name}\n"
    (folder / "control").write_text(about)
    built = folder.parent.with_name(f"{name}.deb")
    run("dpkg-deb", "--build", str(folder.parent), str(built))
    run("dpkg", "--install", str(built))


def make_objects(name: str) -> None:
    """System V shared memory, semaphores and messages; the key says whose they are."""
    libc = ctypes.CDLL(None)
    key = 0x7E000000 + number_of(name)
    libc.shmget(key, 4096, 0o1666)
    libc.semget(key, 1, 0o1666)
    libc.msgget(key, 0o1666)


def objects() -> bytes:
    found = []
    for kind in ("shm", "sem", "msg"):
        for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]:
            key = int(line.split()[0])
            if key >> 24 == 0x7E:
                found.append(f"tenant{key & 0xFFFFFF}x")
    return " ".join(found).encode()


def number_of(name: str) -> int:
    found = NUMBER.search(name)
    return int(found[0]) if found else 0


def hold_mount(name: str) -> None:
    """In a mount namespace that only a process left behind holds."""
    script = f"mount -t tmpfs {name} /mnt && echo 1 && exec sleep 100000"
    leave("unshare", "--mount", "sh", "-c", script)


def mounts() -> bytes:
    return texts("/proc/[0-9]*/mountinfo")()


def processes() -> bytes:
    own = {os.getpid(), os.getppid()}
    lines = [path for path in Path("/proc").glob("[0-9]*/cmdline") if int(path.parent.name) not in own]
    return b"\n".join(line for line in (texts(str(path))() for path in lines) if b"tenant.py" not in line)


KINDS["files of the system"] = writes(*SYSTEM), names(*SYSTEM)
KINDS["files of people"] = writes("/home", "/root", "/home/ada"), names("/home", "/root", "/home/ada")
KINDS["temporary files"] = writes("/tmp", "/var/tmp"), names("/tmp", "/var/tmp")  # noqa: S108 (of the environment)
KINDS["shared memory"] = writes(SHARED), names(SHARED)
KINDS["runtime files"] = writes("/run", "/dev"), names("/run", "/dev")
KINDS["message queues"] = lambda name: Path("/dev/mqueue", name).touch(), names("/dev/mqueue")
KINDS["System V objects"] = make_objects, objects
KINDS["users"] = lambda name: run("useradd", "--system", name), texts("/etc/passwd", "/etc/group", "/etc/shadow")
KINDS["packages"] = install, lambda: run("dpkg-query", "--list")
KINDS["services"] = writes("/etc/systemd/system", "/etc/init.d"), names("/etc/systemd/system", "/etc/init.d")
KINDS["scheduled jobs"] = writes("/etc/cron.d", "/var/spool/cron"), names("/etc/cron.d", "/var/spool/cron")
KINDS["processes"] = start_daemon, processes
KINDS["unix sockets"] = nothing, texts("/proc/net/unix")
KINDS["ports"] = nothing, greeting
KINDS["network configuration"] = appends("/etc/hosts"), texts("/etc/hosts", "/etc/resolv.conf", "/etc/hostname")
KINDS["SSH files"] = appends("/home/ada/.ssh/known_hosts"), texts("/home/ada/.ssh/*", "/root/.ssh/*", "/etc/ssh/*")
KINDS["shell set-up"] = appends("/etc/environment"), texts("/etc/environment", "/etc/profile.d/*", "/home/ada/.*")
KINDS["logs"] = writes("/var/log"), texts("/var/log/*")
KINDS["variables"] = nothing, texts("/proc/[0-9]*/environ")
KINDS["facts and runtime descriptor"] = nothing, texts("/etc/gpuaas/*", "/opt/gpuaas/runtimes/*")
KINDS["host name"] = nothing, lambda: socket.gethostname().encode()
KINDS["volumes"] = writes(VOLUME), names(VOLUME)
SYSTEMD_KINDS: dict[str, tuple[Callable[[str], object], Looked]] = {
    "mounts in a namespace": (hold_mount, mounts),
    "control groups": (lambda name: Path("/sys/fs/cgroup", name).mkdir(), names("/sys/fs/cgroup")),
    "interfaces": (
        lambda name: run("ip", "link", "set", "eth0", "alias", name),
        lambda: run("ip", "-details", "link", "show"),
    ),
    "running services": (
        lambda name: run("systemd-run", f"--unit={name}", "sleep", "100000"),
        lambda: run("systemctl", "list-units", "--all", "--plain", "--no-legend"),
    ),
}


def others_than(name: str, kinds: dict[str, tuple[Callable[[str], object], Looked]]) -> dict[str, list[str]]:
    found = {kind: {word.decode() for word in NAME.findall(look())} - {name} for kind, (_, look) in kinds.items()}
    return {kind: sorted(words) for kind, words in found.items() if words}


def main() -> None:
    name = sys.argv[1]
    kinds = {**KINDS, **(SYSTEMD_KINDS if Path("/run/systemd/system").exists() else {})}
    others = others_than(name, kinds)
    if sys.argv[2:] == ["look"]:
        sys.stdout.write(json.dumps(others))
        return
    for plant, _ in kinds.values():
        plant(name)
    seen = [kind for kind, (_, look) in kinds.items() if name.encode() in NAME.findall(look())]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.sendto(name.encode(), ("198.51.100.2", 9))  # a flow that the node tracks
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    sys.stdout.write(
        json.dumps({"others": others, "seen": seen, "unseen": sorted(set(kinds) - set(seen)), "up": uptime})
    )


if __name__ == "__main__":
    main()
