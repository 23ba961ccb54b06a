"""Grants through the front door: who shares, who asks, whose key, and what the machine admits afterwards."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncssh
import httpx
import pytest

from gpuaas.domain.access.reconcile import GrantsWorker
from gpuaas.domain.access.states import LIVE, MACHINE
from gpuaas.wire.access import GrantStatus
from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import Role
from tests import peek
from tests.world import Person, World


def a_key() -> str:
    return asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()


@dataclass(frozen=True)
class Shared:
    """Ada's machine, and Bob who works in her project."""

    world: World
    id: str
    bob: Person

    async def grant(self, *, by: Person | None = None, **fields: Any) -> httpx.Response:
        http = (by or self.world.ada).http
        return await http.post(f"/api/v1/allocations/{self.id}/access-grants", json={"user_id": self.bob.id, **fields})

    async def ask(self, who: Person, **fields: Any) -> httpx.Response:
        return await who.http.post(f"/api/v1/allocations/{self.id}/access-requests", json=fields)

    async def patch(self, grant: str, who: Person, **fields: Any) -> httpx.Response:
        return await who.http.patch(f"/api/v1/allocations/{self.id}/access-grants/{grant}", json=fields)

    async def revoke(self, grant: str, who: Person) -> httpx.Response:
        return await who.http.delete(f"/api/v1/allocations/{self.id}/access-grants/{grant}")

    async def observed(self, grant: str) -> tuple[str, bool, bool]:
        """What Ada is shown of a grant after the node confirmed the key set."""
        await self.world.nodes.settle()
        place = f"/api/v1/allocations/{self.id}/access-grants/{grant}"
        shown = (await self.world.http.get(place)).raise_for_status().json()
        return shown["status"], shown["installed"], shown["applied"]

    async def admitted(self) -> set[str]:
        """Whose keys the machine itself has, once all has settled."""
        await self.world.nodes.settle()
        node = self.world.node_of(await self.world.get(self.id))
        return {key.user_id for key in node.environments[self.id].keys.keys}


@pytest.fixture
async def shared(world: World) -> Shared:
    bob = await world.sign_up("bob", key=a_key())
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    return Shared(world, await world.allocation(), bob)


def test_every_status_has_its_moves_written_down() -> None:
    assert set(MACHINE.moves) == set(GrantStatus)
    assert {GrantStatus.ASKED, GrantStatus.AWAITING_KEY, GrantStatus.ACTIVE} == LIVE


async def test_a_grant_with_a_key_is_active_at_once_and_the_machine_admits_it(shared: Shared) -> None:
    made = await shared.grant(ssh_key_id=shared.bob.key_id)
    assert (made.status_code, made.json()["status"], made.json()["email"]) == (201, "active", shared.bob.email)
    assert made.json()["installed"] is False
    assert await shared.admitted() == {shared.world.ada.id, shared.bob.id}
    shown = (await shared.bob.http.get(f"/api/v1/allocations/{shared.id}/access-grants")).json()["items"]
    assert [(one["id"], one["installed"]) for one in shown] == [(made.json()["id"], True)]


async def test_only_a_grant_whose_key_is_admitted_is_installed(shared: Shared) -> None:
    """Asked, waiting for a key, of a viewer, revoked: the confirmed key set does not hold the key."""
    asked = (await shared.ask(shared.bob, ssh_key_id=shared.bob.key_id)).json()
    assert await shared.observed(asked["id"]) == ("asked", False, True)
    granted = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    assert (granted["status"], granted["installed"], granted["applied"]) == ("active", False, False)
    assert await shared.observed(asked["id"]) == ("active", True, True)
    suspended = "update users set suspended_at = {} where id = $1"
    for moment, installed in (("now()", False), ("null", True)):
        await peek.plant(shared.world.db, suspended.format(moment), shared.bob.id)
        await peek.plant(shared.world.db, "select render_keyset($1)", shared.id)
        assert await shared.observed(asked["id"]) == ("active", installed, True)
    revoked = (await shared.revoke(asked["id"], shared.world.ada)).json()
    assert (revoked["status"], revoked["installed"], revoked["applied"]) == ("revoked", False, False)
    assert await shared.observed(asked["id"]) == ("revoked", False, True)
    waiting = (await shared.grant()).json()
    assert await shared.observed(waiting["id"]) == ("awaiting_key", False, True)


