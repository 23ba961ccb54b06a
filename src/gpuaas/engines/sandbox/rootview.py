"""The root that a person sees: a whitelist of the machine's folders, read-only, and folders of their own.

Runs inside pid 1 before it serves: standard library only. The same as root and as an ordinary user.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH112, PTH114, PTH115, PTH208, PTH211 (plain strings: pathlib would cost pid 1 a third of its start)

import os

from gpuaas.engines.sandbox import kernel, platformview

SYSTEM = ("/usr", "/opt")
MERGED = (
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
)  # links into /usr on merged systems, folders on others
TOPOLOGY = "/sys/devices/system"  # processors and memory nodes; numerical libraries look here
OWN = (("home", "/home"), ("tmp", "/tmp"), ("var_tmp", "/var/tmp"))  # noqa: S108 (names inside)
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
DEVICE_LINKS = {
    "ptmx": "pts/ptmx",
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
REBOOT = "/run/gpuaas-reboot"  # whoever is inside writes to it, and pid 1 ends everything
QUIET = kernel.MS_NOSUID | kernel.MS_NODEV


def build(
    view: str,
    folder: str,
    *,
    etc: str,
    hide: list[str],
    uid: int,
    owner: list[int],
    shm_mib: int,
    platform: dict[str, str],
) -> None:
    """Compose the view on an empty folder and make it the root; `folder` holds what is the environment's own."""
    kernel.mount("view", view, "tmpfs", QUIET, "mode=755,size=4m")
    _share("/usr", f"{view}/usr")
    platformview.share_opt(view, _share)
    for path in MERGED:
        _link_or_share(path, view)
    _share(etc, f"{view}/etc")
    for name in sorted(os.listdir(f"{folder}/etc")):
        _share(f"{folder}/etc/{name}", f"{view}/etc/{name}")
    _share(TOPOLOGY, view + TOPOLOGY)
    _cover(view, hide)
    platformview.lay_in(view, platform, _share)
    _own_folders(view, folder, uid=uid, owner=owner)
    _devices(f"{view}/dev", shm_mib=shm_mib)
    os.mkdir(f"{view}/proc")
    kernel.mount("proc", f"{view}/proc", "proc", QUIET | kernel.MS_NOEXEC, "hidepid=2")  # pid 1 is not the person's
    kernel.pivot_into(view)
    kernel.restrict_mount("/", QUIET | kernel.MS_RDONLY, recursive=False)


def _bind(source: str, target: str) -> None:
    if not os.path.lexists(target):
        if os.path.isdir(source):
            os.makedirs(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.mount(source, target, flags=kernel.MS_BIND | kernel.MS_REC)


def _share(source: str, target: str) -> None:
    if os.path.exists(source):
        _bind(source, target)
        kernel.restrict_mount(target, QUIET | kernel.MS_RDONLY, recursive=True)


def _link_or_share(path: str, view: str) -> None:
    if os.path.islink(path):
        os.symlink(os.readlink(path), view + path)
    else:
        _share(path, view + path)


def _cover(view: str, hide: list[str]) -> None:
    """Folders of the platform that lie inside a shared folder are covered by an empty one."""
    for path in hide:
        if any(path.startswith(f"{shared}/") for shared in SYSTEM) and os.path.isdir(view + path):
            kernel.mount("hidden", view + path, "tmpfs", QUIET | kernel.MS_RDONLY, "mode=755,size=4k")


def _own_folders(view: str, folder: str, *, uid: int, owner: list[int]) -> None:
    for name, target in OWN:
        _bind(f"{folder}/disk/{name}", view + target)
        kernel.restrict_mount(view + target, QUIET, recursive=False)
    os.symlink("/run", f"{view}/var/run")
    os.mkdir(f"{view}/root", 0o700)
    for name in ("mnt", "srv"):
        os.mkdir(f"{view}/{name}")
    os.mkdir(f"{view}/run")
    kernel.mount("run", f"{view}/run", "tmpfs", QUIET, "mode=755,size=64m")
    runtime = f"{view}/run/user/{uid}"
    os.makedirs(runtime)
    os.chmod(runtime, 0o700)
    os.mkfifo(view + REBOOT, 0o600)
    if owner:
        os.chown(runtime, *owner)
        os.chown(view + REBOOT, *owner)


def _devices(dev: str, *, shm_mib: int) -> None:
    os.mkdir(dev)
    kernel.mount("dev", dev, "tmpfs", kernel.MS_NOSUID, "mode=755,size=64k")
    for name in DEVICES:
        _bind(f"/dev/{name}", f"{dev}/{name}")
    for name, target in DEVICE_LINKS.items():
        os.symlink(target, f"{dev}/{name}")
    os.mkdir(f"{dev}/pts")
    options = "newinstance,ptmxmode=0666,mode=620"
    kernel.mount("devpts", f"{dev}/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, options)
    os.mkdir(f"{dev}/shm")
    kernel.mount("shm", f"{dev}/shm", "tmpfs", QUIET, f"mode=1777,size={shm_mib}m")
    kernel.restrict_mount(dev, kernel.MS_NOSUID | kernel.MS_RDONLY, recursive=False)
