"""What many ask for together: one trip, and nobody pays for another's mistake."""

import asyncio

import pytest

from gpuaas.core.batching import Batcher

TRIPS = list[list[int]]


def asked(trips: TRIPS, *, away: bool = False) -> Batcher[int, int]:
    async def answer(numbers: list[int]) -> list[int]:
        trips.append(numbers)
        await asyncio.sleep(0)
        if away:
            raise ConnectionResetError("the database is away")
        if 13 in numbers:
            raise ValueError("13")
        return [number * 2 for number in numbers]

    return Batcher(answer, most=4)


async def test_who_asks_during_a_trip_goes_with_the_next_in_order() -> None:
    trips: TRIPS = []
    batcher = asked(trips)
    first = asyncio.ensure_future(batcher.submit(0))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    answers = await asyncio.gather(first, *(batcher.submit(number) for number in range(1, 7)))
    assert (answers, trips) == ([0, 2, 4, 6, 8, 10, 12], [[0], [1, 2, 3, 4], [5, 6]])


async def test_only_who_asked_for_the_impossible_is_told_so() -> None:
    batcher = asked([])
    answers = await asyncio.gather(*(batcher.submit(number) for number in (1, 13, 2)), return_exceptions=True)
    assert (answers[0], str(answers[1]), answers[2]) == (2, "13", 4)


async def test_all_of_a_trip_learn_that_the_database_is_away_and_it_is_not_tried_in_halves() -> None:
    trips: TRIPS = []
    batcher = asked(trips, away=True)
    answers = await asyncio.gather(*(batcher.submit(number) for number in (1, 2)), return_exceptions=True)
    assert ([type(answer) for answer in answers], trips) == ([ConnectionResetError] * 2, [[1, 2]])


async def test_one_who_is_gone_does_not_keep_the_others_from_their_answers() -> None:
    batcher = asked([])
    gone, stays = (asyncio.ensure_future(batcher.submit(number)) for number in (1, 2))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 4
    with pytest.raises(asyncio.CancelledError):
        await gone
