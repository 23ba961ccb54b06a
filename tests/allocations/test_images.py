"""Which base image an allocation has, and that a newer one is current on its node."""

from datetime import timedelta

from msgspec.structs import replace

from gpuaas.domain.allocations.observations.drift import new_images
from gpuaas.domain.allocations.views import image
from gpuaas.wire.allocations import Status
from gpuaas.wire.images import BaseImage
from gpuaas.wire.link import Report
from tests.allocations.rows import NOON, environment, row
from tests.world import World

IMAGE = BaseImage(version="one", distribution="debian-12", python="3.11", built_at=NOON)
REPLACED = replace(IMAGE, replaced_at=NOON + timedelta(days=7))


def test_an_outdated_image_says_since_when_and_what_to_do() -> None:
    assert image(row(Status.ACTIVE)) is None
    current = image(row(Status.ACTIVE, image=IMAGE))
    assert current is not None
    assert (current.version, current.outdated_since, current.advice) == ("one", None, "")
    outdated = image(row(Status.ACTIVE, image=REPLACED))
    assert outdated is not None
    assert outdated.outdated_since == REPLACED.replaced_at
    assert outdated.advice.startswith("A newer base image has been current on its node since 2026-06-08 12:00 UTC.")
    assert "`sudo apt-get update && sudo apt-get upgrade`" in outdated.advice
    released = image(row(Status.RELEASED, image=REPLACED, cleanup_proven_at=NOON))
    assert released is not None
    assert released.advice == "", "there is nothing left to update"


def test_an_image_is_written_only_when_the_node_reports_another_one() -> None:
    def found(known: BaseImage | None, reported: BaseImage | None) -> dict[str, BaseImage]:
        report = Report(environments=[replace(environment(), image=reported)], at=NOON)
        return new_images({"node_a": [row(Status.ACTIVE, image=known)]}, {"node_a": report})

    assert found(None, IMAGE) == {"alloc_a": IMAGE}
    assert found(IMAGE, REPLACED) == {"alloc_a": REPLACED}
    assert found(IMAGE, IMAGE) == found(IMAGE, None) == {}


async def test_an_allocation_shows_that_its_image_is_outdated_until_it_is_a_new_one(world: World) -> None:
    old = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(old))
    before = (await world.seen(old))["image"]
    assert (before["version"], before["distribution"], before["outdated_since"]) == ("simulated-1", "debian-12", None)
    now = node.images.current
    node.images.current = replace(now, version="simulated-2", built_at=now.built_at + timedelta(days=7))
    await world.nodes.report(node)
    after = await world.seen(old)
    assert after["image"]["version"] == "simulated-1"
    assert after["image"]["outdated_since"].startswith("2026-11-08")
    assert "A restart keeps the image." in after["image"]["advice"]
    assert (after["health"], after["health_reasons"]) == ("ok", []), "outdated is not unhealthy"
    await world.http.post(f"/api/v1/allocations/{old}/restart", json={})
    await world.nodes.settle()
    assert (await world.seen(old))["image"] == after["image"]
    new = (await world.seen(await world.allocation(Status.ACTIVE)))["image"]
    assert (new["version"], new["advice"]) == ("simulated-2", "")
    shown = (await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}")).json()["image"]
    assert shown["version"] == "simulated-2"
