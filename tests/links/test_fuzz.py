"""An enrolled node that says anything at all ends neither the server nor what the other nodes say."""

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from gpuaas.wire.environments import (
    Connection,
    Environment,
    EnvironmentState,
    Isolation,
    LoginEvent,
    LoginKind,
    ProofItem,
)
from gpuaas.wire.images import BaseImage, CurrentImage, ImageReport
from gpuaas.wire.link import (
    Ack,
    Beat,
    Challenge,
    EndedTerminal,
    LiveTerminal,
    Logins,
    LogLines,
    Progress,
    Report,
    Result,
    Sessions,
    TaskStatus,
    TerminalReport,
    Up,
)
from gpuaas.wire.metrics import Metric, Reading, Sample, Samples
from gpuaas.wire.spares import Spare, SpareReport
from tests.isolation.machines import Machine, encode, enrol
from tests.links.wires import Wire, linked, task_of, writing
from tests.world import World

ROUNDS = 60  # of every mutation, of every kind
HELLOS = 60
LARGE = (0, -1, (1 << 31) - 2, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 63, (1 << 64) - 1, -(1 << 63))
TIMES = ("0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59Z", "2026-01-01")
TEXTS = ("", "\x00", "x" * 5000, "\N{BRAIN}", *TIMES)
EXTENSION = msgspec.msgpack.Ext(5, b"")
OTHERS: tuple[object, ...] = (None, True, 1.5, float("nan"), b"\xff", [], {}, [[]], {"type": "beat"}, EXTENSION)
# What later tellings, key sets and restarts are compared with: beyond these, none of them would count any more.
POISONED = """
    select coalesce(string_agg(what, ', '), '') from (
        select 'generation' from allocation_keysets where generation > 1 << 30 or observed_generation > generation
        union all select 'boot' from allocations where boot > 1 << 30
        union all select 'connections' from allocation_sessions where observed_at > now() + interval '1 hour'
        union all select 'tasks' from node_tasks where ended_at > now() + interval '1 hour'
        union all select 'progress' from operations where last_progress_at > now() + interval '1 hour'
        union all select 'timeline' from timeline_entries where at > now() + interval '1 hour'
        union all select 'samples' from newest_samples where at > now() + interval '1 hour'
    ) as found (what)
"""
DEEP = b"\x82\xa4type\xa4beat\xa1x" + b"\x91" * 100_000


def environment(allocation_id: str, at: datetime) -> Environment:
    isolation = Isolation(namespaces=("pid",), uid=1, network="own", no_new_privileges=True, limits={"cpu": "cgroup"})
    return Environment(
        allocation_id=allocation_id,
        state=EnvironmentState.RUNNING,
        boot=1,
        port=2222,
        host_key="ssh-ed25519 AAAA",
        key_generation=1,
        started_at=at,
        isolation=isolation,
        image=BaseImage(version="one", distribution="debian-12", python="3.11", built_at=at, replaced_at=at),
    )


def image_report(at: datetime) -> ImageReport:
    current = CurrentImage(
        version="one",
        distribution="debian-12",
        python="3.11",
        sshd="OpenSSH_9.2",
        built_at=at,
        checked_at=at,
        outdated_since=at,
    )
    return ImageReport(image=current)


def samples(allocation_id: str, task_id: str, at: datetime) -> dict[str, Up]:
    standing = environment(allocation_id, at)
    phase = Progress(task_id=task_id, phase="booting", note="a note", at=at)
    proof = ProofItem(item="disk", ok=True, evidence="gone")
    inside = Connection(id="con_1", key_fingerprint="SHA256:x", source="10.0.0.1:1", opened_at=at)
    ended = EndedTerminal(id="term_2", reason="over", exit_code=0)
    login = LoginEvent(
        id="login_1",
        kind=LoginKind.LOGIN,
        allocation_id=allocation_id,
        connection_id=inside.id,
        key_fingerprint=inside.key_fingerprint,
        user_id="",
        source=inside.source,
        at=at,
    )
    return {
        "progress": phase,
        "sessions": Sessions(allocation_id=allocation_id, sessions=[inside], at=at),
        "logins": Logins(events=[login]),
        "terminals": TerminalReport(
            live=[LiveTerminal(id="term_1", allocation_id=allocation_id, is_attached=True)], ended=[ended], at=at
        ),
        "log": LogLines(task_id=task_id, first_seq=1, lines=["one", "two"], at=at),
        "report": Report(environments=[standing], at=at),
        "result": Result(
            task_id=task_id,
            status=TaskStatus.DONE,
            at=at,
            environment=standing,
            proofs=[proof],
            phases=[phase],
            found={"port": 22, "inside": {"names": ["a"]}},
        ),
        "samples": Samples(
            samples=[
                Sample(
                    allocation_id=allocation_id,
                    boot=1,
                    at=at,
                    readings=(Reading(metric=Metric.CPU, source="a test", value=1.0),),
                )
            ]
        ),
        "image": image_report(at),
        "spares": SpareReport(ready=(Spare(id="spare-1", slots=(0,)),), used=1, discarded=1, detail="it ended"),
        "beat": Beat(),
    }


