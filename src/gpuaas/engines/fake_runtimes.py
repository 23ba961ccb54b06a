"""Runtime bundles in memory with the same contract; the check fails if its recipe contains `fail`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

from gpuaas.engines.base import EngineError, Telling
from gpuaas.engines.fake_images import FakeImages
from gpuaas.engines.runtimes.manifests import require_built_for
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import IN_USE, NOT_STAGED, BundleSpec, RuntimeDescriptor, StagedBundle

FAIL = "fail"


@dataclass(kw_only=True)
class FakeBundles:
    """Simulates the node's disk."""

    staged: dict[tuple[str, str], StagedBundle] = field(default_factory=dict)
    tampered: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    descriptors: dict[str, RuntimeDescriptor] = field(default_factory=dict)


class FakeRuntimes:
    """`image_of`: the base image of an environment; None if the environment does not exist."""

    def __init__(
        self,
        bundles: FakeBundles,
        images: FakeImages,
        *,
        image_of: Callable[[str], BaseImage | None],
        clock: Callable[[], datetime],
    ) -> None:
        self.bundles, self._images, self._image_of, self._clock = bundles, images, image_of, clock

    async def stage(self, bundle: BundleSpec, tell: Telling, *, manifest: str = "") -> StagedBundle:
        key = (bundle.slug, bundle.version)
        here, drift = self.bundles.staged.get(key), self.bundles.tampered.pop(key, [])
        if here is not None and here.digest != bundle.digest:
            raise EngineError("another bundle has this name and version here", f"{here.digest}, not {bundle.digest}")
        if here is not None and not drift and manifest in ("", here.manifest):
            await tell("staged", f"{here.files} files are as they were")
            return replace(here, drift=[])
        for phase in ("preparing", "downloading", "installing", "checking"):
            await tell(phase, "")
        tell.say("checked in memory")
        if FAIL in bundle.recipe.check:
            raise EngineError("its health check failed: planted", "planted")
        made = StagedBundle(
            slug=bundle.slug,
            version=bundle.version,
            digest=bundle.digest,
            manifest=f"manifest of {bundle.digest}",
            health="checked in memory",
            files=len(bundle.recipe.requirements),
            bytes=0,
            staged_at=self._clock(),
            distribution=self._images.current.distribution,
            python=self._images.current.python,
        )
        self.bundles.staged[key] = made
        await tell("staged", made.health)
        return replace(made, drift=drift)

    async def unstage(self, slug: str, version: str, tell: Telling) -> list[ProofItem]:
        users = [id for id, one in self.bundles.descriptors.items() if (one.slug, one.version) == (slug, version)]
        if users:
            raise EngineError(IN_USE, ", ".join(sorted(users)))
        await tell("removing", f"{slug} {version}")
        self.bundles.staged.pop((slug, version), None)
        await tell("removed", "")
        return [ProofItem(item="bundle_files", ok=True, evidence="looked for in memory")]

    async def staged(self) -> list[StagedBundle]:
        return [self.bundles.staged[key] for key in sorted(self.bundles.staged)]

    async def write_descriptor(self, allocation_id: str, descriptor: RuntimeDescriptor | None) -> None:
        image = self._image_of(allocation_id)
        if image is None:
            raise EngineError("there is no such environment here", allocation_id)
        if descriptor is None:
            self.bundles.descriptors.pop(allocation_id, None)
            return
        here = self.bundles.staged.get((descriptor.slug, descriptor.version))
        if here is None:
            raise EngineError(NOT_STAGED, f"{descriptor.slug} {descriptor.version}")
        if here.digest != descriptor.digest:
            raise EngineError("another bundle has this name and version here", descriptor.slug)
        require_built_for(here, image)
        self.bundles.descriptors[allocation_id] = descriptor

    async def descriptor(self, allocation_id: str) -> RuntimeDescriptor | None:
        return self.bundles.descriptors.get(allocation_id)
