"""The contents of a base image, and the steps that turn a fresh root folder into one."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gpuaas.engines.images import image_sources
from gpuaas.engines.images.image_sources import Source

REVISION = 1
"""Version of `finish`: an image of another recipe is rebuilt."""
PACKAGES = (
    *("systemd-sysv", "dbus", "catatonit"),  # the two inits
    *("openssh-server", "openssh-sftp-server", "sudo"),  # the SSH gateway runs sshd, not the environment
    *("python3", "python3-venv", "python3-pip", "gcc", "g++", "make", "libc6-dev"),
    *("rsync", "git", "curl", "wget", "ca-certificates", "file", "unzip", "xz-utils"),
    *("iproute2", "iputils-ping", "netbase", "procps", "psmisc", "lsof", "htop"),
    *("bash-completion", "tmux", "vim", "less", "nano", "locales", "apt-utils"),
)
MASKED = (
    *("ssh.service", "ssh.socket"),
    # These units need devices, modules or mounts of the kernel, which belong to the node.
    *("systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket"),
    *("systemd-udev-trigger.service", "systemd-udev-settle.service", "systemd-hwdb-update.service"),
    *("systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount", "proc-sys-fs-binfmt_misc.mount"),
    *("systemd-modules-load.service", "kmod-static-nodes.service", "modprobe@.service"),
    *("dev-hugepages.mount", "sys-fs-fuse-connections.mount"),
    *("sys-kernel-config.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount"),
    *("systemd-journald-audit.socket", "systemd-pstore.service", "systemd-remount-fs.service"),
    *("systemd-firstboot.service", "systemd-machine-id-commit.service"),
    # There is no console, and the network exists before the first process.
    *("getty.target", "getty@.service", "console-getty.service", "container-getty@.service", "serial-getty@.service"),
    *("getty-static.service", "systemd-networkd-wait-online.service", "systemd-ask-password-console.path"),
    # Disks belong to the node. The tenant decides about upgrades, and a thousand timers would run at the same time.
    *("e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer"),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "apt-daily.service", "apt-daily-upgrade.service"),
)
MOUNT_POINTS = ("etc/gpuaas", "opt/gpuaas/runtimes", "mnt", "srv")
EXCLUDED = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
EMPTIED = ("dev", "run", "tmp", "var/tmp", "var/lib/apt/lists", "var/cache/apt")
UNDOCUMENTED = ("usr/share/man", "usr/share/info", "usr/share/locale")
REMOVED = (
    "etc/ssh/ssh_host_*",
    "etc/sudoers.d/[!R]*",
    "usr/sbin/policy-rc.d",
    "var/lib/dbus/machine-id",
    "var/lib/systemd/random-seed",
    "etc/apt/auth.conf",
    "etc/apt/auth.conf.d/*",
    "etc/apt/apt.conf.d/99mmdebstrap",
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/*",
    "etc/dpkg/dpkg.cfg.d/9*",
    "etc/*-",
    "etc/.pwd.lock",
    "var/cache/debconf/*-old",
    "var/cache/ldconfig/aux-cache",
    "var/lib/dpkg/*-old",
    "var/log/apt/*",
    "root/.[!bp]*",
)
ACCESS_LISTS = ("system.posix_acl_access", "system.posix_acl_default")
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+(:[a-z0-9-]+)?(=[\w.+:~-]+)?")


def recipe() -> str:
    """Identifies the platform's contents of an image, without packages added by an operator."""
    parts = (PACKAGES, MASKED, MOUNT_POINTS, EXCLUDED, EMPTIED, UNDOCUMENTED, REMOVED, REVISION)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def dpkg_excludes() -> str:
    """For the build only: packages that a tenant installs include documentation."""
    lines = [f"path-exclude={pattern}" for pattern in EXCLUDED]
    return "\n".join([*lines, "path-include=/usr/share/doc/*/copyright", ""])


