"""Base images of a node: versioned, whole or absent, one of them current.

A folder of images holds `<version>/root` with `<version>/image.json` and `<version>/manifest`, and the link `current`.
Names of incomplete images begin with a dot. Only root can enter the folder, because images contain setuid programs, and
those of an old image may have known flaws. Environments see an image through a mount and need no path to it.
"""

# ruff: noqa: ASYNC240 (a few names of one folder)

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
"""Names a folder of images that several engines of one machine share."""
CURRENT, DRAFT, REMOVED = "current", ".draft-", ".removed-"
RECORD, MANIFEST, ROOT, CLAIMS = "image.json", "manifest", "root", "claims"
OS_RELEASE = "usr/lib/os-release"


class ImageError(EngineError):
    """An image could not be had; says what to do next, with the last lines of the log where there is one."""

    def __init__(self, detail: str, next_step: str, excerpt: tuple[str, ...] = ()) -> None:
        super().__init__("the node has no usable base image", detail)
        self.next_step, self.excerpt = next_step, excerpt


class Image(Struct, frozen=True, kw_only=True, omit_defaults=True):
    version: str
    digest: str
    """Over the manifest: a line for each path with mode, owner, size and content."""
    recipe: str
    distribution: str
    release: str
    architecture: str
    python: str
    sshd: str
    packages: dict[str, str]
    added: tuple[str, ...] = ()
    """Packages that the operator added to those of the platform."""
    built_at: datetime
    bytes: int
    checked_at: datetime | None = None
    """When the package sources had nothing newer for it."""
    replaced_at: datetime | None = None
    """When the next image became current in its place."""
    folder: str = ""
    """Where it was read from; not part of the record, so that a folder of images can be moved."""

    @property
    def root(self) -> Path:
        """The lower layer of environments: owned by root, never written."""
        return Path(self.folder, ROOT)

    @property
    def python_series(self) -> str:
        """As bundles name it: `3.11.2` is 3.11."""
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
    """Where images are: below the folder of the agent or engine, or in the folder that GPUAAS_IMAGES names."""
    return Path(shared).absolute() if shared else parent.absolute() / "images"


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def read(folder: Path, version: str) -> Image | None:
    """None also for another name of an image, such as `current` or a path that leads to it."""
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
    """All whole images, oldest first."""
    names = sorted(path.name for path in folder.glob("[!.]*/")) if folder.is_dir() else ()
    found = (read(folder, name) for name in names)
    return tuple(sorted((image for image in found if image), key=lambda image: image.built_at))


def os_release(text: str) -> dict[str, str]:
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))


def replaced_at(image: Image, chosen: Image | None) -> datetime | None:
    """Since when a newer one with other files is current; None for the current one. An image of an older release of the
    product did not note it."""
    if chosen is None or chosen.built_at <= image.built_at or chosen.digest == image.digest:
        return None
    return image.replaced_at or chosen.built_at


def outdated_since(image: Image, age: timedelta, now: datetime) -> datetime | None:
    """From when on nobody had built it or compared its packages with the package sources for so long."""
    due = max(image.built_at, image.checked_at or image.built_at) + age
    return due if age and due < now else None


def is_old(image: Image, age: timedelta, now: datetime) -> bool:
    """Older than this; whether its packages are, only the package sources know (image_build.outdated_packages)."""
    return now - image.built_at > age


@contextmanager
def building(folder: Path) -> Iterator[bool]:
    """Hold the lock of builds; False when somebody else has it. A killed holder gives it up."""
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
    """Erase drafts and half-removed images. The caller holds the lock, so no draft belongs to a running build."""
    for path in (*folder.glob(f"{REMOVED}*"),):
        if any(living_claims(path / CLAIMS)):  # claimed while `remove` was interrupted
            path.rename(folder / path.name.removeprefix(REMOVED))
    await files.erase(*folder.glob(f"{DRAFT}*"), *folder.glob(f"{REMOVED}*"))


def make_draft(folder: Path) -> Path:
    draft = folder / f"{DRAFT}{secrets.token_hex(4)}"
    draft.mkdir(mode=0o700)
    return draft


def publish(folder: Path, draft: Path, image: Image, manifest: bytes) -> Image:
    """Make a draft with its `root` an image, and the current one. After a crash it is whole or still
    a draft; the caller has synced the files of `root`."""
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
    """Add to the record what became known after the build; the digest is over the files and stays."""
    noted = structs.replace(image, **facts)
    write_record(Path(image.folder), noted)
    return noted


def write_record(folder: Path, image: Image) -> None:
    files.write_whole(folder / RECORD, msgspec.json.format(msgspec.json.encode(structs.replace(image, folder=""))))


def make_current(folder: Path, version: str) -> None:
    """Replaced by a rename: a reader finds the old one or the new one, at no time none."""
    new = folder / f".{CURRENT}.new"
    new.unlink(missing_ok=True)
    new.symlink_to(version)
    new.rename(folder / CURRENT)
    files.sync_folder(folder)


def claim(image: Image, environment: Path) -> None:
    """Keep the image for as long as this folder of an environment exists; the folder is there before the claim.

    The claim is a link to the folder and ends with it, so a crash never leaves an image claimed for good. Engines that
    share a folder of images see each other's claims.
    """
    link = Path(image.folder, CLAIMS, f"{environment.name}-{secrets.token_hex(4)}")
    try:
        link.symlink_to(environment.absolute())
    except FileNotFoundError as error:
        raise ImageError(f"image {image.version} was removed", "gpuaas node image build") from error


def claimants(folder: Path, version: str) -> tuple[str, ...]:
    """Folders of environments that start from this image; claims that ended are swept."""
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
    (folder / version).rename(gone)  # no claim can be made from here on
    if users := tuple(living_claims(gone / CLAIMS)):
        gone.rename(folder / version)
        raise in_use_error(version, users)
    await files.erase(gone)


async def prune(folder: Path) -> tuple[str, ...]:
    """Remove images that no environment uses, except the current one and the one before it; the versions removed."""
    chosen = current(folder)
    older = [image.version for image in list(folder) if chosen and image.version != chosen.version]
    removed = []
    for version in older[:-1]:
        try:
            await remove(folder, version)
        except ImageError:  # in use, or claimed just now: the next prune looks again
            continue
        removed.append(version)
    return tuple(removed)


def in_use_error(version: str, users: tuple[str, ...]) -> ImageError:
    count = f"{len(users)} environments" if len(users) > 1 else "an environment"
    return ImageError(f"image {version} is in use by {count}", "release the environments first", users[:10])


def verify(image: Image) -> tuple[str, ...]:
    """Hash everything again; a line for each difference, none when the image is as it was built."""
    manifest = Path(image.folder, MANIFEST).read_bytes()
    if image_manifest.digest(manifest) != image.digest:
        return ("changed: the manifest does not have the digest of the image",)
    return tuple(image_manifest.differences(image_manifest.decode(manifest), image.root))
