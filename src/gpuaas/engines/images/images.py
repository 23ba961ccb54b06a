"""Base images of a node: versioned, created atomically, one of them current.

A folder of images holds `<version>/root` with `<version>/image.json` and `<version>/manifest`, and the link `current`.
Names of incomplete images begin with a dot. Only root can enter the folder, because images contain setuid programs, and
those of an old image may have known vulnerabilities. Environments use an image through a mount and need no path to it.
"""

# ruff: noqa: ASYNC240 (reads few names of one folder)

import fcntl
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from gpuaas.engines.base import EngineError
from gpuaas.engines.images import image_manifest
from gpuaas.engines.node import files

VARIABLE = "GPUAAS_IMAGES"
"""Variable with a folder of images shared by several engines of one computer."""
CURRENT, DRAFT, REMOVED = "current", ".draft-", ".removed-"
RECORD, MANIFEST, ROOT, CLAIMS = "image.json", "manifest", "root", "claims"
OS_RELEASE = "usr/lib/os-release"


class ImageError(EngineError):
    """An image is unavailable; contains the next step, and the last lines of the log if there is one."""

    def __init__(self, detail: str, next_step: str, excerpt: tuple[str, ...] = ()) -> None:
        super().__init__("the node has no usable base image", detail)
        self.next_step, self.excerpt = next_step, excerpt


class Image(Struct, frozen=True, kw_only=True, omit_defaults=True):
    version: str
    digest: str
    """Digest of the manifest, which has a line for each path with mode, owner, size and content."""
    recipe: str
    distribution: str
    release: str
    architecture: str
    python: str
    sshd: str
    packages: dict[str, str]
    added: tuple[str, ...] = ()
    """Packages added by the operator."""
    built_at: datetime
    bytes: int
    checked_at: datetime | None = None
    """When a comparison found nothing newer in the package sources."""
    replaced_at: datetime | None = None
    """When the next image became current."""
    folder: str = ""
    """Its folder; not part of the record, so that a folder of images can be moved."""

    @property
    def root(self) -> Path:
        """The lower layer of environments: owned by root, read-only."""
        return Path(self.folder, ROOT)

    @property
    def python_series(self) -> str:
        """The version as in bundles: `3.11.2` is 3.11."""
        return ".".join(self.python.split(".")[:2])

    @property
    def system(self) -> str:
        """Distribution and release, as in debian-12; the code name of a release that has no number."""
        try:
            facts = os_release((self.root / OS_RELEASE).read_text())
        except OSError:
            facts = {}
        return f"{facts.get('ID', self.distribution)}-{facts.get('VERSION_ID', self.release)}"


def folder_of(parent: Path, shared: str | None) -> Path:
    """The folder of images: below the folder of the agent or engine, or GPUAAS_IMAGES."""
    return Path(shared).absolute() if shared else parent.absolute() / "images"


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def read(folder: Path, version: str) -> Image | None:
    """Also None for other names of an image, such as `current` or a path."""
    try:
        found = msgspec.json.decode((folder / version / RECORD).read_bytes(), type=Image)
    except (OSError, msgspec.DecodeError):
        return None
    return structs.replace(found, folder=str((folder / version).absolute())) if found.version == version else None


def current(folder: Path) -> Image | None:
    """The image that new environments start from; None before the first build."""
    try:
        version = str((folder / CURRENT).readlink())
    except OSError:
        return None
    return read(folder, version)


def list(folder: Path) -> tuple[Image, ...]:
    """All complete images, oldest first."""
    names = sorted(path.name for path in folder.glob("[!.]*/")) if folder.is_dir() else ()
    found = (read(folder, name) for name in names)
    return tuple(sorted((image for image in found if image), key=lambda image: image.built_at))


def os_release(text: str) -> dict[str, str]:
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))


def replaced_at(image: Image, chosen: Image | None) -> datetime | None:
    """Since when a newer image with other files is current; None for the current one and for images of older releases
    of the product without this fact."""
    if chosen is None or chosen.built_at <= image.built_at or chosen.digest == image.digest:
        return None
    return image.replaced_at or chosen.built_at


def outdated_since(image: Image, age: timedelta, now: datetime) -> datetime | None:
    """When it becomes outdated without a build or a comparison with the package sources."""
    due = max(image.built_at, image.checked_at or image.built_at) + age
    return due if age and due < now else None


def is_old(image: Image, age: timedelta, now: datetime) -> bool:
    """Whether it is older than this; image_build.outdated_packages compares its packages with the sources."""
    return now - image.built_at > age


@contextmanager
def building(folder: Path) -> Iterator[bool]:
    """Hold the build lock; False if another process has it. The kernel releases the lock of a killed process."""
    prepare(folder)
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


