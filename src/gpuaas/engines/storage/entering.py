"""For programs of ours that enter the root of an environment with the rights of the node. Standard library only.

Inside, every path leads to files of the guest. Python reads files by itself: a module on first use, and the source of
every frame of a traceback, whose `coding` line names a module to be imported. None of that happens after `enter`.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from gpuaas.engines.node.kernel import CLONE_NEWNS, setns


def forbid_imports() -> None:
    """A module that Python loads on first use would come from the environment once its root is entered."""
    sys.meta_path.clear()
    sys.path_hooks.clear()
    sys.path.clear()


def enter(mounts: int, root: int) -> None:
    """Joins a mount namespace and makes `root` the root; both were opened before. Call it from within `run` only."""
    forbid_imports()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the process without an exception
    sys.unraisablehook = _say_nothing
    setns(mounts, CLONE_NEWNS)
    os.fchdir(root)
    os.chroot(".")


def run(work: Callable[[], bytes]) -> NoReturn:
    """Writes what the work returns and ends the process. No exception leaves it, so that no traceback is made."""
    code = 1
    try:
        os.write(1, work())
        code = 0
    except BaseException as error:  # noqa: BLE001 # house: broad-except because a traceback reads files of the guest
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)


def _say_nothing(_: object) -> None:
    """The default prints a traceback."""
