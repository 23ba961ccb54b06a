"""Every change that takes the key is done once, however often it is asked for, and answered with the same bytes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests import described
from tests.isolation.asgi import Answer, Ask, send
from tests.isolation.ledger import changes, ledger
from tests.isolation.matrix import DONE
from tests.isolation.probes import ALONE, BY_SECRET, IGNORES_KEY, METHODS, Probe, probes
from tests.isolation.town import Part, Town, founded

AT_ONCE = 5
KEY = "X-Idempotency-Key"


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    async with founded(tmp_path) as made:
        yield made


def changing(town: Town) -> list[Probe]:
    """One of each operation that takes the key, from the contract."""
    document = described.document()
    found = {(probe.method, probe.path): probe for probe in probes(town.world._routes, document)}
    takes = {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if any(parameter["name"] == KEY for parameter in operation.get("parameters", []))
        and f"{method.upper()} {path}" not in BY_SECRET
    }
    assert takes == {name for name in found if name[0] != "GET"} - IGNORES_KEY
    assert not {f"{method} {path}" for method, path in takes} & ALONE
    return [found[name] for name in sorted(takes, key=lambda name: (METHODS.index(name[0]), name))]


def ask_of(town: Town, part: Part, probe: Probe, key: str) -> Ask:
    own = town.things.get(("", probe.noun)) or town.things.get((part.home or "ada", probe.noun), "")
    ask = probe.ask(town, part, own)
    return replace(ask, headers={**ask.headers, KEY: key})


def part_of(town: Town, name: str) -> Part:
    return next(part for part in town.parts if part.name == name)


def said(answer: Answer) -> tuple[int, bytes]:
    return answer.status, answer.body


async def test_asked_in_parallel_it_is_done_once(town: Town) -> None:
    """Refusals are not kept, so of those only the effect, which is none, is judged."""
    done: dict[str, tuple[Ask, Answer]] = {}
    for number, probe in enumerate(changing(town)):
        part = part_of(town, "operator" if probe.is_admin else "owner")
        ask = ask_of(town, part, probe, f"key-{number}")
        answers = await asyncio.gather(*(send(town.app, ask) for _ in range(AT_ONCE)))
        assert {answer.status for answer in answers} <= DONE, (str(probe), answers[0])
        if not answers[0].ok:
            continue
        done[str(probe)] = ask, answers[0]
        assert len({said(answer) for answer in answers}) == 1, str(probe)
        assert sorted(answer.header("idempotency-replayed") for answer in answers) == ["", *["true"] * (AT_ONCE - 1)]
        await check_another_request(town, ask)
    assert len(done) >= 15
    before = await ledger(town.world.dsn)
    for name, (ask, answer) in done.items():
        assert said(await send(town.app, ask)) == said(answer), name
    assert changes(before, await ledger(town.world.dsn)) == []


async def check_another_request(town: Town, ask: Ask) -> None:
    """Also one that differs behind the question mark: to detach by force is not to detach."""
    query = "&" if "?" in ask.target else "?"
    for changed in (
        replace(ask, body=ask.body + b" " if ask.body else b"{}"),
        replace(ask, target=f"{ask.target}{query}force=true"),
    ):
        other = await send(town.app, changed)
        assert (other.status, other.json()["code"]) == (422, "idempotency_key_reused")


async def test_anothers_same_key_is_their_own(town: Town) -> None:
    for probe in changing(town):
        if probe.is_admin:
            continue
        for name in ("owner", "other owner"):
            answer = await send(town.app, ask_of(town, part_of(town, name), probe, "the-same"))
            assert answer.status in DONE, (str(probe), answer)
            assert answer.header("idempotency-replayed") == ""


async def test_without_the_key_it_is_done_again(town: Town) -> None:
    """So that the tests above see what the key does."""
    probe = next(probe for probe in changing(town) if probe.body == "CreateToken")
    ask = probe.ask(town, part_of(town, "owner"))
    answers = [await send(town.app, ask) for _ in range(2)]
    assert len({said(answer) for answer in answers}) == 2
