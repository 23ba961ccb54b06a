"""How a fresh root becomes an image for many tenants, and what a build says while it runs."""

from pathlib import Path

from gpuaas.engines.images import image_bootstrap, image_build, image_recipe
from gpuaas.engines.images.image_progress import Progress
from gpuaas.engines.images.image_sources import Source
from tests.images.fakes import fresh_root

SOURCES = (Source(("http://user:secret@mirror.test/debian",), ("bookworm",), ("main",)),)
SETTINGS = ('Acquire::http::Proxy "http://proxy.test:3128";', 'Acquire::http::Proxy "http://user:secret@proxy.test";')


def finished(folder: Path) -> Path:
    root = fresh_root(folder / "root")
    key = folder / "mirror.asc"
    key.write_text("public key")
    image_recipe.finish(root, SOURCES, SETTINGS, [key])
    assert (root / key.relative_to("/")).read_text() == "public key"
    return root


def test_nothing_of_one_machine_is_left(tmp_path: Path) -> None:
    root = finished(tmp_path)
    gone = [
        *("etc/ssh/ssh_host_ed25519_key", "etc/sudoers.d/90-someone", "usr/sbin/policy-rc.d", "etc/passwd-"),
        *("var/lib/dbus/machine-id", "etc/apt/auth.conf.d/mirror", "root/.ssh", "dev/null", "tmp/left"),
        *("etc/apt/apt.conf.d/99mmdebstrap", "etc/dpkg/dpkg.cfg.d/99mmdebstrap", "etc/dpkg/dpkg.cfg.d/95excludes"),
        *("usr/share/man/man1", "usr/share/locale/de", "usr/share/doc/bash/changelog.gz", "var/cache/apt/pkgcache.bin"),
    ]
    assert not [name for name in gone if (root / name).exists()]
    assert [(root / name).read_text() for name in ("etc/machine-id", "etc/hostname", "etc/resolv.conf")] == [""] * 3
    kept = ["etc/ssh/sshd_config", "etc/sudoers.d/README", "usr/share/doc/bash/copyright", "root/.bashrc"]
    assert all((root / name).is_file() for name in kept)
    assert not [path for path in root.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


def test_what_environments_need_is_there(tmp_path: Path) -> None:
    root = finished(tmp_path)
    for name in ("etc/gpuaas", "opt/gpuaas/runtimes", "mnt", "srv"):
        assert list((root / name).iterdir()) == []
    assert (root / "etc/shadow").read_text().startswith("root:*:20774:")
    assert (root / "usr/bin/ping").stat().st_mode & 0o7777 == 0o4755
    assert (root / "etc/default/locale").read_text() == "LANG=C.UTF-8\n"
    assert root.stat().st_mode & 0o777 == 0o755
    assert (root / "etc/apt/apt.conf.d/90node").read_text().splitlines() == [
        'Acquire::Languages "none";',
        'Acquire::http::Proxy "http://proxy.test:3128";',
    ]
    assert "http://mirror.test/debian" in (root / "etc/apt/sources.list.d/node.sources").read_text()


def test_no_sshd_and_no_console_starts_inside(tmp_path: Path) -> None:
    units = finished(tmp_path) / "etc/systemd/system"
    for name in ("ssh.service", "ssh.socket", "getty@.service", "systemd-udevd.service", "systemd-binfmt.service"):
        assert str((units / name).readlink()) == "/dev/null"
    assert not (units / "sshd.service").is_symlink()


def test_only_installed_packages_count(tmp_path: Path) -> None:
    root = fresh_root(tmp_path)
    assert image_recipe.packages_of(root) == {"openssh-server": "1:9.2p1-2+deb12u7", "python3": "3.11.2-1+b1"}


def test_a_build_in_memory_needs_enough_of_it_and_more_with_added_packages() -> None:
    gib = 1 << 20
    assert image_bootstrap.memory_for((), f"MemTotal: 1 kB\nMemAvailable:   {8 * gib} kB\n") == 4 << 30
    assert image_bootstrap.memory_for(("cuda",), f"MemAvailable:   {8 * gib} kB\n") == 0
    assert image_bootstrap.memory_for((), f"MemAvailable:   {2 * gib} kB\n") == 0
    assert image_bootstrap.memory_for((), "") == 0


def test_progress_has_phases_and_counts() -> None:
    progress = Progress()
    lines = ["I: installing remaining packages inside the chroot...", "0 upgraded, 10 newly installed, 0 to remove"]
    lines += ["Selecting x", *(f"Unpacking p{number} (1) ..." for number in range(10))]
    told = [step for line in lines if (step := progress.hear(line))]
    assert told[0] == ("packages", "choosing the remaining packages")
    assert told[1:] == [("packages", f"unpacked {count} of 10") for count in (2, 4, 6, 8, 10)]
    assert progress.hear("I: something new...") is None


def test_what_apt_would_install_is_read_from_its_simulation() -> None:
    lines = [
        "Inst bash (5.2-1 Debian:12/stable [amd64])",
        "Inst libc6 [2.36-8] (2.36-9 Debian:12 [amd64]) []",
        "Conf x",
    ]
    assert image_build.offered_versions(lines) == {"bash": "5.2-1", "libc6": "2.36-9"}


def test_a_failure_shows_the_errors_and_a_next_step(tmp_path: Path) -> None:
    lines = ["Get:1 something", "E: Unable to locate package nonsense", "I: cleaning"]
    failure = image_bootstrap.failure(25, lines, tmp_path / "build.log")
    assert failure.excerpt == ("E: Unable to locate package nonsense",)
    assert failure.next_step == "check the package names"
    silent = image_bootstrap.failure(1, ["cp: something else"], tmp_path / "build.log")
    assert (silent.excerpt, silent.next_step) == (("cp: something else",), f"less {tmp_path}/build.log")
