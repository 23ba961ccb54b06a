"""Bugs planted on purpose are found by the same eyes that find none in the product."""

import os
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.crash.harness import Point, complaints, perform, unsettled
from tests.crash.invariants import ALWAYS, SETTLED, breaches
from tests.crash.machines import Expected
from tests.crash.stages import Stage, stage
from tests.crash.theatres import Theatre
from tests.crash.verbs.cases import Case
from tests.crash.verbs.machines import give_back, inhabited
from tests.crash.verbs.registry import VERBS
from tests.invariants import planted

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolated networks need root")

Stray = Callable[[Stage], AbstractContextManager[None]]

PLANTED = {
    **planted.PLANTED,
    "an allocation is neither active nor over": "update allocations set status = 'releasing' where status = 'active'",
    "an operation did not end well": "update operations set status = 'running'",
    "a task is open": "update node_tasks set status = 'sent'",
    "one key made more than one allocation": "delete from idempotency",
    "a resize is under way": f"{planted.RESIZE} limit 1",
    "a terminal is over and its node has it": f"{planted.TERMINAL}; update terminals set closed_at = now()",
    "a node does not answer": "update nodes set offline_since = now()",
    "a worker fails": "update work set attempts = 1",
}
# A retried submit does not find its key again.
FORGET_KEYS = """
    create function forget_key() returns trigger language plpgsql as $$
    begin new.key := new.key || random(); return new; end $$;
    create trigger forget_key before insert on idempotency for each row execute function forget_key();
"""
# The slots are for sale as soon as somebody wants to leave.
RELEASE_UNPROVEN = """
    create function release_unproven() returns trigger language plpgsql security definer as $$
    begin
        update claims set released_at = clock_timestamp() where allocation_id = new.allocation_id;
        return new;
    end $$;
    create trigger release_unproven after insert on node_tasks for each row when (new.kind = 'environment.remove')
        execute function release_unproven();
"""


@pytest.fixture(scope="module")
async def inhabited_stage(theatre: Theatre) -> AsyncIterator[Stage]:
    """Two allocations: one over, one with somebody on it."""
    made, over, kept = await theatre.stage(), Case("over"), Case("kept")
    await inhabited(made, over)
    await give_back(made, over)
    await inhabited(made, kept)
    await made.reach(lambda: unsettled(made))
    yield made
    await give_back(made, kept)


def test_every_rule_has_a_twin() -> None:
    assert set(PLANTED) == {*ALWAYS, *SETTLED}


@pytest.mark.parametrize("breach", PLANTED)
async def test_a_breach_in_the_database_is_seen(inhabited_stage: Stage, breach: str) -> None:
    async with inhabited_stage.connected() as connection:
        before = await breaches(connection)
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(PLANTED[breach])
        found = await breaches(connection)
        await transaction.rollback()
    assert breach in {one.split(": ")[0] for one in found}
    assert before == []


async def test_an_orphan_is_seen_in_every_way_it_is_left(inhabited_stage: Stage) -> None:
    """A living environment, looked at as if it had been released."""
    assert await complaints(inhabited_stage) == []
    (id,) = (await inhabited_stage.expected()).ports
    found = "; ".join(inhabited_stage.machine.complaints(Expected({})))
    assert f"of {id}: sleep 1000000" in found
    for trace in (f"files of {id}", f"container {id}", "loop device", "network ", "control group", "port "):
        assert trace in found


@contextmanager
def stray_process(on: Stage) -> Iterator[None]:
    uid = on.machine.ids()[0][400]
    process = subprocess.Popen(["sleep", "1000"], user=uid, group=uid)
    yield
    process.kill()
    process.wait()


@contextmanager
def stray_interface(on: Stage) -> Iterator[None]:
    name = f"g{on.machine.site.tag}-400"
    subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", f"p{on.machine.site.tag}"], check=True)
    yield
    subprocess.run(["ip", "link", "del", name], check=True)


@contextmanager
def stray_container(on: Stage) -> Iterator[None]:
    folder = on.machine.site.root / "runc" / "left"
    folder.mkdir()
    yield
    folder.rmdir()


@contextmanager
def stray_files(on: Stage) -> Iterator[None]:
    folder = on.machine.site.environments / "left"
    folder.mkdir()
    yield
    folder.rmdir()


@contextmanager
def half_a_bundle(on: Stage) -> Iterator[None]:
    folder = on.machine.site.staging / "tiny-data-1.0"
    folder.mkdir()
    yield
    folder.rmdir()


@contextmanager
def half_a_volume(on: Stage) -> Iterator[None]:
    folder = on.storage / ".vol_1.new"
    folder.mkdir()
    yield
    folder.rmdir()


@contextmanager
def stray_listener(on: Stage) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", on.ports[-1])):
        yield


@pytest.mark.parametrize(
    ("stray", "words"),
    [
        (stray_process, "orphan process"),
        (stray_interface, "network 400 is left"),
        (stray_container, "container left is left"),
        (stray_files, "files of left"),
        (half_a_bundle, "half a bundle is left"),
        (half_a_volume, "data of .vol_1.new is left"),
        (stray_listener, "is open"),
    ],
)
async def test_a_single_trace_is_enough(inhabited_stage: Stage, stray: Stray, words: str) -> None:
    expected = await inhabited_stage.expected()
    with stray(inhabited_stage):
        assert words in "; ".join(inhabited_stage.machine.complaints(expected))


async def test_lost_data_is_seen(inhabited_stage: Stage) -> None:
    expected = Expected((await inhabited_stage.expected()).ports, frozenset({"vol_1"}))
    assert inhabited_stage.machine.complaints(expected) == ["data of vol_1 is gone"]


@pytest.mark.soak
async def test_planted_bugs_are_caught_by_the_deaths_meant_for_them() -> None:
    async with stage() as on:
        async with on.connected() as connection:
            await connection.execute(FORGET_KEYS)
        outcome = await perform(on, VERBS["create"], Point("server", "commit:after POST create_allocation", 1))
        assert "nobody knows of" in outcome.outcome
    async with stage() as on:
        async with on.connected() as connection:
            await connection.execute(RELEASE_UNPROVEN)
        outcome = await perform(on, VERBS["release"], Point("agent", "journal:accept:after loop.received", 1))
        seen = ("claim_ended_early", "slots_missing")  # whichever looks first
        assert any(rule in outcome.outcome for rule in seen)