async def test_the_timeline_says_whose_access_it_is(shared: Shared) -> None:
    made = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    await shared.revoke(made["id"], shared.world.ada)
    told = [entry for entry in await shared.world.timeline(shared.id) if entry.phase.startswith("access_")]
    assert [entry.note for entry in told if entry.phase != "access_ready"] == [
        shared.bob.email,
        f"{shared.bob.email}: revoked on request",
    ]


async def test_a_granted_key_is_marked_and_the_holders_is_not(shared: Shared) -> None:
    ends = shared.world.clock.now() + timedelta(hours=1)
    await shared.grant(ssh_key_id=shared.bob.key_id, expires_at=ends.isoformat())
    await shared.admitted()
    node = shared.world.node_of(await shared.world.get(shared.id))
    keys = {key.user_id: (key.granted, key.ends_at) for key in node.environments[shared.id].keys.keys}
    assert keys == {shared.world.ada.id: (False, None), shared.bob.id: (True, ends)}


async def test_without_a_key_it_waits_for_the_grantee_and_nobody_else(shared: Shared) -> None:
    grant = (await shared.grant()).json()
    assert (grant["status"], await shared.admitted()) == ("awaiting_key", {shared.world.ada.id})
    refused = await shared.patch(grant["id"], shared.world.ada, ssh_key_id=shared.world.ada.key_id)
    assert refused.status_code == 403
    given = await shared.patch(grant["id"], shared.bob, ssh_key_id=shared.bob.key_id)
    assert (given.json()["status"], await shared.admitted()) == ("active", {shared.world.ada.id, shared.bob.id})


async def test_the_grantee_may_change_the_key(shared: Shared) -> None:
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    other = (await shared.bob.http.post("/api/v1/ssh-keys", json={"title": "desk", "public_key": a_key()})).json()
    changed = (await shared.patch(grant["id"], shared.bob, ssh_key_id=other["id"])).json()
    assert (changed["status"], changed["key_fingerprint"]) == ("active", other["fingerprint"])
    await shared.admitted()
    node = shared.world.node_of(await shared.world.get(shared.id))
    assert other["fingerprint"] in {key.fingerprint for key in node.environments[shared.id].keys.keys}
    assert len(node.environments[shared.id].keys.keys) == 2


@pytest.mark.parametrize("whose", ["the holder", "the grantee"])
async def test_a_revoke_ends_it_and_warns_of_other_doors(shared: Shared, whose: str) -> None:
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    await shared.admitted()
    node = shared.world.node_of(await shared.world.get(shared.id))
    await node.lease(shared.world.clock.now(), 300)
    fingerprint = grant["key_fingerprint"]
    assert node.log_in(shared.id, "gpu", fingerprint) is not None
    who = shared.world.ada if whose == "the holder" else shared.bob
    revoked = await shared.revoke(grant["id"], who)
    assert (revoked.json()["status"], "other ways to access" in revoked.json()["notice"]) == ("revoked", True)
    assert await shared.admitted() == {shared.world.ada.id}
    assert (await node.connections(shared.id), node.log_in(shared.id, "gpu", fingerprint)) == ([], None)
    again = await shared.revoke(grant["id"], who)
    assert (again.status_code, again.json()["status"]) == (200, "revoked")


async def test_a_member_asks_and_the_holder_grants_in_one_step(shared: Shared) -> None:
    asked = await shared.ask(shared.bob, ssh_key_id=shared.bob.key_id, reason="to look at the loss")
    assert (asked.status_code, asked.json()["status"]) == (201, "asked")
    assert await shared.admitted() == {shared.world.ada.id}
    granted = await shared.grant()
    assert (granted.json()["id"], granted.json()["status"]) == (asked.json()["id"], "active")
    assert await shared.admitted() == {shared.world.ada.id, shared.bob.id}


async def test_one_live_grant_per_person_and_machine(shared: Shared) -> None:
    await shared.grant()
    for again in (await shared.grant(), await shared.ask(shared.bob)):
        assert (again.status_code, again.json()["code"]) == (409, "conflict")


