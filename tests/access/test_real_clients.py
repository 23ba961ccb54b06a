"""Cells of the authorization matrix with real clients: let in before a change, refused and cut after it.

The model decides the rest (tests/access/test_authorization.py). `make soak` walks every standing and change.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg
import pytest

from tests.access.authorization import ENTRIES, KINDS, OWN_FILE, STANDINGS, kind_of
from tests.access.real_scenes import REAL, Scene, Stage, becomes, every_scene, line, stage
from tests.engines.benches import Key
from tests.patience import PATIENCE_SECONDS

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the oci engine")
SCENES = (
    Scene("grantee, member", "grant revoked"),
    Scene("grantee, member", "role lowered to viewer"),
    Scene("grantee, project admin", "role lowered to member"),
    Scene("holder, member", "removed from the project"),
)
BROKEN = {
    "render_keyset": ("where k.allocation_id = allocation\n        and (k.body", "where false and (k.body"),
    "terminal_objection": ("'terminals:open' = any (r.permissions)", "true"),
}


@asynccontextmanager
async def broken(dsn: str, functions: dict[str, tuple[str, str]]) -> AsyncIterator[None]:
    """These functions of the database meanwhile lack a rule."""
    connection = await asyncpg.connect(dsn)
    source = "select pg_get_functiondef(oid) from pg_proc where proname = $1"
    right = [await connection.fetchval(source, name) for name in functions]
    try:
        for statement, (rule, without) in zip(right, functions.values(), strict=True):
            assert rule in statement
            await connection.execute(statement.replace(rule, without))
        yield
    finally:
        for statement in right:
            await connection.execute(statement)
        await connection.close()


def kinds_without_cell(scenes: tuple[Scene, ...], real: tuple[str, ...]) -> set[str]:
    """Kinds of entry points that no real client was let into before a change and refused after it."""
    tried = {kind_of(entry) for entry in real for one in scenes if one.before(entry) and not one.after(entry)}
    return {kind_of(entry) for entry in ENTRIES} - tried


def test_every_kind_of_entry_point_has_a_real_client_that_is_refused_after_a_change() -> None:
    assert {kind_of(entry) for entry in ENTRIES} == set(KINDS)
    assert kinds_without_cell(SCENES, REAL) == set()
    for entry in REAL:
        missing = kinds_without_cell(SCENES, tuple(one for one in REAL if one != entry))
        assert missing == {kind_of(entry)} - {"route"}, "routes have several"
    assert kinds_without_cell((SCENES[0],), REAL) == {"route", "recording"}


@pytest.fixture(scope="module")
async def on(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with stage(tmp_path_factory.mktemp("stage")) as made:
        yield made


@needs_root
@pytest.mark.parametrize("scene", SCENES, ids=str)
async def test_real_clients_meet_what_the_model_expects(on: Stage, scene: Scene) -> None:
    async with on.cell(STANDINGS[scene.standing]) as cell:
        assert set(cell.clients) == set(REAL)
        assert await cell.walk(scene) == []


@needs_root
async def test_a_revoked_token_takes_its_requests_its_terminals_and_the_keys_that_it_added(on: Stage) -> None:
    async with AsyncExitStack() as stack:
        cell = await stack.enter_async_context(on.cell(STANDINGS["holder, member"]))
        wish = {"title": "ci", "scopes": ["read", "write"]}
        token = (await cell.pat.http.post("/api/v1/auth/tokens", json=wish)).raise_for_status().json()
        http, key = await stack.enter_async_context(on.http(token["token"])), Key()
        added = await http.post("/api/v1/ssh-keys", json={"title": "ci", "public_key": line(key)})
        chosen = {"ssh_key_ids": [cell.pat.key_id, added.raise_for_status().json()["id"]]}
        (await cell.pat.http.put(f"/api/v1/allocations/{cell.id}/ssh-keys", json=chosen)).raise_for_status()
        await on.installed(cell.id)
        ssh = on.ssh("token", cell.inside.environment, key)
        clients = {**cell.inside.of_credential(http), **cell.inside.of_key(ssh)}
        for client in clients.values():
            stack.push_async_callback(client.close)
        assert await asyncio.gather(*(one.open() for one in (*clients.values(), cell.clients["SSH login"]))) == [
            True
        ] * (len(clients) + 1)
        (await cell.pat.http.delete(f"/api/v1/auth/tokens/{token['details']['id']}")).raise_for_status()
        for entry, client in clients.items():
            if client.is_lasting:
                assert await becomes(True, client.is_cut, PATIENCE_SECONDS), entry
            assert await becomes(False, client.enters, PATIENCE_SECONDS), entry
        assert not await cell.clients["SSH login"].is_cut(), "the person's own key stays"


@needs_root
async def test_a_connection_that_stays_open_and_a_login_that_still_works_are_seen(on: Stage) -> None:
    """The twin: neither the key set nor the terminals follow the revoke."""
    scene = SCENES[0]
    async with on.cell(STANDINGS[scene.standing]) as cell, broken(on.world.dsn, BROKEN):
        seen = await cell.walk(scene, seconds=2)
    prefix = f"{scene.standing}, {scene.change}: "
    cut = ("SSH login", OWN_FILE, "SFTP", "TCP forwarding", "terminal", "terminal re-attach")
    assert set(seen) == {f"{prefix}{entry} stays open" for entry in cut}


@needs_root
@pytest.mark.soak
@pytest.mark.parametrize("scene", every_scene(), ids=str)
async def test_real_clients_meet_what_the_model_expects_in_every_scene(on: Stage, scene: Scene) -> None:
    async with on.cell(STANDINGS[scene.standing]) as cell:
        assert await cell.walk(scene) == []
