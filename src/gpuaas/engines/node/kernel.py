"""System calls for namespaces, mounts and privileges that the standard library does not offer.

It is used by programs without site packages or outside the node's root, so it imports only the standard library, and
nothing on first use.
"""

# ruff: noqa: PTH123 (plain strings start faster)

import contextlib
import ctypes
import errno
import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, OPENAT2 = 428, 429, 430, 431, 432, 437
PIDFD_GETFD, MOUNT_SETATTR = 438, 442  # these numbers are the same on every architecture
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000
OPEN_TREE_CLONE, FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC = 1, 1, 1
MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH = 4, 0x40
FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE = 1, 6
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE, MS_SHARED = 0x1000, 0x4000, 0x40000, 0x100000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC = 1, 2, 4, 8
MOUNT_ATTR_IDMAP, MOUNT_ATTR_NOSYMFOLLOW = 0x100000, 0x200000
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH, RESOLVE_IN_ROOT = 1, 2, 4, 8, 16
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
KCMP = {"x86_64": 312, "aarch64": 272}
KCMP_FILES = 2
OVERLAY = 0x794C7630  # what statfs answers for a file system of this kind
LONGEST_ANSWER = 1000  # of a held child, in bytes

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def checked(what: str, result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def call(what: str, number: int, *arguments: Any) -> int:
    """A system call without a libc function."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return checked(what, libc.syscall(ctypes.c_long(number), *words))


# Namespaces and processes


def setns(descriptor: int, kinds: int) -> None:
    checked("setns", libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kinds)))


def unshare(kinds: int) -> None:
    checked("unshare", libc.unshare(ctypes.c_int(kinds)))


def unshare_mounts() -> None:
    """Enter a private mount namespace."""
    unshare(CLONE_NEWNS)
    mount("none", "/", flags=MS_REC | MS_PRIVATE)


@contextlib.contextmanager
def held_child(what: str, work: Callable[[], str]) -> Iterator[tuple[int, str]]:
    """Run `work` in a child that then waits until the block ends; yields its pid and result. Raises its OSError.

    For work in another namespace: the block takes the namespace or a descriptor from the child."""
    answers, answer = os.pipe2(os.O_CLOEXEC)
    stay, leave = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        try:
            os.close(leave)  # so that the child ends if its parent dies
            os.write(answer, f"0 {work()}".encode())
            os.read(stay, 1)
        except OSError as error:
            os.write(answer, f"{error.errno or errno.EIO} {error.strerror or error}".encode(errors="replace"))
        finally:
            os._exit(0)
    os.close(answer)
    try:
        code, _, said = os.read(answers, LONGEST_ANSWER).decode(errors="replace").partition(" ")
        if code != "0":
            raise OSError(int(code or errno.EIO), f"{what}: {said or 'its process ended'}")
        yield child, said
    finally:
        for descriptor in (leave, stay, answers):
            os.close(descriptor)
        os.waitpid(child, 0)


def copy_descriptor(pidfd: int, number: int) -> int:
    """A duplicate of another process's descriptor; closed on exec."""
    return call("pidfd_getfd", PIDFD_GETFD, pidfd, number, 0)


def has_descriptors_of(task: int, other: int) -> bool:
    """Whether two threads have one table of descriptors; False also where the kernel does not say."""
    try:
        return call("kcmp", KCMP[os.uname().machine], task, other, KCMP_FILES, 0, 0) == 0
    except (KeyError, OSError):
        return False


# Files


def open_beneath(folder: int, path: str, flags: int, *, resolve: int) -> int:
    """`openat2`; `resolve` restricts the path resolution."""
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, 0, resolve | RESOLVE_NO_MAGICLINKS)
    return call(f"open {path}", OPENAT2, folder, path.encode(), how, len(how))


@contextlib.contextmanager
def as_file_owner(id: int) -> Iterator[None]:
    """Use the file system rights of this id; created files belong to it."""
    libc.setfsgid(ctypes.c_int(id))
    libc.setfsuid(ctypes.c_int(id))
    try:
        yield
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)


def file_system_kind(path: str) -> int:
    """Its magic number, as in OVERLAY."""
    answer = ctypes.create_string_buffer(256)  # struct statfs, which begins with it
    checked(f"statfs {path}", libc.statfs(path.encode(), answer))
    return ctypes.c_long.from_buffer(answer).value


# Mounts. A tree is the descriptor of a detached mount.


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    arguments = (source.encode(), target.encode(), kind.encode() if kind else None)
    checked(f"mount {target}", libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None))