async def erase_leftovers(folder: Path) -> None:
    """Erase drafts and partially removed images. The caller holds the lock, so no build is running."""
    for path in (*folder.glob(f"{REMOVED}*"),):
        if any(living_claims(path / CLAIMS)):  # claimed while `remove` was interrupted
            path.rename(folder / path.name.removeprefix(REMOVED))
    await files.erase(*folder.glob(f"{DRAFT}*"), *folder.glob(f"{REMOVED}*"))


def make_draft(folder: Path) -> Path:
    draft = folder / f"{DRAFT}{secrets.token_hex(4)}"
    draft.mkdir(mode=0o700)
    return draft


def publish(folder: Path, draft: Path, image: Image, manifest: bytes) -> Image:
    """Publish a draft with its `root` as the current image. After a crash it is complete or still a draft; the caller
    has synced the files of `root`."""
    files.write_whole(draft / MANIFEST, manifest)
    write_record(draft, image)
    (draft / CLAIMS).mkdir()
    draft.rename(folder / image.version)
    files.sync_folder(folder)
    former = current(folder)
    make_current(folder, image.version)
    if former is not None:
        note(former, replaced_at=image.built_at)
    return structs.replace(image, folder=str((folder / image.version).absolute()))


def note(image: Image, **facts: datetime) -> Image:
    """Add facts to the record after the build; the digest covers the files and does not change."""
    noted = structs.replace(image, **facts)
    write_record(Path(image.folder), noted)
    return noted


def write_record(folder: Path, image: Image) -> None:
    files.write_whole(folder / RECORD, msgspec.json.format(msgspec.json.encode(structs.replace(image, folder=""))))


def make_current(folder: Path, version: str) -> None:
    """Replace it by a rename, so that readers always find the old or the new one."""
    new = folder / f".{CURRENT}.new"
    new.unlink(missing_ok=True)
    new.symlink_to(version)
    new.rename(folder / CURRENT)
    files.sync_folder(folder)


def claim(image: Image, environment: Path) -> None:
    """Claim the image while this folder of an environment exists; the folder exists before the claim.

    The claim is a link to the folder and ends with it, so a crash does not leave a permanent claim. Engines with a
    common folder of images see each other's claims.
    """
    link = Path(image.folder, CLAIMS, f"{environment.name}-{secrets.token_hex(4)}")
    try:
        link.symlink_to(environment.absolute())
    except FileNotFoundError as error:
        raise ImageError(f"image {image.version} was removed", "gpuaas node image build") from error


def claimants(folder: Path, version: str) -> tuple[str, ...]:
    """Folders of environments that use this image; deletes ended claims."""
    return tuple(sorted({*living_claims(folder / version / CLAIMS)}))


def living_claims(claims: Path) -> Iterator[str]:
    for link in claims.glob("*"):
        if link.exists():
            yield str(link.readlink())
        else:
            link.unlink(missing_ok=True)


async def remove(folder: Path, version: str, *, in_use: Iterable[str] = ()) -> None:
    """Refused while it is current, claimed, or among those that the caller knows to be in use."""
    if read(folder, version) is None:
        raise ImageError(f"there is no image {version}", "gpuaas node image list")
    chosen = current(folder)
    if chosen is not None and chosen.version == version:
        raise ImageError(f"image {version} is current", "build a new one first: gpuaas node image build --force")
    users = claimants(folder, version)
    if users or version in in_use:
        raise in_use_error(version, users)
    gone = folder / f"{REMOVED}{version}"
    (folder / version).rename(gone)  # no new claims are possible
    if users := tuple(living_claims(gone / CLAIMS)):
        gone.rename(folder / version)
        raise in_use_error(version, users)
    await files.erase(gone)


async def prune(folder: Path) -> tuple[str, ...]:
    """Remove unused images except the current and the previous one; return the removed versions."""
    chosen = current(folder)
    older = [image.version for image in list(folder) if chosen and image.version != chosen.version]
    removed = []
    for version in older[:-1]:
        try:
            await remove(folder, version)
        except ImageError:  # in use, or just claimed: the next prune checks again
            continue
        removed.append(version)
    return tuple(removed)


def in_use_error(version: str, users: tuple[str, ...]) -> ImageError:
    count = f"{len(users)} environments" if len(users) > 1 else "an environment"
    return ImageError(f"image {version} is in use by {count}", "release the environments first", users[:10])


def verify(image: Image) -> tuple[str, ...]:
    """Hash all files again; return a line for each difference from the built image."""
    manifest = Path(image.folder, MANIFEST).read_bytes()
    if image_manifest.digest(manifest) != image.digest:
        return ("changed: the manifest does not have the digest of the image",)
    return tuple(image_manifest.differences(image_manifest.decode(manifest), image.root))
