"""Root inside against the node, the SSH gateway and a neighbour: every attack ends as it is declared.

The declarations are in `probe`, and docs/reference/attacks.md is made from them. Each protection that an attack names
has a twin here: without the protection the same attack ends otherwise.
"""

import json

import pytest

from gpuaas.engines.node import commands, processes
from gpuaas.wire.environments import EnvironmentState
from tests.attacks.inside.nodes import NEIGHBOUR, AttackedNode
from tests.attacks.inside.probe.base import ATTACKS, DONE
from tests.attacks.inside.probe.network import NETWORK
from tests.attacks.inside.reference import FILE, reference

INITS = ("plain", "systemd")


def surprises(init: str, mode: str, found: dict[str, str]) -> list[str]:
    wanted = {name: ATTACKS[name].outcomes[init].expected(mode) for name in found}
    return [f"{name}: {found[name]}, expected {wanted[name]}" for name in found if found[name] not in wanted[name]]


async def boots(node: AttackedNode) -> dict[str, tuple[int, EnvironmentState, int]]:
    seen = await node.bench.engine.observe()
    return {one.allocation_id: (one.boot, one.state, node.bench.first_process(one.allocation_id)) for one in seen}


@pytest.mark.parametrize("init", INITS)
async def test_every_attack_ends_as_declared(node: AttackedNode, init: str) -> None:
    before, gateway = await boots(node), processes.with_argument(str(node.bench.root))
    node.arrived.clear()
    found = await node.probe(init, "session")
    assert set(found) == set(ATTACKS)
    assert surprises(init, "session", found) == []
    await node.probe(init, "session", "send_own")  # the last one
    await node.arrival(f"own {init}")
    assert set(node.arrived) == {f"own {init}"}, "a packet with another sender's address left the node"
    assert [one["dst"] for one in await neighbours(node, init)] == [node.addresses[init]]
    assert await boots(node) == before
    assert processes.with_argument(str(node.bench.root)) == gateway
    assert await node.environments[NEIGHBOUR].says("echo alive") == "alive"


async def test_a_service_of_systemd_can_do_no_more_than_a_session(node: AttackedNode) -> None:
    """Its filter and rights come from pid 1, which the runtime started, and not from the SSH gateway."""
    chosen = [one.name for one in ATTACKS.values() if one.group != NETWORK]
    assert surprises("systemd", "unit", await node.probe("systemd", "unit", *chosen)) == []


async def neighbours(node: AttackedNode, name: str) -> list[dict[str, object]]:
    """Whom the node knows at the other end of an environment's link."""
    told = await commands.run("ip", "-4", "-json", "neigh", "show", "dev", (await node.interface(name))["ifname"])
    found: list[dict[str, object]] = json.loads(told)
    return found


@pytest.mark.parametrize("init", INITS)
async def test_without_the_filter_and_the_capability_set_attacks_end_otherwise(node: AttackedNode, init: str) -> None:
    """The twin of seccomp and of the capabilities, and the proof of what else holds where they are named together."""
    for mode in ("bare", "full"):
        assert surprises(init, mode, await node.probe(init, mode)) == [], mode
    filtered = [one for one in ATTACKS.values() if one.outcomes["plain"].by.startswith("seccomp")]
    succeed = [one.name for one in filtered if one.outcomes["plain"].expected("bare") == {DONE}]
    assert {"make_user_namespace", "add_key", "personality"} <= set(succeed)


async def test_without_the_network_rules_packets_arrive(node: AttackedNode) -> None:
    reached = ("connect_neighbour", "connect_node", "connect_node_elsewhere", "ipv6")
    async with node.without_rules():
        node.arrived.clear()
        assert await node.probe("plain", "session", *reached) == dict.fromkeys(reached, DONE)
        await node.probe("plain", "session", "spoof_neighbour", "spoof_node", "send_own")
        await node.arrival("own plain")
        assert {"neighbour", "own plain", "stranger 203.0.113.9"} <= set(node.arrived)
    assert surprises("plain", "session", await node.probe("plain", "session", *reached)) == []


async def test_without_the_read_only_mounts_platform_files_are_written(node: AttackedNode) -> None:
    attempts = ("write_descriptor", "write_fact", "remove_fact")
    async with node.writable_facts("plain"):
        assert await node.probe("plain", "session", *attempts) == dict.fromkeys(attempts, DONE)
    assert surprises("plain", "session", await node.probe("plain", "session", *attempts)) == []


def test_the_reference_is_current() -> None:
    assert FILE.read_text() == reference(), "run: python -m tests.attacks.inside.reference"
