"""Attacks on the API that the security review found blocked: each stays blocked, and has a request that succeeds."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gpuaas.api.edge import COOKIE
from gpuaas.main.front_end import FrontEndLimits
from gpuaas.wire.identity import Role
from tests.attacks.web_server import web_server
from tests.patience import PATIENCE_SECONDS
from tests.world import HOST, KEY, PASSWORD, SLICE, Person, World

FOREIGN, MISSING = (403, 404, 422), 404
OWN_PAGE = {"Origin": f"http://{HOST}", "X-GPUaaS-Request": "1"}
SCRIPT = "<script>alert(1)</script>"


async def victim_and_eve(world: World) -> tuple[str, str, Person]:
    """Ada's allocation and volume, and Eve, who shares nothing with Ada."""
    allocation = await world.allocation()
    wanted = {"name": "data", "size_gib": 1, "backend": "local", "write_policy": "single_writer"}
    volume = await world.http.post(f"/api/v1/projects/{world.ada.project_id}/volumes", json=wanted)
    eve = await world.sign_up("eve", key=KEY[:-4] + "eve1")
    return allocation, volume.raise_for_status().json()["id"], eve


async def test_ids_of_another_tenant_in_a_body_are_refused(world: World) -> None:
    allocation, volume, eve = await victim_and_eve(world)
    own = str((await world.submit(eve)).json()["allocations"][0]["id"])
    await world.nodes.settle()
    attached = {"volume_id": volume, "mount_path": "/data", "access_mode": "read_write"}
    attempts: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/allocations", {"sku": SLICE, "ssh_key_ids": [world.ada.key_id], "project_id": eve.project_id}),
        ("POST", "/allocations", {"sku": SLICE, "ssh_key_ids": [eve.key_id], "project_id": world.ada.project_id}),
        (
            "POST",
            "/allocations",
            {
                "sku": SLICE,
                "ssh_key_ids": [eve.key_id],
                "project_id": eve.project_id,
                "storage_attachments": [attached],
            },
        ),
        ("POST", f"/allocations/{own}/storage-attachments", attached),
        ("POST", f"/allocations/{own}/access-grants", {"user_id": world.ada.id}),
        ("POST", f"/allocations/{own}/handover", {"user_id": world.ada.id, "ssh_key_ids": []}),
        ("PUT", f"/allocations/{own}/ssh-keys", {"ssh_key_ids": [world.ada.key_id]}),
        ("POST", f"/allocations/{allocation}/access-grants", {"user_id": eve.id, "ssh_key_id": eve.key_id}),
    ]
    for number, (method, path, body) in enumerate(attempts):
        headers = {"X-Idempotency-Key": f"attempt-{number}"}
        answer = await eve.http.request(method, f"/api/v1{path}", json=body, headers=headers)
        assert answer.status_code in FOREIGN, (method, path, answer.text)
    assert await world.value("select count(*) from storage_attachments") == 0
    assert await world.value("select count(*) from allocations") == 2


async def test_a_cursor_of_another_tenant_shows_none_of_their_rows(world: World) -> None:
    for name in ("one", "two"):
        await world.allocation(name=name)
    place = f"/api/v1/projects/{world.ada.project_id}/allocations"
    cursor = (await world.http.get(place, params={"limit": 1})).json()["next_cursor"]
    assert (await world.http.get(place, params={"limit": 1, "cursor": cursor})).json()["items"]  # it leads somewhere
    eve = await world.sign_up("eve", key=KEY[:-4] + "eve1")
    own = f"/api/v1/projects/{eve.project_id}/allocations"
    assert (await eve.http.get(own, params={"cursor": cursor})).json()["items"] == []
    assert (await eve.http.get(place, params={"cursor": cursor})).status_code == MISSING


async def test_an_idempotency_key_of_another_person_answers_nothing_of_theirs(world: World) -> None:
    await world.allocation()
    first = (await world.submit(key="shared", name="mine")).json()["allocations"][0]
    again = await world.submit(key="shared", name="mine")
    assert again.json()["allocations"][0]["id"] == first["id"]  # to the same person it is replayed
    eve = await world.sign_up("eve", key=KEY[:-4] + "eve1")
    theirs = await world.submit(eve, key="shared", name="mine")
    assert "Idempotency-Replayed" not in theirs.headers
    assert theirs.json()["allocations"][0]["project_id"] == eve.project_id


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MEMBER, Role.ADMIN])
async def test_nobody_raises_their_own_role_above_what_they_may_give(world: World, role: Role) -> None:
    eve = await world.sign_up("eve", key=KEY[:-4] + "eve1")
    await world.join(eve, world.ada, project=role, tenant=Role.MEMBER)
    members = f"/api/v1/projects/{world.ada.project_id}/members"
    assert (await eve.http.put(f"{members}/{eve.id}", json={"role": "owner"})).status_code == 403
    invited = await eve.http.post(members, json={"email": "mallory@example.com", "role": "owner"})
    assert invited.status_code == 403
    stored = "select role from project_members where user_id = $1 and project_id = $2"
    assert await world.value(stored, eve.id, world.ada.project_id) == role
    assert (await eve.http.get("/api/v1/admin/nodes")).status_code == 403


