"""The manifest of a staged bundle: checksums of all files at its check, and the image in which it was built."""

import hashlib
import os
import stat
from pathlib import Path

import msgspec

from gpuaas.engines.base import EngineError
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import StagedBundle

MANIFEST, RECORD = "manifest.json", "bundle.json"
BLOCK = 1 << 20
SHOWN = 50  # drifted files that are listed


class UnreadableBundleError(Exception):
    """The folder is not a staged bundle."""


def take(root: Path) -> dict[str, str]:
    """Path → a description that changes with the content."""
    found = {}
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(folder, name)
            below = str(path.relative_to(root))
            if below not in (MANIFEST, RECORD) and (path.is_symlink() or name in files):
                found[below] = _describe(path)
    return found


def _describe(path: Path) -> str:
    facts = path.lstat()
    if stat.S_ISLNK(facts.st_mode):
        return f"link {path.readlink()}"
    if not stat.S_ISREG(facts.st_mode):
        return "neither a file nor a link"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return f"{'x' if facts.st_mode & 0o111 else '-'} {digest.hexdigest()}"


def seal(root: Path, files: dict[str, str]) -> str:
    """Write the manifest; the control plane stores its checksum, which programs on the node cannot change."""
    content = msgspec.json.encode(files, order="deterministic")
    (root / MANIFEST).write_bytes(content)
    (root / MANIFEST).chmod(0o644)
    return _checksum(content)


def record(root: Path, bundle: StagedBundle) -> None:
    (root / RECORD).write_bytes(msgspec.json.encode(bundle))
    (root / RECORD).chmod(0o644)


def read(root: Path) -> StagedBundle:
    try:
        return msgspec.json.decode((root / RECORD).read_bytes(), type=StagedBundle)
    except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError) as error:
        raise UnreadableBundleError(str(error)) from error


def drift(root: Path, manifest: str) -> list[str]:
    """Changed, missing and added files; the manifest, if its checksum differs."""
    try:
        content = (root / MANIFEST).read_bytes()
        wanted = msgspec.json.decode(content, type=dict[str, str])
    except (FileNotFoundError, msgspec.DecodeError):
        return [MANIFEST]
    if _checksum(content) != manifest:
        return [MANIFEST]
    found = take(root)
    return sorted(path for path in {*wanted, *found} if wanted.get(path) != found.get(path))[:SHOWN]


def _checksum(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def require_built_for(staged: StagedBundle, image: BaseImage | None) -> None:
    """Why the bundle does not fit: it uses the Python and the libraries of the image in which it was built. A bundle
    without a recorded image is not refused."""
    if image is None or not staged.distribution:
        return
    if (staged.distribution, staged.python) != (image.distribution, image.python):
        raise EngineError(
            f"the bundle was built for {staged.distribution} with Python {staged.python}, and the base image of this "
            f"environment has {image.distribution} with Python {image.python}",
            f"{staged.slug} {staged.version}; image {image.version}",
        )
