"""Whatever the contract allows or forbids, the answer is one it names: no 5xx, no other shape, nothing wrong taken."""

import random
from pathlib import Path

import pytest

from tests.contracts.fuzzing import Run, fuzz, personal_token, stage
from tests.isolation.asgi import Ask, send
from tests.world import World

EVERYBODYS, OPERATORS = "^/api/v1/(?!admin/)", "^/api/v1/admin/"
SEEDS = range(1, 41)  # of `make soak`; one that ever found something stays


@pytest.mark.parametrize(
    ("who", "run"),
    [
        ("ada", Run(seed=1, examples=1, paths=EVERYBODYS)),
        ("operator", Run(seed=2, examples=1, paths=OPERATORS)),
    ],
)
async def test_a_seeded_sample_finds_nothing(tmp_path: Path, who: str, run: Run) -> None:
    async with stage(tmp_path) as (world, url):
        token = await personal_token(world.people[who], "read", "write", "admin")
        report = await fuzz(url, token, run, tmp_path)
        assert report == "", report


@pytest.mark.soak
@pytest.mark.parametrize("who", ["ada", "operator"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_the_whole_contract_as_everybody(tmp_path: Path, who: str, seed: int) -> None:
    run = Run(seed=seed, examples=40, phases="examples,coverage,fuzzing,stateful")
    async with stage(tmp_path) as (world, url):
        report = await fuzz(url, await personal_token(world.people[who], "read", "write", "admin"), run, tmp_path)
        assert report == "", report


async def test_the_fuzz_sees_a_planted_fault(tmp_path: Path) -> None:
    """A table taken away: the route over it answers 500, and the same run says so."""
    async with stage(tmp_path) as (world, url):
        token = await personal_token(world.ada, "read", "write", "admin")
        async with world.db.write() as tx:
            await tx.run("set local role gpuaas_owner")
            await tx.run("drop table sku_sizes")
        report = await fuzz(url, token, Run(seed=1, examples=1, paths="^/api/v1/skus$"), tmp_path)
        assert "500" in report


@pytest.mark.parametrize("made_up", [15, pytest.param(60, marks=pytest.mark.soak)])
async def test_streams_take_any_place_to_resume_from(world: World, made_up: int) -> None:
    """By a client that hangs up after the first words."""
    chance = random.Random(7)
    places = ["", "0-0", "1-", "-1", "x-y", "9" * 30 + "-1", "1-1-1", "a" * 61]
    places += ["".join(chance.choice("0123456789-.x ") for _ in range(chance.randrange(60))) for _ in range(made_up)]
    id = await world.allocation()
    for place in places:
        for path in (f"/projects/{world.ada.project_id}/events", f"/allocations/{id}/events"):
            headers = {"Last-Event-ID": place.encode().decode("latin-1")}
            ask = Ask(method="GET", target=f"/api/v1{path}", token=world.ada.token, headers=headers)
            answer = await send(world.app, ask)
            assert answer.status in (200, 422), (place, answer)
