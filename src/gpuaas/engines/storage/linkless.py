"""Runs a command that never follows a symbolic link below one folder.

`cp` checks a name and opens it later; a tenant who replaces a folder by a link in between would make it read other
files with the agent's rights. Started by `unshare` with private mounts. Uses only the standard library.
"""

import os
import sys

from gpuaas.engines.node import kernel


def main() -> None:
    folder, *argv = sys.argv[1:]
    kernel.mount(folder, folder, flags=kernel.MS_BIND)
    kernel.restrict_mount(folder, kernel.MOUNT_ATTR_NOSYMFOLLOW, recursive=True)
    os.execvp(argv[0], argv)  # noqa: S606 (the engine's own command)


if __name__ == "__main__":
    main()
