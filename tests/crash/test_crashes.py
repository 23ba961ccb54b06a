"""kill -9 of server or agent at every commit and every call to the outside; see docs/design/crashes.md."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.crash.harness import UNPASSED, Outcome, Point, digest, list_points, perform, sample, table
from tests.crash.stages import Stage, stage
from tests.crash.verbs.cases import Verb
from tests.crash.verbs.registry import VERBS

LANES = 2  # in each test process
ALWAYS = (
    "commit:before POST create_allocation",
    "commit:after POST create_allocation",
    "commit:before POST release_allocation",
    "commit:after POST release_allocation",
    "commit:before Result of the node",
    "commit:after Result of the node",
    "journal:finish:after loop._finish < loop._run",
)
REPORTS = Path(__file__).parents[2] / ".cache" / "crashes"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="isolated networks need root")


class Report:
    """The table, written anew after each death: a run cut short leaves what it saw."""

    def __init__(self, name: str) -> None:
        REPORTS.mkdir(parents=True, exist_ok=True)
        self._file, self._outcomes = REPORTS / f"{name}.txt", list[Outcome]()

    def add(self, outcome: Outcome) -> bool:
        self._outcomes.append(outcome)
        self._file.write_text(table(self._outcomes) + "\n")
        return outcome.is_good

    def judge(self) -> None:
        wrong = [outcome for outcome in self._outcomes if not outcome.is_good]
        assert not wrong, table(wrong)
        unpassed = [outcome for outcome in self._outcomes if outcome.outcome == UNPASSED]
        assert len(unpassed) <= max(2, len(self._outcomes) // 10), table(unpassed)


async def twice(on: Stage, verb: Verb, point: Point) -> Outcome:
    """How messages travel together differs from run to run: a point that was not passed gets a second chance."""
    outcome = await perform(on, verb, point)
    return await perform(on, verb, point) if outcome.outcome == UNPASSED else outcome


async def die_at_each(verb: Verb, points: list[Point], report: Report) -> None:
    """On several stages side by side, for most of the time is waiting. One that went wrong ends its stage, so that the
    next is judged by itself."""
    waiting = deque(points)

    async def lane() -> None:
        while waiting:
            async with stage() as on:
                while waiting and report.add(await twice(on, verb, waiting.popleft())):
                    pass

    async with asyncio.TaskGroup() as group:
        for _ in range(LANES):
            group.create_task(lane())


class Theatre:
    """One stage for many plays; after one that went wrong the next finds a new one."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._stage: Stage | None = None

    async def stage(self) -> Stage:
        if self._stage is None:
            self._stage = await self._stack.enter_async_context(stage())
        return self._stage

    async def strike(self) -> None:
        self._stage = None
        await self._stack.aclose()


@pytest.fixture(scope="module")
async def theatre() -> AsyncIterator[Theatre]:
    made = Theatre()
    try:
        yield made
    finally:
        await made.strike()


def in_sample(verb: Verb) -> bool:
    """The verbs that everything else needs, and half of the others: the same ones on every machine."""
    return verb.deaths > 1 or digest(verb.name)[1] % 2 == 0


@needs_root
@pytest.mark.parametrize(
    "verb",
    [pytest.param(verb, marks=() if in_sample(verb) else pytest.mark.soak) for verb in VERBS.values()],
    ids=list(VERBS),
)
async def test_a_sample_of_deaths_does_no_harm(theatre: Theatre, verb: Verb) -> None:
    report, on = Report(f"sample-{verb.name}"), await theatre.stage()
    try:
        points = await list_points(on, verb)
        assert "server" in {point.process for point in points}  # joining a project asks nothing of an agent
        for point in sample(verb, points, ALWAYS):
            if not report.add(await perform(on, verb, point)):
                break
        report.judge()
    except BaseException:
        await theatre.strike()
        raise


@needs_root
async def test_programs_that_an_agent_starts_are_points_too(theatre: Theatre) -> None:
    heard = {point.name for point in await list_points(await theatre.stage(), VERBS["create"])}
    assert any(name.startswith("subprocess.Popen:running commands.attempt") for name in heard), heard


@needs_root
@pytest.mark.soak
@pytest.mark.parametrize("process", ["server", "agent"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
async def test_no_death_does_harm(verb: Verb, process: str) -> None:
    report = Report(f"{verb.name}-{process}")
    async with stage() as on:
        points = [point for point in await list_points(on, verb) if point.process == process]
    await die_at_each(verb, points, report)
    report.judge()
