"""From a node's sample to what a person reads: kept, rolled up, told with source and age, and never invented."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuaas.domain.metrics import store
from gpuaas.domain.metrics.rollup import RollUp
from gpuaas.domain.metrics.samples import READINGS, SampleBuffer, cleaned
from gpuaas.wire.metrics import Metric, Reading, Sample, Samples
from tests.world import World

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def reading(metric: Metric, value: float | None, why: str = "") -> Reading:
    return Reading(metric=metric, source="a test", value=value, unavailable=why)


def sample(id: str, at: datetime, boot: int = 1, **values: float) -> Sample:
    return Sample(
        allocation_id=id,
        boot=boot,
        at=at,
        readings=tuple(reading(Metric(name), value) for name, value in values.items()),
    )


async def keep(world: World, id: str, *samples: Sample) -> None:
    row = await world.get(id)
    for each in samples:
        async with world.db.write() as tx:
            await store.write(tx, [(row.node_id, each)])


async def shown(world: World, id: str, query: str = "") -> dict[str, dict[str, Any]]:
    answer = (await world.http.get(f"/api/v1/allocations/{id}/metrics{query}")).raise_for_status().json()
    return {series["metric"]: series for series in answer["series"]}


async def age(world: World, id: str, seconds: int) -> None:
    async with world.db.write() as tx:
        await tx.run(
            "update newest_samples set received_at = received_at - make_interval(secs => $2) where allocation_id = $1",
            id,
            seconds,
        )


async def test_a_counter_is_told_as_a_rate_and_a_gauge_as_it_is(world: World) -> None:
    a, now = await world.allocation(), world.clock.now()
    await keep(world, a, sample(a, now - timedelta(seconds=20), cpu=10, memory=5), sample(a, now, cpu=30, memory=7))
    series = await shown(world, a, "?step=10s")
    assert (series["cpu"]["latest"], series["cpu"]["unit"]) == (1.0, "cores")
    assert (series["memory"]["latest"], series["memory"]["unit"], series["memory"]["source"]) == (
        7.0,
        "bytes",
        "a test",
    )
    assert [point["value"] for point in series["memory"]["points"]] == [5.0, 7.0]


async def test_a_restart_between_two_samples_gives_no_rate(world: World) -> None:
    a, now = await world.allocation(), world.clock.now()
    await keep(world, a, sample(a, now - timedelta(seconds=10), cpu=10), sample(a, now, boot=2, cpu=900))
    cpu = (await shown(world, a))["cpu"]
    assert (cpu["latest"], cpu["points"]) == (None, [])
    assert cpu["unavailable"]


async def test_a_sample_too_old_is_no_longer_called_current(world: World) -> None:
    a, now = await world.allocation(), world.clock.now()
    await keep(world, a, sample(a, now, memory=7))
    assert (await world.seen(a))["health"] == "ok"
    await age(world, a, 300)
    memory = (await shown(world, a))["memory"]
    assert memory["latest"] is None
    assert "300 s old" in str(memory["unavailable"])
    seen = await world.seen(a)
    assert seen["health"] == "unknown"
    assert [reason["code"] for reason in seen["health_reasons"]] == ["samples_too_old"]


async def test_before_the_first_sample_nothing_is_claimed(world: World) -> None:
    a = await world.allocation()
    answer = (await world.http.get(f"/api/v1/allocations/{a}/metrics")).json()
    assert (answer["series"], answer["age_seconds"]) == ([], None)
    assert "not sent a sample" in answer["unavailable"]


async def test_a_node_cannot_speak_for_machines_of_another(world: World) -> None:
    a = await world.allocation()
    other = await world.nodes.add()
    async with world.db.write() as tx:
        await store.write(tx, [(other.id, sample(a, world.clock.now(), memory=1))])
        assert await store.newest(tx, a) is None


async def test_what_a_node_finds_wrong_degrades_until_it_is_well(world: World) -> None:
    a = await world.allocation()
    node_id, book = (await world.get(a)).node_id, SampleBuffer(world.db, world.clock)
    broken = Reading(metric=Metric.GPU_MEMORY, source="NVML", device="3", unavailable="GPU x does not answer: lost")
    full, volume = reading(Metric.DISK_FREE, 1000), replace(reading(Metric.DISK_FREE, 0), device="/data")
    said = Sample(
        allocation_id=a,
        boot=1,
        at=world.clock.now(),
        readings=(broken, full, volume),
        broken_views=("/proc/uptime",),
    )
    book.put(node_id, Samples(samples=[said]))
    await book.flush()
    health = (await world.http.get(f"/api/v1/allocations/{a}/health")).raise_for_status().json()
    assert health["health"] == "degraded"
    assert {each["code"] for each in health["reasons"]} == {"gpu_not_answering", "disk_full", "views_broken"}
    assert "The disks at /, /data are full." in {each["words"] for each in health["reasons"]}
    assert all(each["next_step"] and each["since"] and each["words"] for each in health["reasons"])
    book.put(node_id, Samples(samples=[sample(a, world.clock.now(), disk_free=1e12)]))
    await book.flush()
    assert ((await world.seen(a))["health"], (await world.seen(a))["health_reasons"]) == ("ok", [])


async def test_an_overlay_can_say_that_its_mount_is_gone(world: World) -> None:
    a = await world.allocation()
    gone = store.Finding(code="mount_gone", words="The volume data is not mounted.", next_step="Detach and attach it.")
    async with world.db.write() as tx:
        await store.set_findings(tx, "storage", {a: [gone]}, world.clock.now())
        await store.set_findings(tx, "samples", {a: []}, world.clock.now())
    seen = await world.seen(a)
    assert (seen["health"], [each["code"] for each in seen["health_reasons"]]) == ("degraded", ["mount_gone"])


async def test_signals_say_when_they_last_showed_work_or_why_not(world: World) -> None:
    a, now = await world.allocation(), world.clock.now()
    gpu = Reading(metric=Metric.GPU_UTILISATION, source="simulated", device="0", unavailable="simulated GPU")
    for seconds, cpu in ((-30, 0.0), (-20, 9.0), (-10, 9.1), (0, 9.2)):
        said = sample(a, now + timedelta(seconds=seconds), cpu=cpu, ssh_sessions=1 if seconds == -10 else 0)
        await keep(world, a, Sample(allocation_id=a, boot=1, at=said.at, readings=(*said.readings, gpu)))
    async with world.db.write() as tx:
        await store.touch(tx, [a], store.TERMINAL, now)
        found = {each.kind: each for each in await store.signals(tx, a)}
    assert found["cpu"].last_at == now - timedelta(seconds=20)
    assert found["ssh_sessions"].last_at == now - timedelta(seconds=10)
    assert (found["gpu"].last_at, found["gpu"].unavailable) == (None, "simulated GPU")
    assert (found["terminal"].last_at, found["terminal"].unavailable) == (now, "")
    assert found["workloads"].unavailable


async def test_rows_are_bounded_however_long_samples_come(world: World) -> None:
    a, now = await world.allocation(), world.clock.now()
    row = await world.get(a)
    async with world.db.write() as tx:
        for number in range(420):
            at = now - timedelta(seconds=10 * (420 - number))
            await store.write(tx, [(row.node_id, sample(a, at, memory=number))])
        assert await tx.value("select count(*) from samples where allocation_id = $1", a) == 360
        assert await tx.value("select min((numbers ->> 'memory')::float8) from samples") == 60


async def test_what_is_not_written_yet_is_bounded_by_machines(world: World) -> None:
    a = await world.allocation()
    book = SampleBuffer(world.db, world.clock)
    for _ in range(1000):
        book.put("node", Samples(samples=[sample(a, world.clock.now(), memory=1)]))
    assert len(book._unwritten) == 1


def test_nonsense_from_a_node_is_cut_to_what_can_be_kept() -> None:
    said = Reading(metric=Metric.CPU, source="\0" * 500, value=float("nan"))
    kept = cleaned(Sample(allocation_id="a", boot=1 << 40, at=START + timedelta(days=9), readings=(said,) * 900), START)
    assert kept is not None
    assert (len(kept.readings), kept.at, kept.boot) == (READINGS, START, 1 << 30)
    assert (kept.readings[0].value, bool(kept.readings[0].unavailable)) == (None, True)
    assert cleaned(Sample(allocation_id="a", boot=1, at=START - timedelta(days=1), readings=()), START) is None


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
async def test_a_minute_is_what_its_samples_were(world: World, data: st.DataObject) -> None:
    a = next(iter(await ids_of(world)), None) or await world.allocation()
    row = await world.get(a)
    start = START + timedelta(minutes=data.draw(st.integers(0, 40)))
    seconds = data.draw(st.lists(st.integers(0, 119), min_size=1, max_size=14, unique_by=lambda each: each // 10))
    values = {each: data.draw(st.floats(0, 1e12)) for each in sorted(seconds)}
    async with world.db.write() as tx:
        await tx.run("delete from samples")
        await tx.run("delete from sample_minutes")
        await tx.run("delete from newest_samples")
        await tx.run("delete from platform where key = $1", store.ROLLED_UP)
        for each, value in values.items():
            await store.write(tx, [(row.node_id, sample(a, start + timedelta(seconds=each), memory=value))])
        await store.roll_up(tx, start + timedelta(seconds=145))
        await store.roll_up(tx, start + timedelta(seconds=165))  # a second pass changes nothing
        found = {each.at: each.numbers["memory"] for each in await store.minutes(tx, a, start)}
    expected = {}
    for minute in (0, 1):
        inside = [value for each, value in values.items() if each // 60 == minute]
        if inside:
            expected[start + timedelta(minutes=minute)] = [
                inside[-1],
                sum(inside) / len(inside),
                min(inside),
                max(inside),
            ]
    assert found.keys() == expected.keys()
    for at, numbers in expected.items():
        got = found[at]
        assert isinstance(got, list)
        assert all(abs(one - other) <= 1e-6 * max(1, abs(other)) for one, other in zip(got, numbers, strict=True))


async def ids_of(world: World) -> list[str]:
    async with world.db.read() as tx:
        return await tx.column("select id from allocations where status = 'active'")


async def test_a_day_is_told_in_minutes_and_machines_long_gone_are_forgotten(world: World) -> None:
    a, worker = await world.allocation(), RollUp(world.db, world.clock)
    began = world.clock.now()
    await keep(world, a, sample(a, began, memory=3))
    world.clock.advance(minutes=3)
    await worker("minutes")
    (point,) = (await shown(world, a, "?range=6h&step=5m"))["memory"]["points"]
    assert (point["value"], point["low"], point["high"]) == (3.0, 3.0, 3.0)
    await world.http.post(f"/api/v1/allocations/{a}/release", json={})
    await world.nodes.settle()
    world.clock.advance(days=2)
    await worker("minutes")
    async with world.db.read() as tx:
        for table in ("samples", "sample_minutes", "newest_samples"):
            assert await tx.value(f"select count(*) from {table}") == 0


async def test_a_range_that_is_none_is_refused_by_name(world: World) -> None:
    a = await world.allocation()
    for query in ("range=2d", "range=x", "range=-1h", "step=0s"):
        refused = await world.http.get(f"/api/v1/allocations/{a}/metrics?{query}")
        assert refused.status_code == 422, query
        assert refused.json()["code"] == "validation_error"
