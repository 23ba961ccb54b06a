"""Builds base images: one at a time, published when complete, and only if packages have changed."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from gpuaas.engines.base import OnPhase
from gpuaas.engines.images import image_bootstrap, image_manifest, image_recipe, image_schedule, images
from gpuaas.engines.images.image_bootstrap import Node, look_at_node
from gpuaas.engines.images.image_progress import Progress
from gpuaas.engines.images.images import Image, ImageError
from gpuaas.engines.node import commands, files

LOCK_SECONDS = 0.5


def check_names(added: Iterable[str]) -> tuple[str, ...]:
    """Validate package names, because apt interprets other words as options or patterns."""
    names = tuple(sorted(set(added)))
    for name in names:
        if not image_recipe.NAME.fullmatch(name):
            raise ImageError(f"{name} is not a valid Debian package name", "write NAME or NAME=VERSION")
    return names


async def ensure(
    folder: Path, *, added: Iterable[str], environ: Mapping[str, str], now: Callable[[], datetime], on_phase: OnPhase
) -> Image:
    """The current image if it has this release's recipe, otherwise a new one. Does not compare packages, so an existing
    image needs no network."""
    if image := of_recipe(folder):
        return image
    async with lock(folder, on_phase):
        if image := of_recipe(folder):  # another process built it meanwhile
            return image
        return await build(folder, check_names(added), await look_at_node(environ), now, on_phase)


def of_recipe(folder: Path) -> Image | None:
    image = images.current(folder)
    return image if image and image.recipe == image_recipe.recipe() else None


async def update(
    folder: Path,
    *,
    added: Iterable[str],
    environ: Mapping[str, str],
    now: Callable[[], datetime],
    on_phase: OnPhase,
    force: bool = False,
) -> tuple[Image, bool]:
    """The image with current packages, and whether it was built now."""
    names = check_names(added)
    node = await look_at_node(environ)
    async with lock(folder, on_phase):
        image = of_recipe(folder)
        if image and image.added == names and not force:
            await on_phase("comparing", "packages of the current image with the package sources")
            if not (changes := await outdated_packages(folder, image, node)):
                image_schedule.forget_failure(folder)
                return images.note(image, checked_at=now()), False
            await on_phase("outdated", f"{len(changes)} packages: {', '.join(changes[:5])}")
        made = await build(folder, names, node, now, on_phase)
        image_schedule.forget_failure(folder)
        return made, True


@asynccontextmanager
async def lock(folder: Path, on_phase: OnPhase) -> AsyncIterator[None]:
    is_told = False
    while True:
        with images.building(folder) as is_ours:
            if is_ours:
                await images.erase_leftovers(folder)
                yield
                return
        if not is_told:
            await on_phase("waiting", "another build runs")
            is_told = True
        await asyncio.sleep(LOCK_SECONDS)


async def outdated_packages(folder: Path, image: Image, node: Node) -> list[str]:
    """Packages of the image for which apt would install another version.

    Names that only the simulation has are ignored: it chooses alternatives without the essential packages installed."""
    draft = images.make_draft(folder)
    try:
        lines = await image_bootstrap.run(draft, image.added, node, on_line=nothing, simulate=True)
    finally:
        await files.erase(draft)
    offered = offered_versions(lines)
    return [
        f"{name} {version} → {offered[name]}"
        for name, version in image.packages.items()
        if name in offered and offered[name] != version
    ]


def offered_versions(lines: Iterable[str]) -> dict[str, str]:
    """Parse `Inst name (version …)`, the output of an apt simulation."""
    found = (re.match(r"Inst (\S+) (?:\[\S+\] )?\((\S+) ", line) for line in lines)
    return {each[1]: each[2] for each in found if each}


async def nothing(_line: str) -> None:
    """Ignores progress."""


async def build(
    folder: Path, added: tuple[str, ...], node: Node, now: Callable[[], datetime], on_phase: OnPhase
) -> Image:
    """Build an image and make it current; the caller holds the lock."""
    draft = images.make_draft(folder)
    progress = Progress()

    async def on_line(line: str) -> None:
        if step := progress.hear(line):
            await on_phase(*step)

    try:
        await image_bootstrap.run(draft, added, node, on_line=on_line)
        if (draft / "work").is_dir():
            (draft / "work/root").rename(draft / images.ROOT)
        await on_phase("preparing", "for many tenants")
        await asyncio.to_thread(image_recipe.finish, draft / images.ROOT, node.sources, node.settings, node.keys)
        await files.erase(draft / "work", draft / "input")
        await on_phase("hashing", "every file")
        manifest = await asyncio.to_thread(manifest_of, draft / images.ROOT)
        image = describe(draft / images.ROOT, manifest, node, added, now())
        await on_phase("publishing", image.version)
        # After a power failure, a final name must not refer to partial content.
        await commands.run("sync", "--file-system", str(draft))
        made = images.publish(folder, draft, image, manifest)
    finally:
        await files.erase(draft)
    for version in await images.prune(folder):
        await on_phase("pruned", version)
    return made


def manifest_of(root: Path) -> bytes:
    return image_manifest.encode(image_manifest.entries(root))


def describe(root: Path, manifest: bytes, node: Node, added: tuple[str, ...], at: datetime) -> Image:
    packages = image_recipe.packages_of(root)
    digest = image_manifest.digest(manifest)
    return Image(
        version=f"{node.release}-{at:%Y%m%d-%H%M%S}-{digest.partition(':')[2][:8]}",
        digest=digest,
        recipe=image_recipe.recipe(),
        distribution="debian",
        release=node.release,
        architecture=node.architecture,
        python=packages["python3"].partition("-")[0],
        sshd=packages["openssh-server"],
        packages=packages,
        added=added,
        built_at=at,
        bytes=image_manifest.total(manifest),
    )
