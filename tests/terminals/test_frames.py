"""Whatever a browser or an agent says, nobody else's terminal suffers, and nothing is an error of ours."""

import random

import msgspec
import pytest
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from tests.terminals.browsers import browsing
from tests.terminals.conftest import Place

ROUNDS = 6  # a person has ten tokens a minute
CONTROLS = (
    '{"type": "resize", "cols": 80, "rows": 24}',
    '{"type": "resize", "cols": 0, "rows": 24}',
    '{"type": "resize", "cols": 99999999999999999999, "rows": 24}',
    '{"type": "resize", "cols": -1, "rows": 1.5}',
    '{"type": "resize"}',
    '{"type": "shown", "bytes": -1}',
    '{"type": "shown"}',
    '{"type": "exit", "code": 0}',
    '{"type": "confirm", "offset": 5}',
    '{"type": 7}',
    "[]",
    "",
    "null",
    '"' * 1000,
    "[" * 50_000,
    '{"a":' * 5_000,
    "\x00",
)


def noise(dice: random.Random) -> str | bytes:
    match dice.randrange(4):
        case 0:
            return dice.choice(CONTROLS)
        case 1:
            text = dice.choice(CONTROLS)
            return text[: dice.randrange(len(text) + 1)]
        case 2:
            return dice.randbytes(dice.randrange(2000))
        case _:
            return msgspec.json.encode(
                {"type": dice.choice(["resize", "begin", "x"]), "cols": dice.randrange(99)}
            ).decode()


async def test_any_frames_of_one_reader_stop_nobody_else(place: Place) -> None:
    dice = random.Random("frames")
    with capture_logs() as logs:
        async with browsing(place.world, place.url, place.allocation_id) as honest:
            await honest.session()
            for number in range(ROUNDS):
                async with browsing(place.world, place.url, place.allocation_id) as liar:
                    try:
                        for _ in range(60):
                            await liar.socket.send(noise(dice))
                    except ConnectionClosed:
                        pass
                await honest.type(f"round {number}\n")
                await honest.shows(f"round {number}\n")
    assert not [each for each in logs if each["log_level"] in ("error", "critical")]


@pytest.mark.parametrize("said", [text for text in CONTROLS if "80" not in text])
async def test_a_control_that_cannot_be_read_closes_its_own_socket(place: Place, said: str) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        await browser.session()
        await browser.socket.send(said)
        code, last = await browser.ended()
        assert (code, last.reason) == (4400, "a control message could not be read")
