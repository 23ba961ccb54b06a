"""SEC13: a thief of a node's key reports base images and spares with moments beyond UTC and texts without end."""

import importlib
import pkgutil
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
import pytest
from msgspec.structs import replace

from gpuaas import wire as wire_package
from gpuaas.cli.words import clock
from gpuaas.core.bounds import EPOCH
from gpuaas.domain.node_messages.cleaning import LONGEST_FACT, LONGEST_NAME, MOST_SPARES
from gpuaas.wire.common import Dated
from gpuaas.wire.images import BaseImage, CurrentImage, ImageReport
from gpuaas.wire.link import Report, Up
from gpuaas.wire.spares import Spare, SpareReport
from tests.attacks.stolen_key import activated, opening, running, said
from tests.isolation.machines import encode, enrol
from tests.links.wires import Wire
from tests.world import World

EXTREMES = ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00")
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
LONG = "x" * 100_000


@pytest.fixture
async def wire(world: World) -> AsyncIterator[Wire]:
    async with opening(world, await enrol(world, "robbed")) as linked:
        yield await linked("thief")


def base_image(replaced_at: datetime, text: str = "one") -> BaseImage:
    return BaseImage(version=text, distribution=text, python=text, built_at=replaced_at, replaced_at=replaced_at)


def current_image(at: datetime, text: str = "one") -> CurrentImage:
    return CurrentImage(
        version=text,
        distribution=text,
        python=text,
        sshd=text,
        built_at=at,
        checked_at=at,
        max_age_days=(1 << 63) - 1,
        outdated_since=at,
        failure=text,
    )


def with_moments(message: Up, honest: datetime, extreme: str) -> bytes:
    """The message as a thief would write it: the struct itself would refuse this moment."""
    return msgspec.msgpack.encode(put(msgspec.msgpack.decode(encode(message)), honest, extreme))


def put(said: object, honest: datetime, extreme: str) -> object:
    match said:
        case dict():
            return {key: put(value, honest, extreme) for key, value in said.items()}
        case list():
            return [put(each, honest, extreme) for each in said]
        case datetime() if said == honest:
            return extreme
        case _:
            return said


async def statuses(world: World, allocation_id: str) -> list[int]:
    """Of a page of the tenant's, the allocation, and the pages of operators."""
    places = (f"projects/{world.ada.project_id}/allocations", f"allocations/{allocation_id}")
    answers = [await world.http.get(f"/api/v1/{place}") for place in places]
    answers += [await world.operator.http.get(f"/api/v1/admin/{place}") for place in ("allocations", "nodes")]
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("extreme", EXTREMES)
async def test_no_moment_of_an_image_keeps_an_allocation_from_being_read_restarted_and_released(
    world: World, wire: Wire, extreme: str
) -> None:
    allocation_id = await activated(world, wire)
    world.clock.advance(seconds=10)
    honest = datetime(2020, 5, 5, tzinfo=UTC)
    seen = replace(running(allocation_id), image=base_image(honest))
    wire.say(with_moments(Report(environments=[seen], at=world.clock.now()), honest, extreme))
    wire.say(with_moments(ImageReport(image=current_image(honest)), honest, extreme))
    await said(world, wire, Report(environments=[running(allocation_id)], at=world.clock.now()))
    assert await statuses(world, allocation_id) == [200] * 4
    assert (await world.http.post(f"/api/v1/allocations/{allocation_id}/restart", json={})).status_code == 202
    assert (await world.release(allocation_id)).status_code == 202


@pytest.mark.parametrize("extreme", [FIRST, LAST])
async def test_moments_of_images_are_kept_between_the_epoch_and_now(
    world: World, wire: Wire, extreme: datetime
) -> None:
    allocation_id = await activated(world, wire)
    world.clock.advance(seconds=10)
    seen = replace(running(allocation_id), image=base_image(extreme))
    reports = (Report(environments=[seen], at=world.clock.now()), ImageReport(image=current_image(extreme)))
    await said(world, wire, *reports)
    node_id = (await world.get(allocation_id)).node_id
    node = (await world.operator.http.get(f"/api/v1/admin/nodes/{node_id}")).raise_for_status().json()
    shown, current = (await world.seen(allocation_id))["image"], node["image"]
    told = [shown[name] for name in ("built_at", "outdated_since")]
    told += [current[name] for name in ("built_at", "checked_at", "outdated_since")]
    assert all(EPOCH <= datetime.fromisoformat(moment) <= world.clock.now() for moment in told)


async def test_texts_and_lists_of_images_and_spares_are_cut(world: World, wire: Wire) -> None:
    allocation_id = await activated(world, wire)
    world.clock.advance(seconds=10)
    now = world.clock.now()
    seen = replace(running(allocation_id), image=base_image(now, LONG))
    spares = SpareReport(
        ready=tuple(Spare(id=LONG, slots=tuple(range(5000))) for _ in range(100)), used=1 << 62, detail=LONG
    )
    await said(world, wire, Report(environments=[seen], at=now), ImageReport(image=current_image(now, LONG)), spares)
    size = "select octet_length(image::text) from allocations where id = $1"
    assert await world.value(size, allocation_id) < 5 * LONGEST_NAME
    sizes = "select octet_length(image::text), octet_length(spares::text) from nodes where image is not null"
    assert await world.value(sizes) < 5 * LONGEST_NAME + 2 * LONGEST_FACT
    assert await world.value("select max(octet_length(spares::text)) from nodes") < MOST_SPARES * 1000
    assert await world.value("select max(jsonb_array_length(spares -> 'ready')) from nodes") == MOST_SPARES


def test_every_struct_with_a_moment_refuses_one_that_utc_cannot_hold() -> None:
    careless = [
        struct.__name__
        for module in pkgutil.iter_modules(wire_package.__path__, "gpuaas.wire.")
        for struct in vars(importlib.import_module(module.name)).values()
        if isinstance(struct, type) and issubclass(struct, msgspec.Struct) and not issubclass(struct, Dated)
        if any("tz=True" in repr(kind) for kind in struct.__annotations__.values())
        and not struct.__struct_config__.forbid_unknown_fields  # request bodies, refused by field
    ]
    assert careless == []
    with pytest.raises(msgspec.ValidationError, match="built_at is a time that UTC cannot represent"):
        msgspec.convert({"version": "", "distribution": "", "python": "", "built_at": EXTREMES[0]}, type=BaseImage)


@pytest.mark.parametrize("zone", ["XST-12", "XST+12"])
@pytest.mark.parametrize("moment", [FIRST, LAST])
def test_the_command_line_shows_the_ends_of_the_calendar_in_every_zone(
    monkeypatch: pytest.MonkeyPatch, moment: datetime, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert clock(moment)
    finally:
        monkeypatch.undo()
        time.tzset()