def truncated(message: bytes, dice: random.Random) -> bytes:
    return message[: dice.randrange(len(message))]


def flipped(message: bytes, dice: random.Random) -> bytes:
    changed = bytearray(message)
    for _ in range(dice.randint(1, 4)):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def noise(_: bytes, dice: random.Random) -> bytes:
    return dice.choice([DEEP, dice.randbytes(dice.randrange(200))])


def places_in(said: Any) -> list[tuple[Any, Any]]:
    """Every value of a message, as what holds it and where."""
    found: list[tuple[Any, Any]] = []
    for key in said if isinstance(said, dict) else range(len(said)):
        found.append((said, key))
        if isinstance(said[key], dict | list):
            found += places_in(said[key])
    return found


def extremes(message: Up) -> Iterator[bytes]:
    """Each number and each time of it, one after the other, replaced by each of the extreme ones."""
    said = msgspec.msgpack.decode(encode(message))
    for here, key in places_in(said):
        honest = here[key]
        is_time = isinstance(honest, datetime)
        for extreme in TIMES if is_time else LARGE if type(honest) is int else ():
            here[key] = extreme
            yield msgspec.msgpack.encode(said)
        here[key] = honest


def meddled(message: bytes, dice: random.Random) -> bytes:
    """Well formed, with one value replaced anywhere in it by another of its kind, or of none."""
    said = msgspec.msgpack.decode(message)
    here, key = dice.choice(places_in(said))
    choices: tuple[Any, ...] = (*LARGE, *TEXTS, *OTHERS)
    if isinstance(here[key], int | str) and dice.random() < 0.7:
        choices = LARGE if isinstance(here[key], int) else TEXTS
    here[key] = dice.choice(choices)
    return msgspec.msgpack.encode(said)


@pytest.mark.parametrize("mutate", [noise, truncated, flipped, meddled], ids=lambda mutate: mutate.__name__)
async def test_a_node_that_says_anything_stops_nobody_else(
    world: World, mutate: Callable[[bytes, random.Random], bytes]
) -> None:
    dice = random.Random(mutate.__name__)
    await hear_lies(world, lambda message: (mutate(encode(message), dice) for _ in range(ROUNDS)))


async def test_no_extreme_number_or_time_of_a_node_stops_what_is_compared_with_it_later(world: World) -> None:
    await hear_lies(world, extremes)


async def hear_lies(world: World, lies_of: Callable[[Up], Iterable[bytes]]) -> None:
    """One node lies, beside another that does not."""
    liar, honest = await enrol(world, "liar"), await enrol(world, "honest")
    lies = await linked(world, liar)
    allocation_id, task_id = await task_of(world)
    truths = await linked(world, honest)
    with capture_logs():  # to print what is dropped takes longer than to drop it
        async with writing(world) as writer:
            for kind, message in samples(allocation_id, task_id, world.clock.now()).items():
                lies.say(*lies_of(message))
                truth = Result(task_id=f"after {kind}", status=TaskStatus.FAILED, at=datetime.now(UTC))
                truths.say(truth)
                assert (await truths.heard(Ack)).task_ids == [truth.task_id]
            lies.say(Result(task_id="the last word", status=TaskStatus.FAILED, at=world.clock.now()))
            while (await lies.heard(Ack)).task_ids != ["the last word"]:
                pass
            assert not writer.done()
        await world.samples.flush()
        await world.nodes.reconcile()
    assert await world.value(POISONED) == ""
    for place in ("allocations", "nodes"):
        assert (await world.operator.http.get(f"/api/v1/admin/{place}")).status_code == 200, place
    assert (lies.closed, truths.closed) == (None, None)
    for wire in (lies, truths):
        await wire.hang_up()


@pytest.mark.parametrize("mutate", [noise, truncated, flipped, meddled], ids=lambda mutate: mutate.__name__)
async def test_a_hello_of_any_kind_is_taken_or_refused_and_never_an_error_of_ours(
    world: World, mutate: Callable[[bytes, random.Random], bytes]
) -> None:
    dice = random.Random(mutate.__name__)
    machine: Machine = await enrol(world, "machine")
    for _ in range(HELLOS):
        wire = Wire()
        wire.running = asyncio.ensure_future(world.links.serve(wire, machine.id))
        wire.say(mutate(machine.hello((await wire.heard(Challenge)).nonce), dice))
        await wire.hang_up()
        assert wire.closed in (None, (4401, "refused"))
