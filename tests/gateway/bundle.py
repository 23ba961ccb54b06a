"""A real environment for the tests of the SSH gateway: a container that runc makes from the base image.

Run as a program it enters a mount namespace of its own, so that the container's mounts end with the container.
"""

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ID_COUNT = 65_536
CAPABILITIES = {
    "CAP_CHOWN": 0,
    "CAP_DAC_OVERRIDE": 1,
    "CAP_FOWNER": 3,
    "CAP_FSETID": 4,
    "CAP_KILL": 5,
    "CAP_SETGID": 6,
    "CAP_SETUID": 7,
    "CAP_SETPCAP": 8,
    "CAP_NET_BIND_SERVICE": 10,
    "CAP_NET_RAW": 13,
    "CAP_SYS_CHROOT": 18,
    "CAP_SYS_PTRACE": 19,  # a guest that may trace: the gateway's processes must still be out of its reach
    "CAP_AUDIT_WRITE": 29,
}
NAMESPACES = ("pid", "ipc", "uts", "mount", "user", "network", "cgroup")
QUIET = ("nosuid", "noexec", "nodev")
MOUNTS = (
    ("/proc", "proc", QUIET),
    ("/dev", "tmpfs", ("nosuid", "mode=755", "size=16m")),
    ("/dev/pts", "devpts", ("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5")),
    ("/dev/shm", "tmpfs", (*QUIET, "mode=1777", "size=64m")),  # noqa: S108 - of the container
    ("/sys", "sysfs", (*QUIET, "ro")),
    ("/run", "tmpfs", ("nosuid", "nodev", "mode=755", "size=64m")),
)
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_REC_PRIVATE, MOUNT_ATTR_IDMAP, AT_EMPTY_PATH, AT_FDCWD = 0x44000, 0x100000, 0x1000, -100
libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Container:
    """A running container; `pid` is its first process as the node numbers it."""

    id: str
    pid: int
    folder: Path
    first_id: int

    def run(self, *command: str, user: int = 0, check: bool = True) -> str:
        """Run a command inside, as root there unless told otherwise."""
        words = ["runc", "--root", str(self.folder / "state"), "exec", "--user", str(user), self.id, *command]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        if check and done.returncode:
            raise AssertionError(f"{command}: {done.returncode} {done.stdout}{done.stderr}")
        return done.stdout

    def remove(self) -> None:
        command = ["runc", "--root", str(self.folder / "state"), "delete", "--force", self.id]
        subprocess.run(command, check=True, capture_output=True)


def create(folder: Path, *, id: str, image: Path, first_id: int, username: str) -> Container:
    """Start a container whose root is an overlay on the image; `username` is uid 1000 inside and may use sudo."""
    for name in ("lower", "disk/upper", "disk/work", "root", "state"):
        (folder / name).mkdir(parents=True, mode=0o755)
    (folder / "config.json").write_text(json.dumps(_config(folder, id, first_id)))
    order = {"folder": str(folder), "id": id, "image": str(image), "first_id": first_id, "username": username}
    subprocess.run([sys.executable, __file__, json.dumps(order)], check=True)
    return Container(id=id, pid=int((folder / "pid").read_text()), folder=folder, first_id=first_id)


def _config(folder: Path, id: str, first_id: int) -> dict[str, object]:
    ids = [{"containerID": 0, "hostID": first_id, "size": ID_COUNT}]
    held = list(CAPABILITIES)
    return {
        "ociVersion": "1.0.2",
        "hostname": "container",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": ["/usr/bin/catatonit", "-P"],
            "env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), held),
        },
        "root": {"path": str(folder / "root")},
        "mounts": [
            {"destination": target, "type": kind, "source": kind, "options": list(options)}
            for target, kind, options in MOUNTS
        ],
        "linux": {
            "uidMappings": ids,
            "gidMappings": ids,
            "namespaces": [{"type": kind} for kind in NAMESPACES],
            "cgroupsPath": f"/{id}",
            "resources": {"devices": [{"allow": False, "access": "rwm"}]},
        },
    }


# In the process of its own


def launch(order: dict[str, str]) -> None:
    folder, first_id = order["folder"], int(order["first_id"])
    _checked(libc.unshare(CLONE_NEWNS))
    _checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC_PRIVATE), None))
    _place_idmapped(order["image"], f"{folder}/lower", first_id)
    for name in ("upper", "work"):
        os.chown(f"{folder}/disk/{name}", first_id, first_id)
    options = f"lowerdir={folder}/lower,upperdir={folder}/disk/upper,workdir={folder}/disk/work"
    _checked(libc.mount(b"overlay", f"{folder}/root".encode(), b"overlay", ctypes.c_ulong(0), options.encode()))
    _add_user(Path(folder, "root"), order["username"], first_id)
    words = ["--root", f"{folder}/state", "run", "--detach", "--bundle", folder, "--pid-file", f"{folder}/pid"]
    null = subprocess.DEVNULL
    subprocess.run(["runc", *words, order["id"]], check=True, stdin=null, stdout=null)


def _place_idmapped(source: str, target: str, first_id: int) -> None:
    tree = _checked(libc.syscall(OPEN_TREE, AT_FDCWD, source.encode(), 1))
    child = os.fork()
    if child == 0:
        libc.unshare(CLONE_NEWUSER)
        os.kill(os.getpid(), 19)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{child}/{name}").write_text(f"0 {first_id} {ID_COUNT}\n")
    userns = os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    os.kill(child, 18)
    os.waitpid(child, 0)
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_IDMAP, 0, 0, userns)
    _checked(libc.syscall(MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH, ctypes.byref(attributes), ctypes.c_size_t(32)))
    _checked(libc.syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, target.encode(), 4))


def _add_user(root: Path, username: str, first_id: int) -> None:
    with (root / "etc/passwd").open("a") as users:
        users.write(f"{username}:x:1000:1000::/home/{username}:/bin/bash\n")
    with (root / "etc/group").open("a") as groups:
        groups.write(f"{username}:x:1000:\nexample:x:2000:{username}\n")
    with (root / "etc/shadow").open("a") as shadow:
        shadow.write(f"{username}:*:19000:0:99999:7:::\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 container\n")
    rule = root / "etc/sudoers.d/holder"
    rule.write_text(f"{username} ALL=(ALL) NOPASSWD: ALL\n")
    rule.chmod(0o440)
    home = root / "home" / username
    home.mkdir()
    os.chown(home, first_id + 1000, first_id + 1000)
    for path in (rule, *(root / "etc" / name for name in ("passwd", "group", "shadow", "hosts"))):
        os.chown(path, first_id, first_id)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


if __name__ == "__main__":
    launch(json.loads(sys.argv[1]))
