"""A bundle fits the base image that an allocation started from, whatever image is current on its node by now."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Never

import pytest
from msgspec.structs import replace

from gpuaas.engines.base import EngineError
from gpuaas.engines.node.records import Record, Records
from gpuaas.engines.node.site import Site
from gpuaas.engines.runtimes import manifests
from gpuaas.engines.runtimes.runtimes import NodeRuntimes
from gpuaas.wire.images import BaseImage
from gpuaas.wire.runtimes import BundleSpec, StagedBundle
from tests.engines.benches import keys
from tests.engines.benches import spec as environment
from tests.fleet import Node
from tests.runtimes.shelves import applied, ask, publish, shelve
from tests.runtimes.test_decide import NOON
from tests.runtimes.wheels import descriptor, publication, spec
from tests.world import World

BOOKWORM = BaseImage(version="old", distribution="debian-12", python="3.11", built_at=NOON)


class Bundles:
    """The bundles of a node with one environment, whose image is `image`."""

    def __init__(self, folder: Path) -> None:
        self.image: BaseImage | None = BOOKWORM
        self.site = Site(folder / "node")
        self.site.open()
        self.bundle, records = spec(folder / "wheels", "1.0"), Records(self.site.environments)
        (records.folder("a") / "etc/gpuaas").mkdir(parents=True)
        record = Record(
            spec=environment("a", keys(1)), boot=1, index=0, port=1, host_key="", keys=keys(1), started_at=NOON
        )
        records.write("a", record)
        self.runtimes = NodeRuntimes(
            self.site,
            records,
            lambda _: self.image,
            staging=_no_staging,
            alone=lambda _: contextlib.nullcontext(),
            clock=lambda: NOON,
        )

    def lay(self, distribution: str = "", python: str = "") -> None:
        """As if it had been staged."""
        tree = self.site.runtimes / self.bundle.slug / self.bundle.version
        tree.mkdir(parents=True, exist_ok=True)
        staged = StagedBundle(
            slug=self.bundle.slug,
            version=self.bundle.version,
            digest=self.bundle.digest,
            manifest="m",
            health="",
            files=0,
            bytes=0,
            staged_at=NOON,
            distribution=distribution,
            python=python,
        )
        manifests.record(tree, staged)

    async def write(self) -> None:
        await self.runtimes.write_descriptor("a", descriptor(self.bundle))


def _no_staging(bundle: BundleSpec, _tell: object) -> Never:
    raise AssertionError(bundle)


@pytest.fixture
def bundles(tmp_path: Path) -> Iterator[Bundles]:
    made = Bundles(tmp_path)
    yield made
    made.site.close()


async def test_a_node_never_makes_a_bundle_current_that_was_built_for_another_image(bundles: Bundles) -> None:
    bundles.lay("debian-13", "3.13")
    with pytest.raises(EngineError) as refusal:
        await bundles.write()
    assert refusal.value.reason == (
        "the bundle was built for debian-13 with Python 3.13, and the base image of this environment has debian-12 "
        "with Python 3.11"
    )
    assert await bundles.runtimes.descriptor("a") is None


async def test_the_same_bundle_becomes_current_where_the_image_fits_or_was_not_recorded(bundles: Bundles) -> None:
    bundles.lay("debian-12", "3.11")
    await bundles.write()
    assert await bundles.runtimes.descriptor("a") == descriptor(bundles.bundle)
    await bundles.runtimes.write_descriptor("a", None)
    bundles.lay()
    await bundles.write()
    bundles.lay("debian-13", "3.13")
    bundles.image = None
    await bundles.write()


def upgrade(node: Node) -> None:
    """The node was upgraded to another release, and a new image was built."""
    now = node.images.current
    node.images.current = replace(
        now, version="simulated-2", distribution="debian-13", python="3.13", built_at=now.built_at + timedelta(days=7)
    )


async def test_an_allocation_from_before_a_new_image_gets_only_bundles_that_fit_its_own(
    world: World, tmp_path: Path
) -> None:
    await shelve(world, tmp_path, "1.0", "2.0")
    newer = publication(tmp_path, "3.0")
    newer = replace(newer, recipe=replace(newer.recipe, python="3.13"))
    old = await world.allocation()
    await applied(world, old, runtime_bundle_slug="python-data", version="1.0")
    [node] = world.nodes.all.values()
    upgrade(node)
    await world.nodes.report(node)
    await publish(world, newer)

    async def judged(id: str) -> dict[str, dict[str, object]]:
        shown = await world.http.get("/api/v1/runtime-bundles", params={"allocation_id": id})
        return {each["version"]: each["compatibility"] for each in shown.json()["items"]}

    found = await judged(old)
    assert found["1.0"] == {"compatible": True, "reason": "", "staged": True}
    assert "it is not staged on the node, whose current base image has debian-13" in str(found["2.0"]["reason"])
    assert found["3.0"]["reason"] == "it needs Python 3.13, and the base image of this allocation has 3.11."
    refused = await ask(world, old, runtime_bundle_slug="python-data", version="3.0")
    assert (refused.status_code, refused.json()["code"]) == (409, "bundle_incompatible")
    assert (await ask(world, old, action="upgrade")).status_code == 409, "nothing newer fits"

    new = await world.allocation()
    assert {version: each["compatible"] for version, each in (await judged(new)).items()} == {
        "1.0": False,
        "2.0": False,
        "3.0": True,
    }
    shown = await applied(world, new, runtime_bundle_slug="python-data")
    assert (shown["state"], shown["observed_bundle"]["version"]) == ("applied", "3.0")
