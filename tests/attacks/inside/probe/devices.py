"""Devices: made, opened, and asked for by other names."""

import os
import platform
from pathlib import Path

from tests.attacks.inside.probe.base import Blocked, Nothing, attack, call

DEVICES = "Devices"
MKNOD = Blocked("EPERM", "user namespace: device nodes take CAP_MKNOD on the node")
NAMES = (
    *("mem", "kmem", "port", "kmsg", "kvm", "fuse", "vsock", "vhost-vsock", "vhost-net", "net/tun", "loop-control"),
    *("loop0", "vda", "vda1", "sda", "nvme0n1", "nvme0", "dm-0", "mapper/control", "console", "tty0", "ttyS0"),
    *("input/event0", "snapshot", "hwrng", "rtc0", "watchdog", "userfaultfd", "cpu/0/msr", "uinput", "btrfs-control"),
)


def make(kind: int, major: int, minor: int) -> None:
    path = f"/var/tmp/device-{os.getpid()}"  # noqa: S108 (of the environment)
    os.mknod(path, kind | 0o600, os.makedev(major, minor))
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    finally:
        os.unlink(path)  # noqa: PTH108


@attack(DEVICES, "make the node of a disk (254:0) and open it", MKNOD)
def make_disk() -> None:
    make(0o60000, 254, 0)


@attack(DEVICES, "make `/dev/mem` and open it", MKNOD)
def make_memory() -> None:
    make(0o20000, 1, 1)


@attack(DEVICES, "make `/dev/kmsg` and open it", MKNOD)
def make_kernel_log() -> None:
    make(0o20000, 1, 11)


@attack(DEVICES, "make `/dev/loop-control` and open it", MKNOD)
def make_loop_control() -> None:
    make(0o20000, 10, 237)


@attack(DEVICES, "make `/dev/kvm` and open it", MKNOD)
def make_kvm() -> None:
    make(0o20000, 10, 232)


@attack(DEVICES, "make a simulated GPU of a neighbour and open it", MKNOD)
def make_gpu() -> None:
    make(0o20000, 1, 3)


@attack(DEVICES, f"open `/dev/` {', '.join(NAMES)}", Blocked("nothing", "none of them is in the environment's `/dev`"))
def open_devices() -> None:
    for name in NAMES:
        if os.path.lexists(f"/dev/{name}"):
            os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
            return
    raise Nothing


@attack(DEVICES, "find any other block or character device", Blocked("nothing", "`/dev` is a tmpfs with named devices"))
def find_devices() -> None:
    harmless = {"full", "null", "random", "tty", "urandom", "zero", "ptmx", "gpuaas-simulated0"}
    for folder in (Path("/dev"), Path("/dev/pts")):
        for path in folder.iterdir():
            is_device = path.is_char_device() or path.is_block_device()
            if is_device and not path.is_symlink() and path.name not in harmless and not path.name.isdigit():
                raise FileExistsError(17, str(path))
    raise Nothing


@attack(DEVICES, "I/O ports (iopl, ioperm)", Blocked("EPERM", "seccomp", bare="EPERM|ENOSYS"))
def use_ports() -> None:
    if platform.machine() == "x86_64":
        call("ioperm", 0x80, 1, 1)
    call("iopl", 3)


@attack(
    DEVICES,
    "names of disks of other environments in `/sys/block`",
    Blocked("nothing", "masked path `/sys/devices/virtual/block`"),
)
def names_of_disks() -> None:
    for path in Path("/sys/block").iterdir():
        for name in ("loop/backing_file", "dm/name", "dm/uuid"):
            if (path / name).exists() and (path / name).read_text().strip():
                return
    raise Nothing
