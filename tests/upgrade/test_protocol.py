"""An old agent works with a new server, and the reverse, or is refused with a message that names both versions."""

import os
import time
from pathlib import Path

import pytest

from gpuaas.agent import identity
from gpuaas.agent.link import Link, LinkRefusedError
from gpuaas.agent.outgoing import Outgoing
from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.link import Hello
from gpuaas.wire.protocol import SUPPORTED, ProtocolMismatch, ProtocolRange, agree
from tests import live
from tests.live import serving
from tests.upgrade import people
from tests.upgrade.landings import Landing
from tests.world import World

LATER = ProtocolRange(oldest=SUPPORTED.newest, newest=SUPPORTED.newest + 1)
BEYOND = ProtocolRange(oldest=SUPPORTED.newest + 1, newest=SUPPORTED.newest + 1)
OLD = ProtocolRange()


@pytest.mark.parametrize(
    ("agent", "server", "version"),
    [(OLD, SUPPORTED, 1), (SUPPORTED, OLD, 1), (SUPPORTED, SUPPORTED, SUPPORTED.newest), (LATER, SUPPORTED, 2)],
)
def test_the_newest_version_of_both_is_used(agent: ProtocolRange, server: ProtocolRange, version: int) -> None:
    assert agree(agent=agent, server=server) == version


@pytest.mark.parametrize(
    ("agent", "server", "message"),
    [
        (OLD, BEYOND, f"supports version 1 of the link protocol, and the server version {BEYOND}. Upgrade the agent."),
        (BEYOND, OLD, f"supports version {BEYOND} of the link protocol, and the server version 1. Upgrade the server."),
        (OLD, LATER, "the server version 2 to 3. Upgrade the agent."),
    ],
)
def test_ends_without_a_common_version_are_told_which_to_upgrade(
    agent: ProtocolRange, server: ProtocolRange, message: str
) -> None:
    with pytest.raises(ProtocolMismatch) as refused:
        agree(agent=agent, server=server)
    assert message in str(refused.value)


async def test_an_old_agent_works_with_a_new_server(previous: Landing, migrated: str, tmp_path: Path) -> None:
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        node, log = tmp_path / "old-node", tmp_path / "agent.log"
        node_id = await people.enrol(url, world.operator.token, node)
        async with previous.agent(node, log), people.client(url, world.ada.token) as http:
            id = await people.create(http, world.ada)
            assert protocol_of(world, node_id) == 1
            await people.restart(http, id)
            await people.release(http, id)


async def test_a_new_agent_works_with_an_old_server(previous: Landing, world: World, tmp_path: Path) -> None:
    async with previous.server(world.dsn, tmp_path, tmp_path / "server.log") as url:
        node = tmp_path / "new-node"
        await people.enrol(url, world.operator.token, node)
        async with people.new_agent(node), people.client(url, world.ada.token) as http:
            id = await people.create(http, world.ada)
            await people.restart(http, id)
            await people.release(http, id)


async def test_an_agent_that_is_too_old_is_told_both_versions(previous: Landing, migrated: str, tmp_path: Path) -> None:
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        node, log = tmp_path / "old-node", tmp_path / "agent.log"
        node_id = await people.enrol(url, world.operator.token, node)
        world.links._handshakes.supported = BEYOND
        async with previous.agent(node, log):
            await people.until(lambda: said(log, "link.refused"))
        assert f"version 1 of the link protocol, and the server version {BEYOND}. Upgrade the agent." in log.read_text()
        assert node_id not in world.links.node_ids()


async def test_a_server_that_is_too_old_is_not_told_who_dials(previous: Landing, world: World, tmp_path: Path) -> None:
    """An older server cannot say why, so the agent compares the versions and logs both."""

    def introduce(nonce: bytes) -> Hello:
        raise AssertionError(f"a proof was made for a server that is too old: {nonce!r}")

    async with previous.server(world.dsn, tmp_path, tmp_path / "server.log") as url:
        await people.enrol(url, world.operator.token, tmp_path / "node")
        link = Link(
            identity=identity.load(tmp_path / "node"),
            introduce=introduce,
            outgoing=Outgoing(),
            monotonic=time.monotonic,
            randomness=os.urandom,
            supported=BEYOND,
        )
        with pytest.raises(LinkRefusedError, match=f"version {BEYOND} of the link protocol, and the server version 1"):
            await link._once(None)  # type: ignore[arg-type] # nothing comes down


async def test_two_new_ends_use_the_newest_version(migrated: str, tmp_path: Path) -> None:
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with live.agent(world, url, tmp_path / "node", FakeEngine(clock=SystemClock().now)) as node_id:
            assert protocol_of(world, node_id) == SUPPORTED.newest


def protocol_of(world: World, node_id: str) -> int:
    return world.links._links[node_id].protocol


async def said(log: Path, word: str) -> bool:
    return log.exists() and word in log.read_text()
