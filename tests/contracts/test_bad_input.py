"""Bad input gets a problem document that says what is wrong and what to do, and changes nothing."""

import re
from pathlib import Path
from typing import Any

import pytest

from gpuaas.api.problems import MEDIA_TYPE
from tests.contracts.refusals import ALL, Bad
from tests.isolation.asgi import Answer, Ask, send
from tests.isolation.ledger import changes, ledger
from tests.world import World, furnished


async def ask(world: World, bad: Bad) -> Answer:
    person, app = world.people[bad.who], world.app
    body = bad.body.replace(b"KEY_ID", person.key_id.encode())
    target = "/api/v1" + bad.path.replace("PROJECT_ID", person.project_id)
    return await send(app, Ask(method=bad.method, target=target, headers=headers_of(bad, person.token), body=body))


def headers_of(bad: Bad, token: str) -> dict[str, str]:
    """Signed in, unless the case is about who it is."""
    given = {"authorization": f"Bearer {token}", **bad.headers}
    return {name: value for name, value in given.items() if (name, value) != ("authorization", "")}


def complaints(bad: Bad, answer: Answer) -> list[str]:
    """What is wrong with how it was refused."""
    found = [] if answer.status == bad.status else [f"{answer.status}, not {bad.status}"]
    if answer.header("content-type") != MEDIA_TYPE:
        return [*found, f"answered as {answer.header('content-type')}: {answer.body[:200]!r}"]
    problem = answer.json()
    found += complaints_of_document(problem)
    if problem["code"] != bad.code:
        found.append(f"code {problem['code']}, not {bad.code}")
    if bad.wrong and bad.wrong not in " ".join(error["field"] for error in problem.get("errors", [])):
        found.append(f"{bad.wrong} is not among {problem.get('errors')}")
    if len(answer.body) > 4000:
        found.append(f"{len(answer.body)} bytes of complaint")
    return found


def complaints_of_document(problem: dict[str, Any]) -> list[str]:
    required = {"type", "title", "status", "detail", "code", "correlation_id"}
    found = [] if required <= set(problem) else [f"without {required - set(problem)}"]
    if not re.fullmatch(r"[A-Z].*[.!?]", problem["detail"], re.DOTALL):
        found.append(f"not a sentence: {problem['detail']!r}")
    return found


async def test_each_is_refused_clearly_and_changes_nothing(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}
    async with furnished(tmp_path) as world:
        before = await ledger(world.dsn)
        for bad in ALL:
            answer = await ask(world, bad)
            if wrong := complaints(bad, answer):
                found[bad.says] = [*wrong, answer.body[:300].decode("utf-8", "replace")]
        after = await ledger(world.dsn)
    assert found == {}, "\n".join(f"{says}: {wrong}" for says, wrong in found.items())
    assert changes(before, after) == []


async def test_the_same_request_without_its_fault_is_taken(world: World) -> None:
    """So that the refusals above are for the fault, and the ledger sees what is done."""
    await world.nodes.add()
    before = await ledger(world.dsn)
    body = b'{"sku": "sim-h200-slice", "ssh_key_ids": ["KEY_ID"]}'
    good = Bad(says="good", path="/allocations", body=body, headers={"X-Idempotency-Key": "k"})
    answer = await ask(world, good)
    assert answer.status == 202, answer.body
    assert complaints(good, answer)
    assert {"allocations", "claims", "idempotency"} <= set(changes(before, await ledger(world.dsn)))


@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "TRACE", "CONNECT", "BREW"])
async def test_other_methods_are_told_which_there_are(world: World, method: str) -> None:
    answer = await send(world.app, Ask(method=method, target="/api/v1/ssh-keys", token=world.ada.token))
    assert (answer.status, answer.header("content-type")) == (405, MEDIA_TYPE)
    assert set(answer.header("allow").split(", ")) == {"GET", "POST", "OPTIONS"}
    assert answer.json()["code"] == "method_not_allowed"


async def test_addresses_that_there_are_not_say_where_to_look(world: World) -> None:
    for target in (
        "/",
        "/api",
        "/api/v1",
        "/api/v2/me",
        "/api/v1/nothing",
        "/internal/openapi",
        "/schema",
        "//",
        "/api/v1/me/..",
    ):
        answer = await send(world.app, Ask(method="GET", target=target, token=world.ada.token))
        assert (answer.status, answer.json()["code"]) == (404, "route_not_found"), target
        assert "/api/v1/openapi.json" in answer.json()["detail"]


async def test_options_names_the_methods_and_nothing_else(world: World) -> None:
    answer = await send(world.app, Ask(method="OPTIONS", target="/api/v1/ssh-keys"))
    assert (answer.status, answer.body) == (204, b"")
    assert set(answer.header("allow").split(", ")) <= {"GET", "POST", "OPTIONS"}
