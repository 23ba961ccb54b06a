"""Lists the points that a verb passes by performing it once, then performs it again for each, with a death there.

After each death the process is started again, and the verb has to come to its wanted end by itself: then the database
and the machine are searched for anything that should not be.
"""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass

from tests.crash.invariants import ALWAYS, breaches
from tests.crash.mortals import until
from tests.crash.stages import Broken, Stage
from tests.crash.verbs.cases import Case, Verb
from tests.footprints import Footprint
from tests.patience import PATIENCE_SECONDS

CONVERGE_SECONDS = PATIENCE_SECONDS  # given up; what was needed is in the table
IDLE_SECONDS = 4.5  # longer than the slowest loop that runs unasked
QUIET_SECONDS = 0.6
LATE_SECONDS = 7.0  # for a point that did not come while the verb ran
TRIES = 3
DIED, UNPASSED = "converged", "not passed"


@dataclass(frozen=True, order=True)
class Point:
    process: str
    name: str
    nth: int

    def __str__(self) -> str:
        return f"{self.name} #{self.nth}" if self.nth > 1 else self.name


@dataclass(frozen=True)
class Outcome:
    verb: str
    point: Point
    outcome: str
    seconds: float  # from the start of the next process to the end of the verb

    @property
    def is_good(self) -> bool:
        return self.outcome in (DIED, UNPASSED)


async def complaints(stage: Stage) -> list[str]:
    """Everything that should not be, in the database or on the machine."""
    async with stage.connected() as connection:
        found = await breaches(connection)
    return [*found, *stage.machine.complaints(await stage.expected())]


async def unsettled(stage: Stage) -> str:
    return await stage.unready() or "; ".join(await complaints(stage))


async def missing(stage: Stage, verb: Verb, case: Case) -> str:
    """Some rules hold at every moment, in the midst of everything: a breach of those is not waited out."""
    async with stage.connected() as connection:
        if broken := await breaches(connection, ALWAYS):
            raise Broken("; ".join(broken))
    return await verb.missing(stage, case) or await unsettled(stage)


# The stage is shared: a node may still tell of who was inside in a verb before, and not when the verb is done again.
LEFTOVERS = ("Sessions", "TerminalReport", "Sessions of the node", "TerminalReport of the node")
# Repeated passings that leave nothing: these write to a tree that is attached nowhere and ends with the process.
DETACHED = "sshd_root._write"
OF_SESSIONS = ("open_terminal", "reattach", "end_terminal", "end_session")


async def list_points(stage: Stage, verb: Verb) -> list[Point]:
    """What is the verb's own first, in the order passed. What a process also passes while nothing happens comes by
    itself: once is enough for it."""
    idle = stage.idle = stage.idle or await idle_points(stage)
    case = Case(stage.ids.new("key"))
    await verb.prepare(stage, case)
    for mortal in stage.mortals.values():
        mortal.note()
    await verb.act(stage, case)
    await stage.reach(lambda: missing(stage, verb, case))
    await quiet(stage, idle)
    points = []
    for name, mortal in stage.mortals.items():
        mortal.live()
        counts = Counter[str]()
        for point in mortal.passed:
            if point.endswith(LEFTOVERS) and verb.name not in OF_SESSIONS:
                continue
            counts[point] += 1
            if counts[point] == 1 or not (point in idle[name] or DETACHED in point):
                points.append(Point(name, point, counts[point]))
    await verb.tidy(stage, case)
    return sorted(points, key=lambda point: point.name in idle[point.process])


async def idle_points(stage: Stage) -> dict[str, set[str]]:
    for mortal in stage.mortals.values():
        mortal.note()
    await until(never, IDLE_SECONDS)
    return {name: set(mortal.passed) for name, mortal in stage.mortals.items()}


async def quiet(stage: Stage, idle: dict[str, set[str]]) -> None:
    """Until no process passes anything but what it also passes idle."""
    last, since = -1, time.monotonic()

    async def restless() -> str:
        nonlocal last, since
        count = sum(point not in idle[name] for name, mortal in stage.mortals.items() for point in mortal.passed)
        if count != last:
            last, since = count, time.monotonic()
        return "" if time.monotonic() - since > QUIET_SECONDS else "work goes on"

    await until(restless, CONVERGE_SECONDS)


async def perform(stage: Stage, verb: Verb, point: Point) -> Outcome:
    """The verb once, with a death at this point; tried again when the process came by another way."""
    for _ in range(TRIES):
        outcome = await perform_once(stage, verb, point)
        if outcome.outcome != UNPASSED:
            break
    return outcome


async def perform_once(stage: Stage, verb: Verb, point: Point) -> Outcome:
    mortal = stage.mortals[point.process]
    case, deaths, began = Case(stage.ids.new("key")), mortal.deaths, time.monotonic()

    async def alive() -> str:
        return "" if mortal.deaths > deaths else "alive"

    try:
        before = await footprint(stage)
        await verb.prepare(stage, case)
        await stage.reach(stage.unsteady)
        mortal.die(point.nth, point.name)
        await verb.act(stage, case)
        wrong = await until(lambda: missing(stage, verb, case), CONVERGE_SECONDS)
        if not wrong and await alive():
            await until(alive, LATE_SECONDS)
            wrong = await until(lambda: missing(stage, verb, case), CONVERGE_SECONDS)
        seconds = time.monotonic() - max(mortal.started_at, began)
        if wrong:
            return Outcome(verb.name, point, wrong, seconds)
        outcome = UNPASSED if await alive() else DIED
        mortal.live()
        await verb.tidy(stage, case)
        await stage.reach(lambda: unsettled(stage))
        await expect_nobody(stage)
        await stage.reach(lambda: footprint_differs(stage, before))
    except Broken as broken:
        return Outcome(verb.name, point, str(broken), time.monotonic() - began)
    finally:
        mortal.live()
    return Outcome(verb.name, point, outcome, seconds)


async def footprint(stage: Stage) -> Footprint:
    """Of the node without environments."""
    if stage.untouched is None:
        await stage.reach(lambda: unsettled(stage))
        stage.untouched = await asyncio.to_thread(stage.ground.look)
    return stage.untouched


async def footprint_differs(stage: Stage, before: Footprint) -> str:
    return "; ".join(before.differences(await asyncio.to_thread(stage.ground.look)))


async def expect_nobody(stage: Stage) -> None:
    """Whatever a repeated request made besides is nobody's."""
    if left := (await stage.expected()).ports:
        raise Broken(f"nobody knows of {', '.join(left)}")


async def never() -> str:
    return "the time is not up"


def table(outcomes: list[Outcome]) -> str:
    lines = [f"{'verb':<8} {'process':<7} {'seconds':>7}  {'outcome':<10}  point"]
    lines += [
        f"{one.verb:<8} {one.point.process:<7} {one.seconds:>7.2f}  {one.outcome:<10}  {one.point}" for one in outcomes
    ]
    return "\n".join([*lines, "", summary(outcomes)])


def summary(outcomes: list[Outcome]) -> str:
    lines = []
    for verb, process in sorted({(one.verb, one.point.process) for one in outcomes}):
        of = [one for one in outcomes if (one.verb, one.point.process) == (verb, process)]
        count, seconds = Counter(one.outcome if one.is_good else "BAD" for one in of), sorted(one.seconds for one in of)
        lines.append(
            f"{verb}, {process}: {len(of)} points, {count[DIED]} converged, {count[UNPASSED]} not passed, "
            f"{count['BAD']} bad; median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s"
        )
    return "\n".join(lines)