def finish(root: Path, sources: Iterable[Source], settings: Iterable[str], keys: Iterable[Path]) -> None:
    """Remove files specific to one computer, and prepare files for all environments."""
    for name in (*EMPTIED, *UNDOCUMENTED):
        empty(root / name)
    for pattern in REMOVED:
        for path in root.glob(pattern):
            erase(path)
    for folder in (root / "usr/share/doc").glob("*/"):
        leave_licence(folder)
    write(root / "etc/machine-id", "", mode=0o444)  # systemd and dbus create the id if the file is empty
    write(root / "etc/hostname", "")
    write(root / "etc/resolv.conf", "")
    write(root / "etc/fstab", "")
    write(root / "etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
    write(root / "etc/default/locale", "LANG=C.UTF-8\n")
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)
    (root / "var/lib/apt/lists/partial").mkdir()
    configure_apt(root, sources, settings, keys)
    mask(root)
    lock_password(root / "etc/shadow")
    prepare_ping(root / "usr/bin/ping")
    for name in MOUNT_POINTS:
        (root / name).mkdir(parents=True, exist_ok=True)
    drop_access_lists(root / "var/log/journal")
    root.chmod(0o755)


def configure_apt(root: Path, sources: Iterable[Source], settings: Iterable[str], keys: Iterable[Path]) -> None:
    """`apt-get update` inside uses the node's sources with the same public keys."""
    write(root / "etc/apt/sources.list.d/node.sources", image_sources.render(image_sources.without_secrets(sources)))
    lines = ['Acquire::Languages "none";', *image_sources.settings_without_secrets(settings)]
    write(root / "etc/apt/apt.conf.d/90node", "\n".join([*lines, ""]))
    for key in keys:
        inside = root / key.relative_to("/")
        if not inside.exists():
            inside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(key, inside)
            inside.chmod(0o644)


def mask(root: Path) -> None:
    units = root / "etc/systemd/system"
    units.mkdir(parents=True, exist_ok=True)
    for name in MASKED:
        unit = units / name
        unit.unlink(missing_ok=True)
        unit.symlink_to("/dev/null")
    (units / "sshd.service").unlink(missing_ok=True)
    target = units / "default.target"
    target.unlink(missing_ok=True)
    target.symlink_to("/lib/systemd/system/multi-user.target")


def lock_password(shadow: Path) -> None:
    """Lock the password of root, even if a package has set one."""
    lines = shadow.read_text().splitlines()
    fields = [line.split(":") for line in lines]
    locked = [":".join([name, "*" if name == "root" else password, *rest]) for name, password, *rest in fields]
    shadow.write_text("\n".join([*locked, ""]))


def prepare_ping(ping: Path) -> None:
    """Use setuid instead of a file capability, as Debian does if capabilities cannot be stored. Not every kernel
    honours a capability through idmapped mounts and overlays, and ping does not start without CAP_NET_RAW."""
    with suppress(OSError):
        os.removexattr(ping, "security.capability")
    ping.chmod(0o4755)


def drop_access_lists(folder: Path) -> None:
    """Remove the ACLs of the only folder with ACLs; systemd sets them again in environments."""
    for name in ACCESS_LISTS:
        with suppress(OSError):
            os.removexattr(folder, name)


def leave_licence(folder: Path) -> None:
    """Remove documentation of packages that were unpacked before dpkg ran."""
    if not folder.is_symlink():
        for path in folder.iterdir():
            if path.name != "copyright":
                erase(path)


def empty(folder: Path) -> None:
    for path in folder.iterdir() if folder.is_dir() else ():
        erase(path)


def erase(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def write(path: Path, text: str, *, mode: int = 0o644) -> None:
    path.unlink(missing_ok=True)  # a link could leave the image
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def packages_of(root: Path) -> dict[str, str]:
    """Installed packages with versions, according to dpkg."""
    status = (root / "var/lib/dpkg/status").read_text()
    found = {}
    for stanza in status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.+)$", stanza, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            found[fields["Package"]] = fields["Version"]
    return dict(sorted(found.items()))


def read_added(path: Path) -> list[str]:
    """Packages added by the operator: one name per line, comments after `#`."""
    lines = path.read_text().splitlines() if path.is_file() else []
    return [name for line in lines if (name := line.partition("#")[0].strip())]
