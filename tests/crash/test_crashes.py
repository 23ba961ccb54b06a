"""kill -9 of server or agent at every commit and every call to the outside; see docs/design/crashes.md."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.crash.harness import UNPASSED, Outcome, Point, list_points, perform, sample, summary, table
from tests.crash.stages import Stage, stage
from tests.crash.verbs import VERBS, Verb

SAMPLE = 7  # of each verb
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


async def die_at_each(verb: Verb, points: list[Point], on: Stage, exits: AsyncExitStack) -> list[Outcome]:
    """After one that went wrong the next gets a stage of its own, so that it is judged by itself."""
    outcomes = []
    for point in points:
        outcomes.append(await perform(on, verb, point))
        if not outcomes[-1].is_good:
            on = await exits.enter_async_context(stage())
    return outcomes


def judge(outcomes: list[Outcome], name: str) -> None:
    REPORTS.mkdir(parents=True, exist_ok=True)
    (REPORTS / f"{name}.txt").write_text(table(outcomes) + "\n")
    print(summary(outcomes))
    wrong = [outcome for outcome in outcomes if not outcome.is_good]
    assert not wrong, table(wrong)
    assert sum(outcome.outcome == UNPASSED for outcome in outcomes) <= len(outcomes) // 10, table(outcomes)


@needs_root
@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
async def test_a_sample_of_deaths_does_no_harm(verb: Verb) -> None:
    async with AsyncExitStack() as exits:
        on = await exits.enter_async_context(stage())
        points = await list_points(on, verb)
        chosen = sample(points, SAMPLE, ALWAYS)
        assert {point.process for point in chosen} == {"server", "agent"}
        judge(await die_at_each(verb, chosen, on, exits), f"sample-{verb.name}")


@needs_root
@pytest.mark.soak
@pytest.mark.skipif(not os.environ.get("GPUAAS_SOAK"), reason="`make soak` runs the whole")
@pytest.mark.parametrize("process", ["server", "agent"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
async def test_no_death_does_harm(verb: Verb, process: str) -> None:
    async with AsyncExitStack() as exits:
        on = await exits.enter_async_context(stage())
        points = [point for point in await list_points(on, verb) if point.process == process]
        judge(await die_at_each(verb, points, on, exits), f"{verb.name}-{process}")