def new_mount(kind: str, **options: str) -> int:
    """A tree of a file system."""
    context = call("fsopen", FSOPEN, kind.encode(), FSOPEN_CLOEXEC)
    try:
        for name, value in options.items():
            call(f"{kind} {name}", FSCONFIG, context, FSCONFIG_SET_STRING, name.encode(), value.encode(), 0)
        call(f"mount of {kind}", FSCONFIG, context, FSCONFIG_CMD_CREATE, None, None, 0)
        return call("fsmount", FSMOUNT, context, FSMOUNT_CLOEXEC, 0)
    finally:
        os.close(context)


def clone_tree(path: str) -> int:
    """A tree of the mount at this path, without submounts."""
    return call(f"open_tree {path}", OPEN_TREE, AT_FDCWD, path.encode(), OPEN_TREE_CLONE | os.O_CLOEXEC)


def clone_opened(descriptor: int) -> int:
    """Like `clone_tree`, for an open file or folder."""
    return call("open_tree", OPEN_TREE, descriptor, b"", OPEN_TREE_CLONE | os.O_CLOEXEC | AT_EMPTY_PATH)


def place(tree: int, target: int) -> None:
    """Mount a tree on an open folder or file."""
    call("move_mount", MOVE_MOUNT, tree, b"", target, b"", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)


def place_at(tree: int, path: str) -> None:
    """Mount a tree at a path, and close its descriptor."""
    call("move_mount", MOVE_MOUNT, tree, b"", AT_FDCWD, path.encode(), MOVE_MOUNT_F_EMPTY_PATH)
    os.close(tree)


def set_attributes(tree: int, *, add: int = 0, userns: int = 0) -> None:
    _mount_setattr("mount_setattr", tree, "", AT_EMPTY_PATH, _MountAttributes(set=add, userns_fd=userns))


def make_private(tree: int) -> None:
    """Make it private: mounts on this copy do not propagate to its original."""
    _mount_setattr("mount_setattr", tree, "", AT_EMPTY_PATH, _MountAttributes(propagation=MS_PRIVATE))


def restrict_mount(target: str, flags: int, *, recursive: bool) -> None:
    """Add flags to a mount; recursive includes submounts, which a classic remount would leave writable."""
    how = AT_RECURSIVE if recursive else 0
    _mount_setattr(f"mount_setattr {target}", AT_FDCWD, target, how, _MountAttributes(set=flags))


def _mount_setattr(what: str, folder: int, path: str, flags: int, attributes: _MountAttributes) -> None:
    size = ctypes.sizeof(attributes)
    call(what, MOUNT_SETATTR, folder, path.encode(), flags, ctypes.byref(attributes), size)


def pivot_into(new_root: str) -> None:
    """Change the root to a folder and detach the old root."""
    os.chdir(new_root)
    pivot_here()


def pivot_here() -> None:
    """Change the root to the working directory and detach the old root."""
    checked("pivot_root", libc.pivot_root(b".", b"."))
    checked("umount of the old root", libc.umount2(b".", ctypes.c_int(MNT_DETACH)))
    os.chdir("/")


# Host names and privileges


def set_hostname(pid: int, name: str) -> None:
    """Set it in the UTS namespace of another process, in a short-lived thread, which cannot return."""
    failed: list[OSError] = []

    def enter() -> None:
        try:
            namespace = os.open(f"/proc/{pid}/ns/uts", os.O_RDONLY | os.O_CLOEXEC)
            try:
                setns(namespace, CLONE_NEWUTS)
            finally:
                os.close(namespace)
            data = name.encode()
            checked("sethostname", libc.sethostname(data, ctypes.c_size_t(len(data))))
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def prctl(what: str, option: int, argument: int) -> None:
    zero = ctypes.c_ulong(0)
    checked(what, libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), zero, zero, zero))


def drop_from_bounding_set(capability: int) -> None:
    prctl("bounding set", _PR_CAPBSET_DROP, capability)


def empty_bounding_set() -> None:
    """Prevent this process and its children from gaining capabilities by exec."""
    with open("/proc/sys/kernel/cap_last_cap") as last:
        for capability in range(int(last.read()) + 1):
            drop_from_bounding_set(capability)


def give_up_privileges(keep: tuple[int, ...]) -> None:
    """Drop all capabilities except `keep`, and prevent gaining any by exec, for this process and its children."""
    prctl("ambient set", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)
    mask = sum(1 << capability for capability in keep)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0)
    checked("capset", libc.capset(ctypes.byref(header), ctypes.byref(sets)))
