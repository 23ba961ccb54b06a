"""Programs of the node that enter the root of an environment run nothing of the guest, whatever goes wrong inside."""

import contextlib
import encodings
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuaas.engines.node import commands, kernel, processes
from gpuaas.engines.oci import view_process
from gpuaas.engines.storage import attaching, entering, mounting

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PYTHON = (os.path.realpath(sys.executable), "-S", "-s", "-P")
TRACE = "executed"
GUEST = """
import ctypes, os, sys
ctypes.CDLL(None).unshare(0x10020000)  # user and mount namespaces
os.chroot(sys.argv[1])
print(1, flush=True)
sys.stdin.read()
"""
INTERRUPTED = """
import os, sys
from gpuaas.engines.storage import entering
def work():
    mounts, root = (os.open(f"/proc/{sys.argv[1]}/{name}", os.O_RDONLY) for name in ("ns/mnt", "root"))
    entering.enter(mounts, root)
    raise KeyboardInterrupt
entering.run(work)
"""


@contextlib.contextmanager
def guest(root: Path) -> Iterator[int]:
    """A process in a root and mounts of its own. Its sources of our programs name a codec, and the codec is code."""
    for module in (view_process, attaching, entering, mounting, kernel):
        source = root / str(module.__file__).lstrip("/")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("# coding: guest\n" * 400)
    codecs = root / str(Path(str(encodings.__file__)).parent).lstrip("/")
    codecs.mkdir(parents=True)
    (codecs / "guest.py").write_text(f"open('/{TRACE}', 'w').close()\n")
    words = (sys.executable, "-c", GUEST, str(root))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        yield process.pid
        process.stdin.close()


def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PYTHON, *words], input=text, env=commands.FOR_OURS, capture_output=True, text=True, check=False, timeout=60
    )


def test_replacing_files_that_the_guest_covered_runs_nothing_of_the_guest(tmp_path: Path) -> None:
    """Root inside mounted something over /proc, so that nothing is mounted at the file any more."""
    root, views = tmp_path / "root", tmp_path / "views"
    for folder in (root, views):
        (folder / "proc").mkdir(parents=True)
        (folder / "proc/uptime").touch()
    with guest(root) as pid:
        done = run(str(view_process.__file__), str(pid), processes.born(pid), str(views), "proc/uptime")
    assert not (root / TRACE).exists()
    assert (done.returncode, done.stderr) == (1, "OSError: [Errno 22] umount proc/uptime: Invalid argument\n")


def test_mounting_a_volume_at_a_path_that_is_no_text_runs_nothing_of_the_guest(tmp_path: Path) -> None:
    root, data = tmp_path / "root", tmp_path / "data"
    for folder in (root, data):
        folder.mkdir()
    with guest(root) as pid:
        order = {"verb": "attach", "pid": pid, "born": processes.born(pid), "lock": str(tmp_path / "lock")}
        order |= {"mount_path": "/\ud800", "owner": 0, "root": 0, "others": [], "read_only": False}
        order |= {"source": str(data), "ids": [0, 0, 1], "is_served": False, "is_image": False}
        done = run(str(attaching.__file__), text=json.dumps(order))
    assert not (root / TRACE).exists()
    assert done.returncode == 1
    assert done.stderr.startswith("UnicodeEncodeError: ")


def test_an_interrupt_inside_runs_nothing_of_the_guest(tmp_path: Path) -> None:
    with guest(tmp_path / "root") as pid:
        done = run("-c", INTERRUPTED, str(pid))
    assert (done.returncode, done.stderr) == (1, "KeyboardInterrupt: \n")
    assert not (tmp_path / "root" / TRACE).exists()