async def test_who_may_share_and_with_whom(shared: Shared) -> None:
    world = shared.world
    assert (await shared.grant(by=shared.bob)).status_code == 403
    viewer = await world.sign_up("vic", key=a_key())
    await world.join(viewer, world.ada, project=Role.VIEWER, tenant=Role.VIEWER)
    assert (await shared.ask(viewer)).status_code == 403
    for nobody in (viewer.id, world.operator.id, "user_none"):
        answer = await shared.grant(user_id=nobody)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "user_id")
    admin = await world.sign_up("ann", key=a_key())
    await world.join(admin, world.ada, project=None, tenant=Role.ADMIN)
    themselves = await shared.grant(by=admin, user_id=admin.id, ssh_key_id=admin.key_id)
    assert themselves.json()["status"] == "active"
    assert await shared.admitted() == {world.ada.id, admin.id}


async def test_a_key_of_somebody_else_is_not_taken_for_theirs(shared: Shared) -> None:
    for key in (shared.world.ada.key_id, shared.world.operator.key_id, "key_none"):
        answer = await shared.grant(ssh_key_id=key)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "ssh_key_id")


async def test_a_grant_ends_at_its_time(shared: Shared) -> None:
    ends = shared.world.clock.now() + timedelta(minutes=5)
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id, expires_at=ends.isoformat())).json()
    assert await shared.admitted() == {shared.world.ada.id, shared.bob.id}
    worker = next(one for one in shared.world.services.workers if isinstance(one, GrantsWorker))
    await worker(shared.id)
    assert await shared.admitted() == {shared.world.ada.id, shared.bob.id}
    shared.world.clock.advance(minutes=6)
    for _ in range(3):
        await worker(shared.id)
    assert await shared.admitted() == {shared.world.ada.id}
    shown = (await shared.bob.http.get(f"/api/v1/allocations/{shared.id}/access-grants/{grant['id']}")).json()
    assert (shown["status"], shown["status_reason"]) == ("ended", "the grant expired")


async def test_a_grant_ends_with_its_machine(shared: Shared) -> None:
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    await shared.world.release(shared.id)
    await shared.world.nodes.settle()
    assert (await shared.world.get(shared.id)).status is Status.RELEASED
    shown = (await shared.bob.http.get(f"/api/v1/allocations/{shared.id}/access-grants/{grant['id']}")).json()
    assert shown["status"] == "ended"
    assert (await shared.grant()).status_code == 409


async def test_the_project_lists_every_live_grant(shared: Shared) -> None:
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    place = f"/api/v1/projects/{shared.world.ada.project_id}/access-grants"
    listed = (await shared.bob.http.get(place)).json()["items"]
    assert [(one["id"], one["allocation_id"]) for one in listed] == [(grant["id"], shared.id)]
    await shared.revoke(grant["id"], shared.world.ada)
    assert (await shared.bob.http.get(place)).json()["items"] == []


async def test_timeline_and_audit_say_who_did_what(shared: Shared) -> None:
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    await shared.revoke(grant["id"], shared.bob)
    told = [(entry.phase, entry.actor) for entry in await shared.world.timeline(shared.id)]
    assert told[-2:] == [("access_active", shared.world.ada.id), ("access_revoked", shared.bob.id)]
    audited = "select action, actor, facts ->> 'fingerprint' from audit where target_id = $1 order by id"
    rows = await peek.rows(shared.world.db, audited, grant["id"])
    fingerprint = grant["key_fingerprint"]
    assert [tuple(row) for row in rows] == [
        ("access_grant.active", shared.world.ada.id, fingerprint),
        ("access_grant.revoked", shared.bob.id, fingerprint),
    ]


async def test_removing_a_personal_key_shuts_every_machine_it_opened(shared: Shared) -> None:
    grant = (await shared.grant(ssh_key_id=shared.bob.key_id)).json()
    assert await shared.admitted() == {shared.world.ada.id, shared.bob.id}
    assert (await shared.bob.http.delete(f"/api/v1/ssh-keys/{shared.bob.key_id}")).status_code == 204
    assert await shared.admitted() == {shared.world.ada.id}
    shown = (await shared.bob.http.get(f"/api/v1/allocations/{shared.id}/access-grants/{grant['id']}")).json()
    assert (shown["status"], shown["ssh_key_id"]) == ("awaiting_key", None)


async def test_a_time_that_is_over_is_refused(shared: Shared) -> None:
    past = shared.world.clock.now() - timedelta(minutes=1)
    answer = await shared.grant(expires_at=past.isoformat())
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "expires_at")
