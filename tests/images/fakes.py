"""A tiny root folder that looks like a fresh Debian, and images made from it."""

from datetime import UTC, datetime
from pathlib import Path

from gpuaas.engines.images import image_manifest, images
from gpuaas.engines.images.images import Image

AT = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
OS_RELEASE = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n'
STATUS = """Package: python3
Status: install ok installed
Version: 3.11.2-1+b1

Package: openssh-server
Status: install ok installed
Version: 1:9.2p1-2+deb12u7

Package: removed-one
Status: deinstall ok config-files
Version: 1.0
"""
CONTENT = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
    "etc/passwd-": "old\n",
    "etc/shadow": "root:$y$secret:20774:0:99999:7:::\ndaemon:*:20774:0:99999:7:::\n",
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "etc/hostname": "the-node\n",
    "etc/resolv.conf": "nameserver 192.0.2.53\n",
    "etc/ssh/ssh_host_ed25519_key": "secret\n",
    "etc/ssh/sshd_config": "UsePAM yes\n",
    "etc/sudoers.d/README": "read me\n",
    "etc/sudoers.d/90-someone": "someone ALL=(ALL) NOPASSWD: ALL\n",
    "etc/apt/auth.conf.d/mirror": "machine mirror.test login a password b\n",
    "etc/apt/apt.conf.d/99mmdebstrap": "x\n",
    "etc/apt/sources.list.d/0000node.sources": "URIs: http://user:secret@mirror.test/debian\n",
    "etc/dpkg/dpkg.cfg.d/99mmdebstrap": "force-unsafe-io\n",
    "etc/dpkg/dpkg.cfg.d/95excludes": "path-exclude=/usr/share/man/*\n",
    "usr/sbin/policy-rc.d": "exit 101\n",
    "usr/bin/ping": "ping\n",
    "usr/share/doc/bash/copyright": "licence\n",
    "usr/share/doc/bash/changelog.gz": "long\n",
    "usr/share/man/man1/bash.1.gz": "long\n",
    "usr/share/locale/de/LC_MESSAGES/bash.mo": "lang\n",
    "var/lib/dpkg/status": STATUS,
    "var/lib/dpkg/status-old": "old\n",
    "var/lib/apt/lists/lock": "",
    "var/cache/apt/pkgcache.bin": "cache\n",
    "var/lib/dbus/machine-id": "0123456789abcdef0123456789abcdef\n",
    "root/.bashrc": "rc\n",
    "root/.ssh/known_hosts": "hosts\n",
    "dev/null": "a file, written where there was no device\n",
    "tmp/left": "left\n",
}


def fresh_root(folder: Path) -> Path:
    for name, text in CONTENT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "bin").symlink_to("usr/bin")
    (folder / "etc/systemd/system").mkdir(parents=True)
    (folder / "etc/systemd/system/sshd.service").symlink_to("/lib/systemd/system/ssh.service")
    return folder


def publish(folder: Path, version: str, *, recipe: str = "r", at: datetime = AT) -> Image:
    """A whole image with two files, current afterwards."""
    images.prepare(folder)
    draft = images.make_draft(folder)
    (draft / "root/bin").mkdir(parents=True)
    (draft / "root/bin/sh").write_text("shell\n")
    (draft / "root/bin/bash").symlink_to("sh")
    (draft / "root/version").write_text(version)
    (draft / "root/usr/lib").mkdir(parents=True)
    (draft / "root/usr/lib/os-release").write_text(OS_RELEASE)
    manifest = image_manifest.encode(image_manifest.entries(draft / "root"))
    image = Image(
        version=version,
        digest=image_manifest.digest(manifest),
        recipe=recipe,
        distribution="debian",
        release="bookworm",
        architecture="amd64",
        python="3.11.2",
        sshd="1:9.2p1",
        packages={"bash": "5.2"},
        built_at=at,
        bytes=image_manifest.total(manifest),
    )
    return images.publish(folder, draft, image, manifest)
