"""Bad input gets a problem document that says what is wrong and what to do, and changes nothing."""

import re
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from litestar.types import ASGIApp

from gpuaas.api.problems import MEDIA_TYPE
from tests import described
from tests.contracts import faults
from tests.contracts.living_refusals import LIVING
from tests.contracts.refusals import ALL, Bad
from tests.isolation.asgi import Answer, Ask, send
from tests.isolation.ledger import changes, ledger
from tests.isolation.town import Town, founded
from tests.world import World


async def ask(app: ASGIApp, bad: Bad, token: str, named: dict[str, str]) -> Answer:
    body, path = bad.body.decode("latin-1"), bad.path
    for noun, id in named.items():
        body, path = body.replace(f"<{noun}>", id), path.replace(f"<{noun}>", id)
    headers = headers_of(bad, token)
    sent = Ask(method=bad.method, target=f"/api/v1{path}", headers=headers, body=body.encode("latin-1"))
    return await send(app, sent)


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


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    return described.document()


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """For requests that leave it as it was."""
    async with founded(tmp_path_factory.mktemp("town")) as made:
        yield made


async def named(town: Town) -> dict[str, str]:
    """Ada's things and the platform's, by their nouns; `spare` is a second machine of hers."""
    found = {noun: id for (tenant, noun), id in town.things.items() if tenant in ("", "ada")}
    project_id = town.world.ada.project_id
    spare = "select id from allocations where project_id = $1 and name like 'ada-pair%' limit 1"
    return found | {"owner": town.world.ada.id, "spare": await town.world.value(spare, project_id)}


async def found_wrong(town: Town, all_bad: Iterable[Bad]) -> dict[str, list[str]]:
    """How each that was not refused as it should be was answered; and whatever came of any of them."""
    found: dict[str, list[str]] = {}
    names, before = await named(town), await ledger(town.world.dsn)
    for bad in all_bad:
        answer = await ask(town.app, bad, town.world.people[bad.who].token, names)
        if wrong := complaints(bad, answer):
            found[bad.says] = [*wrong, answer.body[:300].decode("utf-8", "replace")]
    if changed := changes(before, await ledger(town.world.dsn)):
        found["nothing may change"] = changed
    return found


def told(found: dict[str, list[str]]) -> str:
    return "\n".join(f"{says}: {wrong}" for says, wrong in found.items())


async def test_each_is_refused_clearly_and_changes_nothing(town: Town) -> None:
    found = await found_wrong(town, [*ALL, *LIVING])
    assert found == {}, told(found)


async def test_every_field_is_refused_in_every_way_the_contract_forbids(town: Town, published: dict[str, Any]) -> None:
    made = list(faults.bodies(town, published))
    assert len(made) > 800
    found = await found_wrong(town, made)
    assert found == {}, told(found)


async def test_every_parameter_is_refused_in_every_way_the_contract_forbids(
    town: Town, published: dict[str, Any]
) -> None:
    made = list(faults.parameters(town, published))
    assert len(made) > 250
    found = await found_wrong(town, made)
    assert found == {}, told(found)


async def test_what_no_id_looks_like_is_nothing_wherever_it_stands(town: Town, published: dict[str, Any]) -> None:
    found: dict[str, list[str]] = {}
    before = await ledger(town.world.dsn)
    for bad in faults.ids(town, published):
        answer = await ask(town.app, bad, town.world.people[bad.who].token, {})
        wrong = [] if answer.status in (404, 422) else [f"{answer.status}"]
        if wrong := [*wrong, *(complaints_of_document(answer.json()) if answer.body else ["nothing was said"])]:
            found[bad.says] = [*wrong, answer.body[:300].decode("utf-8", "replace")]
    assert found == {}, told(found)
    assert changes(before, await ledger(town.world.dsn)) == []


def without_a_row(published: dict[str, Any]) -> set[str]:
    """Operations that take a body, and of whose own rules no row tells."""
    taking = {name for name, operation in faults.operations(published) if "requestBody" in operation}
    return {name for name in taking if not any(fits(bad, name) for bad in (*ALL, *LIVING))}


def fits(bad: Bad, name: str) -> bool:
    method, _, path = name.partition(" ")
    pattern = re.sub(r"\\{[^/]+\\}", "[^/]+", re.escape(path))
    return bad.method == method and re.fullmatch(pattern, f"/api/v1{bad.path.partition('?')[0]}") is not None


def test_every_route_that_takes_a_body_has_a_row(published: dict[str, Any]) -> None:
    assert without_a_row(published) == set()


def test_a_route_that_nobody_wrote_a_row_for_is_seen(published: dict[str, Any]) -> None:
    planted = {"post": {"requestBody": published["paths"]["/api/v1/projects"]["post"]["requestBody"]}}
    changed = {**published, "paths": {**published["paths"], "/api/v1/allocations/{id}/planted": planted}}
    assert without_a_row(changed) == {"POST /api/v1/allocations/{id}/planted"}


async def test_an_application_that_takes_anything_is_seen_in_every_fault(town: Town, published: dict[str, Any]) -> None:
    async def takes_anything(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 202, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    for bad in (*faults.bodies(town, published), *faults.parameters(town, published)):
        assert complaints(bad, await ask(takes_anything, bad, "", {})), bad.says


async def test_the_same_request_without_its_fault_is_taken(world: World) -> None:
    """So that the refusals above are for the fault, and the ledger sees what is done."""
    await world.nodes.add()
    before = await ledger(world.dsn)
    body = b'{"sku": "sim-h200-slice", "ssh_key_ids": ["<ssh_key>"]}'
    good = Bad(says="good", path="/allocations", body=body, headers={"X-Idempotency-Key": "k"})
    answer = await ask(world.app, good, world.ada.token, {"ssh_key": world.ada.key_id})
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
