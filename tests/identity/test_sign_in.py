"""Signing up, in and out; what a stranger may learn; how often they may ask."""

from typing import Literal

import httpx
import pytest
from argon2 import PasswordHasher

from gpuaas.domain.identity.attempts import ATTEMPTS, SOURCE_ATTEMPTS
from gpuaas.domain.identity.passwords import Passwords
from tests import peek
from tests.world import HOST, PASSWORD, World

SIGN_UP, LOGIN = "/api/v1/auth/personal/signup", "/api/v1/auth/personal/login"


def stripped(answer: httpx.Response) -> tuple[int, dict[str, object], set[str]]:
    """All a stranger sees, but for what differs in every answer."""
    body = {name: value for name, value in answer.json().items() if name != "correlation_id"}
    return answer.status_code, body, set(answer.headers)


async def test_signing_up_gives_a_tenant_a_project_and_a_session(world: World) -> None:
    me = (await world.http.get("/api/v1/me")).json()
    assert me["user"]["email"] == "ada@example.com"
    assert [(tenant["role"], tenant["slug"][:4]) for tenant in me["tenants"]] == [("owner", "ada-")]
    assert [(project["role"], project["slug"]) for project in me["projects"]] == [("owner", "default")]
    assert me["scopes"] == ["admin", "read", "write"]


