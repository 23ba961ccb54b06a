"""A node changes its key: with an operator's token and both keys, once; the old key opens nothing any more."""

import base64
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpuaas.agent import identity
from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.link import rotation_proof
from tests.isolation.machines import Machine, enrol
from tests.links.wires import dial, linked
from tests.live import agent, eventually, serving
from tests.world import World, database


async def token_of(world: World, node_id: str) -> str:
    issued = await world.operator.http.post(f"/api/v1/admin/nodes/{node_id}/rotate-key", json={"reason": "copied"})
    return str(issued.raise_for_status().json()["token"])


def encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


async def ask(
    world: World, token: str, new: Ed25519PrivateKey, *, old: Ed25519PrivateKey, by: Ed25519PrivateKey
) -> int:
    public = new.public_key().public_bytes_raw()
    signed = rotation_proof(token, public)
    body = {
        "token": token,
        "public_key": encoded(public),
        "old_proof": encoded(old.sign(signed)),
        "new_proof": encoded(by.sign(signed)),
    }
    return int((await world.stranger.post("/internal/v1/nodes/rotate-key", json=body)).status_code)


async def test_both_keys_have_to_sign_and_the_old_one_is_refused_afterwards(world: World) -> None:
    machine, new = await enrol(world, "changing"), Ed25519PrivateKey.generate()
    wire = await linked(world, machine)
    token, stranger = await token_of(world, machine.id), Ed25519PrivateKey.generate()
    assert await ask(world, "gpr_unknown", new, old=machine.key, by=new) == 403
    assert await ask(world, token, new, old=stranger, by=new) == 403
    assert await ask(world, token, new, old=machine.key, by=stranger) == 403
    assert wire.closed is None
    assert await ask(world, token, new, old=machine.key, by=new) == 200
    await wire.ended()
    assert await ask(world, token, new, old=machine.key, by=new) == 200, "the answer may have been lost"
    assert await ask(world, token, stranger, old=new, by=stranger) == 403, "a token changes one key"
    refused = await dial(world, machine)
    await refused.ended()
    assert refused.closed == (4401, "refused")
    renewed = await linked(world, Machine(world, machine.id, new, machine.facts))
    await renewed.hang_up()
    actions = await world.value("select array_agg(action order by at) from audit where target_id = $1", machine.id)
    assert [one for one in actions if "key" in one] == ["node.key_rotation_token", "node.key_rotated"]


async def test_a_running_agent_goes_on_with_the_new_key_and_a_stolen_copy_is_out(tmp_path: Path) -> None:
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        folder = tmp_path / "node"
        async with agent(world, url, folder, FakeEngine(clock=SystemClock().now, gpus=1)) as node_id:
            shutil.copytree(folder, tmp_path / "stolen", ignore=shutil.ignore_patterns("journal*"))
            epoch = "select coalesce(max(epoch), 0) from links where node_id = $1"
            before = await world.value(epoch, node_id)
            await identity.rotate_key(folder, await token_of(world, node_id))

            async def is_linked_again() -> bool:
                return bool(await world.value(epoch, node_id) > before)

            await eventually(is_linked_again)
            with pytest.raises(identity.IdentityError, match="refused the change of the key"):
                await identity.rotate_key(tmp_path / "stolen", await token_of(world, node_id))
