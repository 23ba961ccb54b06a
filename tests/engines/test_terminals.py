"""What every engine promises of its terminals."""

import asyncio

import pytest

from gpuaas.engines.base import EngineError
from tests.engines.benches import Bench, Key, ignore, keys, spec


async def test_a_terminal_is_a_shell_of_the_readers_size_that_tells_its_code(bench: Bench, allocation_id: str) -> None:
    await bench.engine.ensure(spec(allocation_id, keys(1, Key())), ignore)
    shown, code, reason = await bench.converse(allocation_id, 1, "stty size\nexit 7\n")
    assert "40 132" in shown
    assert (code, reason) == (7, "")


async def test_a_terminal_of_another_boot_or_of_no_machine_is_refused(bench: Bench, allocation_id: str) -> None:
    with pytest.raises(EngineError) as refusal:
        await bench.converse(allocation_id, 1, "exit 0\n")
    assert refusal.value.reason == "the environment is not running, or has restarted"
    await bench.engine.ensure(spec(allocation_id, keys(1, Key()), boot=2), ignore)
    with pytest.raises(EngineError):
        await bench.converse(allocation_id, 1, "exit 0\n")


async def test_a_restart_and_a_removal_end_terminals_and_say_so(bench: Bench, allocation_id: str) -> None:
    wanted = spec(allocation_id, keys(1, Key()))
    await bench.engine.ensure(wanted, ignore)
    talking = asyncio.ensure_future(bench.converse(allocation_id, 1, "echo wait\n"))
    await asyncio.wait({talking}, timeout=0.3)
    await bench.engine.ensure(spec(allocation_id, keys(1, Key()), boot=2), ignore)
    assert (await talking)[1:] == (None, "the environment restarts")
    talking = asyncio.ensure_future(bench.converse(allocation_id, 2, "echo wait\n"))
    await asyncio.wait({talking}, timeout=0.3)
    await bench.engine.remove(allocation_id, ignore)
    assert (await talking)[1:] == (None, "the allocation was released")
