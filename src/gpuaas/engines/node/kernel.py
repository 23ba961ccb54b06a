"""The few system calls that helper processes need and the standard library does not offer. Standard library only."""

# ruff: noqa: PTH123 (plain strings start faster)

import ctypes
import os
import threading

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
MOUNT_ATTR_NOSYMFOLLOW = 0x200000

_MOUNT_SETATTR = 442  # one number on every architecture
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_CLONE_NEWUTS = 0x4000000

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def _checked(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    _checked(
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            options.encode() if options else None,
        ),
        f"mount {target}",
    )


def restrict_mount(target: str, flags: int, *, recursive: bool) -> None:
    """Add flags to a mount; recursive reaches the mounts below it, which a classic remount would leave writable."""
    attributes = _MountAttributes(set=flags)
    _checked(
        _libc.syscall(
            ctypes.c_long(_MOUNT_SETATTR),
            ctypes.c_int(_AT_FDCWD),
            target.encode(),
            ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
            ctypes.byref(attributes),
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        ),
        f"mount_setattr {target}",
    )


def pivot_into(new_root: str) -> None:
    """Make a folder the root and let go of the old root for good."""
    os.chdir(new_root)
    _checked(_libc.pivot_root(b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")


def set_hostname(pid: int, name: str) -> None:
    """In the UTS namespace of another process, by a thread that ends: a thread does not come back from there."""
    failed: list[OSError] = []

    def enter() -> None:
        try:
            namespace = os.open(f"/proc/{pid}/ns/uts", os.O_RDONLY | os.O_CLOEXEC)
            try:
                _checked(_libc.setns(ctypes.c_int(namespace), ctypes.c_int(_CLONE_NEWUTS)), "setns")
            finally:
                os.close(namespace)
            data = name.encode()
            _checked(_libc.sethostname(data, ctypes.c_size_t(len(data))), "sethostname")
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def _prctl(what: str, option: int, argument: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), zero, zero, zero), what)


def empty_bounding_set() -> None:
    """No exec of this process or its children can ever gain a capability."""
    with open("/proc/sys/kernel/cap_last_cap") as last:
        for capability in range(int(last.read()) + 1):
            _prctl("bounding set", _PR_CAPBSET_DROP, capability)


def give_up_privileges(keep: tuple[int, ...]) -> None:
    """For this process and all it starts: nothing can be gained by exec, and only `keep` is held until then."""
    _prctl("ambient set", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    _prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)
    mask = sum(1 << capability for capability in keep)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0)
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(sets)), "capset")
