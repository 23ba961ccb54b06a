"""Personal tokens: shown once, scoped, expiring, revocable."""

import httpx
import pytest

from tests.world import World

TOKENS = "/api/v1/auth/tokens"


async def token(world: World, *scopes: str, days: int = 30) -> tuple[str, httpx.AsyncClient]:
    """A token of Ada's: its id, and a client with it."""
    asked = {"title": "script", "scopes": list(scopes), "expires_in_days": days}
    made = (await world.http.post(TOKENS, json=asked)).raise_for_status().json()
    return made["details"]["id"], world.client(made["token"])


async def test_a_token_is_shown_once_and_listed_without_itself(world: World) -> None:
    answer = await world.http.post(TOKENS, json={"title": "script", "scopes": ["read"]})
    secret = answer.json()["token"]
    listed = await world.http.get(TOKENS)
    assert [each["title"] for each in listed.json()["items"]] == ["script"]
    assert secret not in listed.text


async def test_a_token_made_twice_with_one_key_is_one_token_kept_sealed(world: World) -> None:
    asked, headers = {"title": "script", "scopes": ["read"]}, {"X-Idempotency-Key": "once"}
    first, again = [await world.http.post(TOKENS, json=asked, headers=headers) for _ in range(2)]
    assert first.content == again.content
    assert first.json()["token"].encode() not in await world.value("select body from idempotency")


async def test_a_token_that_may_read_may_not_write(world: World) -> None:
    _, script = await token(world, "read")
    assert (await script.get(f"/api/v1/projects/{world.ada.project_id}")).status_code == 200
    for verb, path, body in (
        ("POST", "/api/v1/projects", {"slug": "x"}),
        ("POST", TOKENS, {"title": "y", "scopes": ["read"]}),
        ("DELETE", f"/api/v1/ssh-keys/{world.ada.key_id}", None),
    ):
        answer = await script.request(verb, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_permissions")


async def test_a_token_that_may_read_may_neither_create_nor_release(world: World) -> None:
    a = await world.allocation()
    _, script = await token(world, "read")
    body = {"sku": "sim-h200-slice", "ssh_key_ids": [world.ada.key_id]}
    created = await script.post("/api/v1/allocations", json=body, headers={"X-Idempotency-Key": "k"})
    released = await script.post(f"/api/v1/allocations/{a}/release", json={})
    assert (created.status_code, released.status_code) == (403, 403)
    assert (await script.get(f"/api/v1/allocations/{a}")).status_code == 200


async def test_a_token_that_may_read_cannot_end_sessions(world: World) -> None:
    _, script = await token(world, "read")
    session = (await script.get("/api/v1/auth/sessions")).json()["items"][0]["id"]
    assert (await script.delete(f"/api/v1/auth/sessions/{session}")).status_code == 403


async def test_an_operators_token_without_the_admin_scope_is_no_operators(world: World) -> None:
    asked = {"title": "script", "scopes": ["read", "write"]}
    secret = (await world.operator.http.post(TOKENS, json=asked)).json()["token"]
    assert (await world.client(secret).get("/api/v1/admin/nodes")).status_code == 403
    assert (await world.operator.http.get("/api/v1/admin/nodes")).status_code == 200


@pytest.mark.parametrize("scope", ["read", "admin"])
async def test_a_token_makes_no_token_that_would_outlive_it(world: World, scope: str) -> None:
    _, script = await token(world, "read", "write", days=1)
    answer = await script.post(TOKENS, json={"title": "heir", "scopes": [scope], "expires_in_days": 365})
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_permissions")


async def test_a_token_ends_by_itself(world: World) -> None:
    _, script = await token(world, "read", days=1)
    assert (await script.get("/api/v1/me")).status_code == 200
    world.clock.advance(days=1, seconds=1)
    answer = await script.get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_expired")


async def test_a_revoked_token_is_over_at_once(world: World) -> None:
    id, script = await token(world, "read")
    assert (await world.http.delete(f"{TOKENS}/{id}")).status_code == 204
    assert (await script.get("/api/v1/me")).status_code == 401
    assert (await world.http.get(TOKENS)).json()["items"] == []
    assert (await world.http.delete(f"{TOKENS}/{id}")).status_code == 404


async def test_somebody_elses_token_does_not_exist(world: World) -> None:
    id, _ = await token(world, "read")
    eve = await world.sign_up("eve")
    assert (await eve.http.delete(f"{TOKENS}/{id}")).status_code == 404


@pytest.mark.parametrize("asked", [{"scopes": []}, {"scopes": ["root"]}, {"expires_in_days": 0}, {"title": ""}])
async def test_a_token_with_bad_words_is_refused(world: World, asked: dict[str, object]) -> None:
    answer = await world.http.post(TOKENS, json={"title": "t", "scopes": ["read"], **asked})
    assert answer.status_code == 422
