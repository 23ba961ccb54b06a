"""The root file system of sshd: programs from the base image, platform files, and folders of the environment.

Each environment has one, kept as a mount namespace without processes. A connection enters it, creates a private copy
and mounts the current folders of the environment. Everything else is read-only there.
"""

# ruff: noqa: PTH123, PTH115, PTH102 (plain strings and open folders: these run between fork and exec)

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from gpuaas.engines.node import kernel
from gpuaas.engines.node.kernel import (
    AT_FDCWD,
    CLONE_NEWNS,
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOEXEC,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    RESOLVE_NO_SYMLINKS,
    open_beneath,
    setns,
    unshare,
)
from gpuaas.gateway import sshd
from gpuaas.wire.gateway import EnvironmentAccess

FOLDERS = ("tmp", "home", "run", "var", "mnt", "srv", "root", "dev/shm")
TERMINALS = "dev/pts"
NAME_FILES = ("etc/hosts", "etc/resolv.conf")  # so that forwards resolve names as programs inside do
LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
ATTEMPTS_WITH_FILES = 5
PATH_ONLY = os.O_PATH | os.O_CLOEXEC
AT_NOFOLLOW = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class SshdRoot:
    """`namespace` has the mounts; `files` is its tmpfs, writable only by the gateway."""

    def __init__(self, access: EnvironmentAccess, socket_folder: str, attach_point: str) -> None:
        self.files = kernel.new_mount("tmpfs", mode="0755", size="2m")
        self._waiting_lock: int | None = None  # locked while the spare has no holder
        try:
            self._write_files(access)
            if access.is_spare:
                self._hold_back_keys()
            self.namespace = self._build(access.image, socket_folder, attach_point)
        except BaseException:
            self._close_files()
            raise

    def close(self) -> None:
        os.close(self.namespace)
        self._close_files()

    def _close_files(self) -> None:
        self._release_waiting()
        os.close(self.files)

    def _hold_back_keys(self) -> None:
        self._write(_relative(sshd.AWAITED_KEYS), sshd.AWAITED_KEYS_PROGRAM, 0o755)
        flags = os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC
        self._waiting_lock = os.open(_relative(sshd.WAITING_LOCK), flags, 0o644, dir_fd=self.files)
        fcntl.flock(self._waiting_lock, fcntl.LOCK_EX)

    def admit(self, access: EnvironmentAccess, keys: str) -> None:
        """Replace the accepted keys, also for connections that wait for the holder of a spare."""
        if self._waiting_lock is not None:
            self._replace(sshd.CONFIGURATION_FILE, sshd.configuration(access))
        self._replace(sshd.KEYS_FILE, keys)
        self._release_waiting()

    def _release_waiting(self) -> None:
        if self._waiting_lock is not None:
            fcntl.flock(self._waiting_lock, fcntl.LOCK_UN)  # also releases copies in children
            os.close(self._waiting_lock)
            self._waiting_lock = None

    def _replace(self, path: str, text: str) -> None:
        """Replace the file atomically: a concurrent sshd reads the old or the new one."""
        name = _relative(path)
        self._write(f"{name}.new", text)
        os.rename(f"{name}.new", name, src_dir_fd=self.files, dst_dir_fd=self.files)

    def _write_files(self, access: EnvironmentAccess) -> None:
        for name in ("usr", "etc", "dev", "platform", "platform/gateway", *FOLDERS, TERMINALS):
            os.mkdir(name, 0o755, dir_fd=self.files)
        self._write(_relative(sshd.CONFIGURATION_FILE), sshd.configuration(access))
        self._write("platform/host_key", access.host_key, 0o600)
        self._write("platform/session", sshd.session_program(), 0o755)
        self._write("etc/passwd", sshd.passwd(access))
        self._write("etc/group", sshd.group(access))
        self._write("etc/nsswitch.conf", sshd.NSSWITCH)
        for name in NAME_FILES:
            self._write(name, "")
        with suppress(FileNotFoundError), open(f"{access.image}/etc/ld.so.cache", "rb") as cache:
            self._write("etc/ld.so.cache", cache.read())
        for name in LINKS:
            with suppress(FileNotFoundError):
                os.symlink(os.readlink(f"{access.image}/{name}"), name, dir_fd=self.files)
        for name, (major, minor) in DEVICES.items():
            os.mknod(f"dev/{name}", stat.S_IFCHR | 0o666, os.makedev(major, minor), dir_fd=self.files)
            os.chmod(f"dev/{name}", 0o666, dir_fd=self.files)  # noqa: S103 (as on any system)
        os.symlink("pts/ptmx", "dev/ptmx", dir_fd=self.files)

    def _write(self, name: str, content: str | bytes, mode: int = 0o644) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        descriptor = os.open(name, flags, mode, dir_fd=self.files)
        try:
            os.fchmod(descriptor, mode)
            left = memoryview(content if isinstance(content, bytes) else content.encode())
            while left:
                left = left[os.write(descriptor, left) :]
        finally:
            os.close(descriptor)

    def _build(self, image: str, socket_folder: str, attach_point: str) -> int:
        """Create the root in a child and return its mount namespace."""

        def mount() -> str:
            self._mount(image, socket_folder, attach_point)
            return ""

        with kernel.held_child("the root of sshd could not be created", mount) as (child, _):
            return os.open(f"/proc/{child}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)

    def _mount(self, image: str, socket_folder: str, attach_point: str) -> None:
        kernel.unshare_mounts()
        programs = kernel.clone_tree(f"{image}/usr")
        kernel.set_attributes(programs, add=MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
        sockets = kernel.clone_tree(socket_folder)
        with opened(attach_point, AT_FDCWD) as target:
            kernel.place(self.files, target)
        os.fchdir(self.files)
        for tree, name in ((programs, "usr"), (sockets, "platform/gateway")):
            with opened(name, self.files) as target:
                kernel.place(tree, target)
        kernel.pivot_here()


def enter(root: int, environment_mounts: int, first_id: int) -> None:
    """In the process that becomes sshd: copy the root and mount the environment's folders in it.

    A file that is replaced inside after it was opened cannot be mounted. Then all files are opened again; the last
    attempt omits them."""
    folders = (*FOLDERS, TERMINALS)
    for names in [*[(*folders, *NAME_FILES)] * ATTEMPTS_WITH_FILES, folders]:
        with suppress(FileNotFoundError):
            mount_inside(names, root, environment_mounts)
            break
    else:
        raise FileNotFoundError(errno.ENOENT, "the environment keeps replacing its folders")
    place_privilege_separation_folder(first_id)
    with opened("/", AT_FDCWD) as here:
        kernel.set_attributes(here, add=MOUNT_ATTR_RDONLY)


def mount_inside(names: Iterable[str], root: int, environment_mounts: int) -> None:
    """Enter a new copy of the root and mount these folders and files of the environment in it."""
    setns(environment_mounts, CLONE_NEWNS)
    trees = [(name, tree) for name in names if (tree := clone_inside(name)) is not None]
    setns(root, CLONE_NEWNS)
    unshare(CLONE_NEWNS)
    try:
        for name, tree in trees:
            add = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | (0 if name == TERMINALS else MOUNT_ATTR_NODEV)
            kernel.make_private(tree)
            kernel.set_attributes(tree, add=add)
            with opened(f"/{name}", AT_FDCWD) as target:
                kernel.place(tree, target)
    finally:
        for _, tree in trees:
            os.close(tree)


def clone_inside(name: str) -> int | None:
    """Clone the mount of one folder or file of the environment, without submounts; None for an unexpected file type.

    The tenant controls every name: links to folders are not followed. `resolv.conf` is often a link; it resolves
    inside the environment's root, because this process is in its mount namespace.
    """
    is_file = name in NAME_FILES
    resolve = kernel.RESOLVE_IN_ROOT | (0 if is_file else RESOLVE_NO_SYMLINKS)
    try:
        with opened("/", AT_FDCWD) as here:
            found = open_beneath(here, name, PATH_ONLY, resolve=resolve)
        try:
            mode = os.fstat(found).st_mode
            if not (stat.S_ISREG(mode) if is_file else stat.S_ISDIR(mode)):
                return None
            return kernel.clone_opened(found)
        finally:
            os.close(found)
    except OSError:
        return None  # the connection has an empty folder there


def place_privilege_separation_folder(first_id: int) -> None:
    """Provide /run/sshd owned by root, which sshd requires. If the tenant prevents it in /run, /run is not mounted."""
    try:
        with opened("/run", AT_FDCWD) as run:
            with suppress(FileExistsError), kernel.as_file_owner(first_id):  # the node's root has no id inside
                os.mkdir("sshd", 0o755, dir_fd=run)
            target = os.open("sshd", AT_NOFOLLOW | os.O_DIRECTORY, dir_fd=run)
        kernel.place(kernel.new_mount("tmpfs", mode="0755", size="4k"), target)
    except OSError:
        with opened("/run", AT_FDCWD) as run:
            kernel.place(kernel.new_mount("tmpfs", mode="0755", size="4k"), run)
        os.mkdir("/run/sshd", 0o755)


def _relative(path: str) -> str:
    return path.removeprefix("/")


@contextmanager
def opened(path: str, folder: int) -> Iterator[int]:
    descriptor = os.open(path, PATH_ONLY, dir_fd=None if folder == AT_FDCWD else folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
