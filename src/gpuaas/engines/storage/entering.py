"""For programs that enter the root of an environment with rights on the node. Uses only the standard library.

Inside, every path leads to files of the tenant. Python reads files implicitly: modules on first use, and the source of
every frame of a traceback, whose `coding` line names a module to import. This module prevents both after `enter`.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from gpuaas.engines.node.kernel import CLONE_NEWNS, setns


def forbid_imports() -> None:
    """Import modules that Python would otherwise load on first use, from the files of the environment."""
    sys.meta_path.clear()
    sys.path_hooks.clear()
    sys.path.clear()


def enter(mounts: int, root: int) -> None:
    """Join a mount namespace and change to `root`; both were opened before. Call it only within `run`."""
    forbid_imports()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the process without an exception
    sys.unraisablehook = _say_nothing
    setns(mounts, CLONE_NEWNS)
    os.fchdir(root)
    os.chroot(".")


def run(work: Callable[[], bytes]) -> NoReturn:
    """Write the result and end the process. Catches all exceptions, so that no traceback is created."""
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