async def test_an_address_signs_up_once_in_any_case(world: World) -> None:
    answer = await world.stranger.post(SIGN_UP, json={"email": "ADA@example.com", "password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("body", [{"email": "no-at", "password": PASSWORD}, {"email": "a@b", "password": "short"}])
async def test_a_bad_address_or_a_short_password_is_refused(world: World, body: dict[str, str]) -> None:
    assert (await world.stranger.post(SIGN_UP, json=body)).status_code == 422


async def test_the_right_password_logs_in_and_the_address_in_any_case(world: World) -> None:
    answer = await world.stranger.post(LOGIN, json={"email": "Ada@Example.com", "password": PASSWORD})
    assert (answer.status_code, answer.json()["user"]["id"]) == (200, world.ada.id)


async def test_a_wrong_password_and_an_unknown_person_get_the_same_answer(world: World) -> None:
    wrong = await world.stranger.post(LOGIN, json={"email": "ada@example.com", "password": "not the password"})
    unknown = await world.stranger.post(LOGIN, json={"email": "nobody@example.com", "password": "not the password"})
    assert stripped(wrong) == stripped(unknown)
    assert wrong.json()["code"] == "credentials_invalid"


class CountingHasher(PasswordHasher):
    verified = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.verified += 1
        return super().verify(hash, password)


async def test_an_unknown_person_costs_as_much_hashing_as_a_known_one() -> None:
    """No clock can tell them apart, because both verify one hash."""
    hasher = CountingHasher(time_cost=1, memory_cost=8, parallelism=1)
    passwords = Passwords(hasher)
    kept = await passwords.hash(PASSWORD)
    for secret_hash, given, right in ((kept, PASSWORD, True), (kept, "wrong", False), (None, "nobody", False)):
        before = hasher.verified
        assert await passwords.matches(secret_hash, given) is right
        assert hasher.verified == before + 1


async def test_too_many_attempts_are_answered_with_when_to_come_back(world: World) -> None:
    body = {"email": "ada@example.com", "password": "guess number one"}
    answers = [await world.stranger.post(LOGIN, json=body) for _ in range(ATTEMPTS + 1)]
    assert [answer.status_code for answer in answers] == [401] * ATTEMPTS + [429]
    refused = answers[-1]
    assert refused.json()["code"] == "rate_limit_exceeded"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    right = await world.stranger.post(LOGIN, json={"email": "ada@example.com", "password": PASSWORD})
    assert right.status_code == 429


async def test_an_unknown_person_is_limited_like_a_known_one(world: World) -> None:
    body = {"email": "nobody@example.com", "password": "guess number one"}
    answers = [await world.stranger.post(LOGIN, json=body) for _ in range(ATTEMPTS + 1)]
    assert [answer.status_code for answer in answers] == [401] * ATTEMPTS + [429]


async def test_an_address_that_tried_too_often_spends_nobodys_attempts(world: World) -> None:
    async def guess(number: int) -> int:
        body = {"email": f"victim{number}@example.com", "password": "guess number one"}
        return (await world.stranger.post(LOGIN, json=body)).status_code

    answers = [await guess(number) for number in range(SOURCE_ATTEMPTS + 3)]
    assert answers == [401] * SOURCE_ATTEMPTS + [429] * 3
    counted = "select count(*) from attempt_delays where bucket like 'login:%victim%'"
    assert await world.value(counted) == SOURCE_ATTEMPTS


async def test_an_attempt_after_the_delay_is_allowed(world: World) -> None:
    body = {"email": "ada@example.com", "password": "guess number one"}
    for _ in range(ATTEMPTS + 1):
        await world.stranger.post(LOGIN, json=body)
    await peek.plant(world.db, "update attempt_delays set next_at = now()")
    assert (await world.stranger.post(LOGIN, json={**body, "password": PASSWORD})).status_code == 200


async def test_sessions_are_listed_with_where_they_are_and_revoked_one_by_one(world: World) -> None:
    body = {"email": "ada@example.com", "password": PASSWORD}
    other = await world.stranger.post(LOGIN, json=body, headers={"User-Agent": "a library"})
    token = other.json()["access_token"]
    sessions = (await world.http.get("/api/v1/auth/sessions")).json()["items"]
    assert [(session["current"], "library" in session["device"]) for session in sessions] == [
        (False, True),
        (True, False),
    ]
    assert (await world.http.delete(f"/api/v1/auth/sessions/{sessions[0]['id']}")).status_code == 204
    refused = await world.client(token).get("/api/v1/me")
    assert (refused.status_code, refused.json()["code"]) == (401, "token_invalid")
    assert (await world.http.get("/api/v1/me")).status_code == 200


async def test_somebody_elses_session_cannot_be_revoked(world: World) -> None:
    eve = await world.sign_up("eve")
    theirs = (await world.http.get("/api/v1/auth/sessions")).json()["items"][0]["id"]
    answer = await eve.http.delete(f"/api/v1/auth/sessions/{theirs}")
    assert answer.status_code == 404
    assert (await world.http.get("/api/v1/me")).status_code == 200


async def test_logging_out_ends_the_session_everywhere(world: World) -> None:
    assert (await world.http.post("/api/v1/auth/logout")).status_code == 204
    assert (await world.http.get("/api/v1/me")).status_code == 401


async def test_a_session_ends_by_itself(world: World) -> None:
    world.clock.advance(days=31)
    answer = await world.http.get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_expired")


async def test_no_token_a_foreign_token_and_a_broken_header_are_each_told_apart(world: World) -> None:
    cases = {"": "token_missing", "Bearer": "token_missing", "Basic abc": "token_missing", "Bearer x": "token_invalid"}
    for header, code in cases.items():
        answer = await world.stranger.get("/api/v1/me", headers={"Authorization": header} if header else {})
        assert (answer.status_code, answer.json()["code"]) == (401, code)
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_neither_passwords_nor_tokens_are_kept_as_they_are(world: World) -> None:
    tables = [
        row["tablename"]
        for row in await peek.rows(world.db, "select tablename from pg_tables where schemaname = 'public'")
    ]
    for table in tables:
        rows = str(await peek.rows(world.db, f"select * from {table}")) if table != "schema_migrations" else ""
        assert world.ada.token not in rows
        assert PASSWORD not in rows


OWN = f"http://{HOST}"
CSRF = {
    "own page with the header": ({"Origin": OWN, "X-GPUaaS-Request": "1"}, 201),
    "own page without the header": ({"Origin": OWN}, 403),
    "another page with the header": ({"Origin": "http://evil.test", "X-GPUaaS-Request": "1"}, 403),
    "no page with the header": ({"X-GPUaaS-Request": "1"}, 403),
    "a sandboxed page": ({"Origin": "null", "X-GPUaaS-Request": "1"}, 403),
    "a page of another scheme": ({"Origin": f"https://{HOST}", "X-GPUaaS-Request": "1"}, 403),
    "a page on another port": ({"Origin": f"{OWN}:8443", "X-GPUaaS-Request": "1"}, 403),
    "a page whose name begins with ours": ({"Origin": f"{OWN}.evil.test", "X-GPUaaS-Request": "1"}, 403),
    "nothing at all": ({}, 403),
}


@pytest.mark.parametrize("case", CSRF)
async def test_a_change_by_cookie_must_come_from_our_own_page(world: World, case: str) -> None:
    headers, status = CSRF[case]
    browser = world.client(headers=headers)
    browser.cookies.set("gpuaas_session", world.ada.token)
    answer = await browser.post("/api/v1/projects", json={"slug": "new"})
    assert answer.status_code == status, answer.text
    assert (await browser.get("/api/v1/me")).status_code == 200


async def test_a_change_by_token_needs_no_page(world: World) -> None:
    answer = await world.client(world.ada.token, headers={"Origin": "http://elsewhere.test"}).post(
        "/api/v1/projects", json={"slug": "x"}
    )
    assert answer.status_code == 201


async def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(world: World) -> None:
    answer = await world.stranger.post(LOGIN, json={"email": "ada@example.com", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("gpuaas_session=gps_", "httponly", "samesite=lax", "path=/"))


async def test_nobody_keeps_a_copy_of_an_answer(world: World) -> None:
    """Not the browser of who has signed out, and no proxy on the way."""
    for path in ("/api/v1/me", f"/api/v1/projects/{world.ada.project_id}", "/api/v1/projects/proj_nowhere"):
        answer = await world.http.get(path)
        assert answer.headers.get_list("cache-control") == ["no-store"]
        assert answer.headers["x-content-type-options"] == "nosniff"
