"""Programs that copy files or repositories over ssh."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.interop import table
from tests.interop.people import Person

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("clients")]


def version(*words: str) -> str:
    """As a program prints it."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"(?:version |mosh |_|^)(\d+\.\d[\w.]*)", done.stdout + done.stderr)
    assert found is not None, done
    return found[1]


def ssh_version() -> str:
    return version("ssh", "-V")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files of some kinds: a large one, an empty one, a link, odd names and modes."""
    folder = tmp_path / "tree"
    (folder / "a folder").mkdir(parents=True)
    (folder / "large").write_bytes(os.urandom(3_000_000))
    (folder / "empty").touch()
    (folder / "a folder" / "näme").write_text("text")
    (folder / "a folder" / "näme").chmod(0o750)
    (folder / "link").symlink_to("large")
    return folder


def listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes()) for path in files}


@pytest.mark.parametrize(("option", "protocol"), [("-s", "SFTP"), ("-O", "the old protocol")])
def test_scp(plain: Person, tree: Path, tmp_path: Path, option: str, protocol: str) -> None:
    words = ["scp", "-F", str(plain.config), "-q", "-r", "-p", option]
    plain.says(*words, str(tree), f"{plain.name}:tree{option}")
    plain.says(*words, f"{plain.name}:tree{option}", str(tmp_path / "back"))
    assert listing(tmp_path / "back") == listing(tree)
    table.record("OpenSSH `scp`", ssh_version(), f"`{option}` ({protocol}): a tree there and back")


def test_sftp(plain: Person, tree: Path, tmp_path: Path) -> None:
    orders = f"put -r {tree} sftp\nrename sftp/large sftp/renamed\nchmod 600 sftp/renamed\nls -l sftp\n"
    orders += f"get sftp/renamed {tmp_path}/got\nsymlink renamed sftp/other\ndf -h\n"
    out = plain.says("sftp", "-F", str(plain.config), "-q", "-b", "-", plain.name, text=orders)
    assert "renamed" in out
    assert (tmp_path / "got").read_bytes() == (tree / "large").read_bytes()
    assert plain.inside("readlink sftp/other; stat -c %a:%U sftp/renamed") == "renamed\n600:ada"
    table.record("OpenSSH `sftp`", ssh_version(), "put, get, rename, chmod, links, `df`")


def test_rsync(plain: Person, tree: Path, tmp_path: Path) -> None:
    words = ["rsync", "--archive", "--compress", "--delete", "-e", f"ssh -F {plain.config}"]
    plain.says(*words, f"{tree}/", f"{plain.name}:rsync/")
    plain.inside("rm rsync/empty; echo more >> rsync/large; touch rsync/extra")
    plain.says(*words, f"{tree}/", f"{plain.name}:rsync/")
    plain.says(*words, f"{plain.name}:rsync/", f"{tmp_path}/back/")
    assert listing(tmp_path / "back") == listing(tree)
    assert (tmp_path / "back" / "link").is_symlink()
    table.record("rsync", version("rsync", "--version"), "`-az --delete` there, again, and back")


def test_git(plain: Person, tree: Path, tmp_path: Path) -> None:
    """Both ways round: the repository is inside, and a clone of it here."""

    def git(*words: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
        return plain.says("git", *who, *words, GIT_SSH_COMMAND=f"ssh -F {plain.config}")

    plain.inside("git init --quiet --bare --initial-branch=main repository.git")
    git("init", "--quiet", str(tree))
    git("-C", str(tree), "add", ".")
    git("-C", str(tree), "commit", "--quiet", "--message", "first")
    git("-C", str(tree), "push", "--quiet", f"{plain.name}:repository.git", "HEAD:main")
    git("clone", "--quiet", f"{plain.name}:repository.git", str(tmp_path / "clone"))
    assert (tmp_path / "clone" / "large").read_bytes() == (tree / "large").read_bytes()
    assert plain.inside("git -C repository.git log --format=%s main") == "first"
    table.record("git", version("git", "--version"), "push and clone")


def test_sshfs(plain: Person, tmp_path: Path) -> None:
    target = tmp_path / "mounted"
    target.mkdir()
    plain.inside("mkdir -p shared && echo inside > shared/file")
    plain.says("sshfs", "-F", str(plain.config), "-o", "idmap=user", f"{plain.name}:shared", str(target))
    try:
        assert (target / "file").read_text() == "inside\n"
        (target / "here").write_text("here")
        (target / "here").rename(target / "renamed")
        os.truncate(target / "renamed", 2)
        assert plain.inside("cat shared/renamed; stat -c :%U shared/renamed") == "he:ada"
    finally:
        plain.says("fusermount3" if Path("/usr/bin/fusermount3").exists() else "fusermount", "-u", str(target))
    table.record(
        "sshfs",
        version("dpkg-query", "--show", "--showformat=${Version}", "sshfs"),
        "mount, read, write, rename, truncate",
    )
