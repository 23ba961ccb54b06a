"""Mount paths of volumes: a list of allowed paths, not of forbidden ones."""

import re

from gpuaas.core.errors import ValidationError

ROOTS = ("/data", "/datasets", "/models", "/scratch", "/volumes", "/workspace")  # these and everything below
PARENTS = ("/mnt", "/srv")  # only what is below them
DEEPEST = 8
COMPONENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,62}")


class MountPathRefused(ValidationError):
    code = "mount_path_refused"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"A volume cannot be mounted at {path!r}: {why}. Use a path such as /data or /mnt/x, or one in your home.",
            errors={"mount_path": why},
        )


def check(path: str, username: str, others: list[str]) -> str:
    """Returns the path; `others` are the mount paths of the same allocation."""
    if not path.startswith("/"):
        raise MountPathRefused(path, "it does not begin at /")
    names = path[1:].split("/")
    if "" in names or "." in names or ".." in names:
        raise MountPathRefused(path, "it is not in its shortest form")
    if not all(COMPONENT.fullmatch(name) for name in names):
        raise MountPathRefused(path, "each part may contain letters, digits, - _ . and begins with a letter or digit")
    if len(names) > DEEPEST:
        raise MountPathRefused(path, f"it is more than {DEEPEST} folders deep")
    home = f"/home/{username}"
    below = any(path.startswith(f"{parent}/") for parent in (*ROOTS, *PARENTS, home))
    if not below and path not in ROOTS:
        raise MountPathRefused(path, "it would hide a folder of the system")
    for other in others:
        if path == other:
            raise MountPathRefused(path, "another volume is attached there")
        if path.startswith(f"{other}/") or other.startswith(f"{path}/"):
            raise MountPathRefused(path, f"it and the mount path {other} would be nested")
    return path
