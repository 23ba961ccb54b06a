"""The door under pressure: guessing, crowding, and keys that change between proof and use."""

import asyncio

import asyncssh
import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox.door import ATTEMPT_LIMIT, STRANGER_LIMIT
from gpuaas.wire.environments import KeySet
from tests.engines.benches import Key, SandboxBench, SshWay, eventually, ignore, keys, spec


async def test_guessing_keys_ends_before_the_right_one(root_bench: SandboxBench, allocation_id: str) -> None:
    ada = Key()
    made = await root_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    guesses = [Key().private for _ in range(ATTEMPT_LIMIT + 1)]
    with pytest.raises(asyncssh.DisconnectError):
        await asyncssh.connect(
            "127.0.0.1",
            made.port or 0,
            config=None,
            known_hosts=None,
            client_keys=[*guesses, ada.private],
            username="ada",
            agent_path=None,
        )
    assert await root_bench.log_in(made, ada) is not None


async def test_a_crowd_of_strangers_is_bounded_and_does_not_last(root_bench: SandboxBench, allocation_id: str) -> None:
    ada = Key()
    made = await root_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    strangers = [await asyncio.open_connection("127.0.0.1", made.port) for _ in range(STRANGER_LIMIT + 5)]
    turned_away = 0
    for reader, _ in strangers:
        try:
            async with asyncio.timeout(5):
                turned_away += not await reader.readline()
        except ConnectionResetError:
            turned_away += 1
    assert turned_away == 5
    for _, writer in strangers:
        writer.close()

    async def is_open_again() -> bool:
        return await root_bench.log_in(made, ada) is not None

    await eventually(is_open_again)


async def test_a_key_withdrawn_while_connected_opens_nothing_more(root_bench: SandboxBench, allocation_id: str) -> None:
    ada = Key()
    made = await root_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    way = await root_bench.log_in(made, ada)
    assert isinstance(way, SshWay)
    await root_bench.engine.set_keys(allocation_id, keys(2, Key()))
    with pytest.raises((asyncssh.ChannelOpenError, asyncssh.DisconnectError)):
        await way.connection.run("true")
    assert "no longer admits" in await way.ended()


async def test_a_key_that_cannot_be_read_changes_nothing(root_bench: SandboxBench, allocation_id: str) -> None:
    ada = Key()
    made = await root_bench.engine.ensure(spec(allocation_id, keys(1, ada)), ignore)
    torn = KeySet(generation=2, keys=(msgspec.structs.replace(ada.authorized, blob="not base64!"),))
    with pytest.raises(EngineError, match="cannot be read"):
        await root_bench.engine.set_keys(allocation_id, torn)
    assert await root_bench.log_in(made, ada) is not None


async def test_passwords_are_not_even_offered(root_bench: SandboxBench, allocation_id: str) -> None:
    made = await root_bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    with pytest.raises(asyncssh.PermissionDenied):
        await asyncssh.connect(
            "127.0.0.1",
            made.port or 0,
            config=None,
            known_hosts=None,
            client_keys=[],
            password="guess",
            username="ada",
            agent_path=None,
        )
