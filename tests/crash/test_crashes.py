"""kill -9 of server, agent or SSH gateway at every commit and every call to the outside; see docs/design/crashes.md."""

import asyncio
import os
from collections import deque
from pathlib import Path

import pytest

from tests.crash.harness import UNPASSED, Outcome, Point, list_points, perform, table
from tests.crash.stages import Stage, stage
from tests.crash.theatres import Theatre
from tests.crash.verbs.cases import Verb
from tests.crash.verbs.registry import VERBS

LANES = 2  # in each test process
FINISHED = Point("agent", "journal:finish:after loop._finish < loop._run", 1)
# Points that never change their names, so that no dry run has to list them first.
SAMPLE = {
    "create": (
        Point("server", "commit:after POST create_allocation", 1),
        Point("gateway", "request:done Sync", 1),
        FINISHED,
    ),
    "revoke": (Point("server", "commit:after DELETE revoke_access_grant", 1),),
    "end_session": (FINISHED,),
    "apply": (Point("server", "commit:before Result of the node", 1),),
    "attach": (FINISHED,),
    "release": (
        Point("server", "commit:before POST release_allocation", 1),
        Point("gateway", "request:done CloseEnvironment", 1),
        FINISHED,
    ),
}
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

    def judge(self, most_unpassed: int | None = None) -> None:
        wrong = [outcome for outcome in self._outcomes if not outcome.is_good]
        assert not wrong, table(wrong)
        unpassed = [outcome for outcome in self._outcomes if outcome.outcome == UNPASSED]
        most = max(2, len(self._outcomes) // 10) if most_unpassed is None else most_unpassed
        assert len(unpassed) <= most, table(unpassed)


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


@needs_root
@pytest.mark.parametrize("name", SAMPLE)
async def test_a_sample_of_deaths_does_no_harm(theatre: Theatre, name: str) -> None:
    report, on = Report(f"sample-{name}"), await theatre.stage()
    try:
        for point in SAMPLE[name]:
            if not report.add(await perform(on, VERBS[name], point)):
                break
        report.judge(most_unpassed=0)
    except BaseException:
        await theatre.strike()
        raise


def test_the_sample_has_a_verb_of_every_noun() -> None:
    assert {VERBS[name].noun for name in SAMPLE} == {verb.noun for verb in VERBS.values()}


@needs_root
async def test_programs_that_an_agent_starts_are_points_too(theatre: Theatre) -> None:
    heard = {point.name for point in await list_points(await theatre.stage(), VERBS["create"])}
    assert any(name.startswith("subprocess.Popen:running commands.attempt") for name in heard), heard


@needs_root
@pytest.mark.soak
@pytest.mark.parametrize("process", ["server", "agent", "gateway"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
async def test_no_death_does_harm(verb: Verb, process: str) -> None:
    report = Report(f"{verb.name}-{process}")
    async with stage() as on:
        points = [point for point in await list_points(on, verb) if point.process == process]
    assert points or process != "server"  # joining a project asks nothing of an agent
    await die_at_each(verb, points, report)
    report.judge()
