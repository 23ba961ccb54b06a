"""SEC4, SEC12, CLI2: a member who does not control an allocation cannot mount into it, change it or end it."""

from typing import Any

import pytest

from gpuaas.wire.identity import Role
from tests.storage.volumes import attach, attached, new_volume
from tests.world import Person, World

PLACE = "/api/v1/allocations"
CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "release": ("POST", "/release", {}),
    "restart": ("POST", "/restart", {}),
    "resize": ("POST", "/resize", {"gpu_count": 2}),
    "extend": ("POST", "/extend", {"hours": 1}),
    "apply": ("POST", "/runtime-bundles", {"runtime_bundle_slug": "pytorch"}),
    "clear": ("DELETE", "/runtime-bundles", {}),
    "keys": ("PUT", "/ssh-keys", {"ssh_key_ids": [], "confirm_no_way_in": True}),
    "own keys": ("PUT", "/own-keys", {"allowed": True}),
    "handover": ("POST", "/handover", {"user_id": "user_x", "ssh_key_ids": []}),
    "grant": ("POST", "/access-grants", {"user_id": "user_x"}),
    "terminal": ("POST", "/terminal-token", {}),
}


async def member(world: World) -> Person:
    eve = await world.sign_up("eve")
    await world.join(eve, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    return eve


async def test_a_member_attaches_nothing_to_anothers_allocation(world: World) -> None:
    """The attack: a volume with a file `ls`, mounted over a folder on the holder's PATH."""
    a = await world.allocation()
    eve, volume = await member(world), await new_volume(world)
    body = {"volume_id": volume, "mount_path": "/home/gpu/bin"}
    refused = await eve.http.post(f"{PLACE}/{a}/storage-attachments", json=body)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_permissions")
    assert (await attach(world, a, volume)).status_code == 202


@pytest.mark.parametrize("force", ["true", "false"])
async def test_a_member_detaches_nothing_from_anothers_allocation(world: World, force: str) -> None:
    a = await world.allocation()
    eve, volume = await member(world), await new_volume(world)
    there = await attached(world, a, volume)
    path = f"{PLACE}/{a}/storage-attachments/{there}"
    assert (await eve.http.delete(path, params={"force": force})).status_code == 403
    assert (await world.http.delete(path, params={"force": force})).status_code == 202


async def test_a_member_changes_nothing_of_anothers_allocation(world: World) -> None:
    a = await world.allocation()
    eve = await member(world)
    got = {
        name: (await eve.http.request(method, f"{PLACE}/{a}{path}", json=body)).status_code
        for name, (method, path, body) in CHANGES.items()
    }
    assert got == dict.fromkeys(CHANGES, 403)
    assert (await world.get(a)).status == "active"


async def test_a_member_does_all_this_with_their_own_allocation(world: World) -> None:
    """So that the refusals above are not for another reason."""
    eve = await member(world)
    a = await world.allocation(of=eve, project_id=world.ada.project_id)
    for name in ("extend", "keys", "own keys", "terminal", "restart", "release"):
        method, path, body = CHANGES[name]
        answer = await eve.http.request(method, f"{PLACE}/{a}{path}", json=body)
        assert answer.status_code < 300, (name, answer.text)
        await world.nodes.settle()
