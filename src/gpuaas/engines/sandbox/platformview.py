"""What the platform itself lays into a person's root: staged runtime bundles and its few commands.

Runs inside pid 1 before it serves: standard library only.
"""

# ruff: noqa: PTH102, PTH112, PTH114, PTH115, PTH208, PTH211 (plain strings: pathlib would cost pid 1 a third of its start)

import os
from collections.abc import Callable

from gpuaas.engines.sandbox import kernel

OPT, PLATFORM = "/opt", "gpuaas"
PROGRAMS = "/usr/local/bin"  # on everybody's PATH, of login shells too
QUIET = kernel.MS_NOSUID | kernel.MS_NODEV
Share = Callable[[str, str], None]


def share_opt(view: str, share: Share) -> None:
    """The machine's own /opt, entry by entry: nothing the platform has on the machine is seen, only what is laid in."""
    os.mkdir(view + OPT)
    if os.path.isdir(OPT):
        _share_entries(OPT, view + OPT, leave_out=[PLATFORM], share=share)


def _share_entries(source: str, target: str, *, leave_out: list[str], share: Share) -> None:
    for name in sorted(os.listdir(source)):
        if name in leave_out:
            continue
        if os.path.islink(f"{source}/{name}"):
            os.symlink(os.readlink(f"{source}/{name}"), f"{target}/{name}")
        else:
            share(f"{source}/{name}", f"{target}/{name}")


def lay_in(view: str, platform: dict[str, str], share: Share) -> None:
    """`runtimes` is the folder of staged bundles: a later one is seen at once. `programs` go before the machine's."""
    if platform.get("runtimes"):
        share(platform["runtimes"], f"{view}{OPT}/{PLATFORM}/runtimes")
    if platform.get("programs") and os.path.isdir(view + PROGRAMS):
        kernel.mount("programs", view + PROGRAMS, "tmpfs", QUIET, "mode=755,size=64k")
        _share_entries(PROGRAMS, view + PROGRAMS, leave_out=os.listdir(platform["programs"]), share=share)
        _share_entries(platform["programs"], view + PROGRAMS, leave_out=[], share=share)
        kernel.restrict_mount(view + PROGRAMS, QUIET | kernel.MS_RDONLY, recursive=False)