async def test_nobody_signs_up_as_an_operator(world: World) -> None:
    credentials = {"email": "eve@example.com", "password": PASSWORD, "platform_role": "admin"}
    answer = await world.client(number=99).post("/api/v1/auth/personal/signup", json=credentials)
    role = await world.value("select max(platform_role) from users where email = 'eve@example.com'")
    assert (answer.status_code, role) in ((422, None), (201, None)), answer.text


async def test_a_change_by_cookie_needs_our_own_page(world: World) -> None:
    credentials = {"email": world.ada.email, "password": PASSWORD}
    browser = world.client(number=98)
    (await browser.post("/api/v1/auth/personal/login", json=credentials)).raise_for_status()
    wanted = {"title": "t", "public_key": KEY[:-4] + "evil"}
    forged: list[dict[str, str]] = [
        {},
        {"X-GPUaaS-Request": "1"},
        {"Origin": f"http://{HOST}"},
        {**OWN_PAGE, "Origin": "http://evil.example"},
        {**OWN_PAGE, "Origin": f"http://{HOST}.evil.example"},
        {**OWN_PAGE, "Origin": "null"},
    ]
    for headers in forged:
        answer = await browser.post("/api/v1/ssh-keys", json=wanted, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_refused"), headers
    assert (await browser.post("/api/v1/ssh-keys", json=wanted, headers=OWN_PAGE)).status_code == 201


async def test_a_session_cookie_chosen_by_an_attacker_is_never_taken_over(world: World) -> None:
    browser = world.client(number=97)
    browser.cookies.set(COOKIE, "chosen-by-an-attacker", domain=HOST)
    credentials = {"email": world.ada.email, "password": PASSWORD}
    answer = await browser.post("/api/v1/auth/personal/login", json=credentials)
    assert answer.cookies[COOKIE] != "chosen-by-an-attacker"
    attacker = world.client(number=96, headers={"Cookie": f"{COOKIE}=chosen-by-an-attacker"})
    assert (await attacker.get("/api/v1/me")).status_code == 401
    victim = world.client(number=95, headers={"Cookie": f"{COOKIE}={answer.cookies[COOKIE]}"})
    assert (await victim.get("/api/v1/me")).status_code == 200


async def test_markup_in_free_text_is_stored_as_text_and_served_as_json(world: World) -> None:
    added = await world.http.post("/api/v1/ssh-keys", json={"title": SCRIPT, "public_key": KEY[:-4] + "evil"})
    assert added.status_code in (201, 422)
    id = await world.allocation()
    refused = await world.submit(name=SCRIPT)
    assert refused.status_code == 422
    restarted = await world.http.post(f"/api/v1/allocations/{id}/restart", json={"reason": SCRIPT})
    assert restarted.status_code == 202
    shown = await world.http.get(f"/api/v1/allocations/{id}/timeline")
    assert SCRIPT in shown.text
    assert shown.headers["content-type"] == "application/json"
    assert shown.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"[" * 100_000 + b"]" * 100_000, {}),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, {}),
        (b'{"email": "a@example.com", "email": "b@example.com", "password": "x"}', {}),
        (b'{"email": ' + b"9" * 500_000 + b"}", {}),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + b"\x00" * 1000, {"Content-Encoding": "gzip"}),
        (b"x" * (2 << 20), {}),
    ],
    ids=["nested lists", "nested objects", "a name twice", "a huge number", "gzip", "too large"],
)
async def test_a_hostile_body_is_refused_before_anything_is_done(
    world: World, body: bytes, headers: dict[str, str]
) -> None:
    kind = {"Content-Type": "application/json"}
    answer = await world.client(number=94).post(
        "/api/v1/auth/personal/login", content=body, headers={**kind, **headers}
    )
    assert answer.status_code in (400, 413, 415, 422), answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")


AMBIGUOUS = [
    "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
    "Content-Length: 6\r\nContent-Length: 0\r\n",
    "Transfer-Encoding: xchunked\r\n",
    "Transfer-Encoding : chunked\r\n",
]


async def test_a_request_of_ambiguous_length_hides_no_second_one(tmp_path: Path) -> None:
    hidden = "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with web_server(tmp_path, FrontEndLimits()) as server:
        for framing in AMBIGUOUS:
            reader, writer = await server.open()
            writer.write(f"POST / HTTP/1.1\r\nHost: x\r\n{framing}\r\n{hidden}".encode())
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = (await reader.read()).decode()
            writer.close()
            assert answer.count("HTTP/1.1 200") == 0, (framing, answer)
            assert (await server.get()).startswith("0 ")  # a plain request is answered
