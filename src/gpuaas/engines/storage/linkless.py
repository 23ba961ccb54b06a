"""A command that meets links below one folder and never follows one, whatever people swap for what meanwhile.

`cp` looks at a name first and opens it later. Who exchanges a folder for a link in between would have it read, with the
agent's rights, what is not theirs. Started by `unshare` in mounts of its own. Standard library only.
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
