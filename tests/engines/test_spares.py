"""Environments prepared in advance: what every engine promises of them."""

import msgspec

from gpuaas.wire.environments import EnvironmentState
from gpuaas.wire.spares import SpareReport, form_of
from tests.engines.benches import Bench, Key, ignore, keys, spec


async def kept(bench: Bench) -> SpareReport:
    """All is made that is wanted, and nothing else is left."""
    while await bench.engine.spares.keep():
        pass
    return await bench.engine.spares.report()


async def test_a_spare_is_used_once_by_the_form_it_has(bench: Bench, allocation_id: str) -> None:
    ada, device = Key(), f"GPU-{allocation_id}"
    wanted = spec(allocation_id, keys(1, ada), devices=(device,))
    await bench.engine.spares.want([form_of(wanted)])
    before = await kept(bench)
    assert [one.slots for one in before.ready] == [(0,)]
    assert allocation_id not in [one.allocation_id for one in await bench.engine.observe()]

    made = await bench.engine.ensure(wanted, ignore)
    assert made.state is EnvironmentState.RUNNING
    assert [(one.port, one.host_key) for one in before.ready] == [(made.port, made.host_key)]
    assert await bench.log_in(made, ada) is not None
    after = await kept(bench)
    assert (after.ready, after.used - before.used) == ((), 1)  # its device is in use: there is nothing to prepare
    again = await bench.engine.ensure(wanted, ignore)
    assert (again.host_key, again.started_at) == (made.host_key, made.started_at)

    proofs = await bench.engine.remove(allocation_id, ignore)
    assert [proof for proof in proofs if not proof.ok] == []
    assert [one.slots for one in (await kept(bench)).ready] == [(0,)]  # the device is free again
    await bench.engine.spares.want([])
    assert (await kept(bench)).ready == ()


async def test_another_form_is_made_on_demand_and_leaves_the_spare(bench: Bench, allocation_id: str) -> None:
    prepared = spec(f"{allocation_id}x", keys(1, Key()), devices=(f"GPU-{allocation_id}-x",))
    larger = msgspec.structs.replace(prepared, allocation_id=f"{allocation_id}y", memory_mib=600)
    await bench.engine.spares.want([form_of(prepared)])
    before = await kept(bench)
    made = await bench.engine.ensure(larger, ignore)
    assert made.state is EnvironmentState.RUNNING
    report = await bench.engine.spares.report()
    assert (report.ready, report.used) == (before.ready, before.used)
    await bench.engine.remove(larger.allocation_id, ignore)
    await bench.engine.spares.want([])
    assert (await kept(bench)).ready == ()


async def test_an_agent_that_dies_leaves_no_spare(bench: Bench, allocation_id: str) -> None:
    wanted = spec(allocation_id, keys(1, Key()), devices=(f"GPU-{allocation_id}",))
    await bench.engine.spares.want([form_of(wanted)])
    assert len((await kept(bench)).ready) == 1
    await bench.crash()
    assert (await bench.engine.spares.report()).ready == ()
    assert [one.allocation_id for one in await bench.engine.observe() if one.allocation_id.startswith("spare")] == []
