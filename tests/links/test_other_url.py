"""An agent that dials another URL than the server's is told so; nobody else learns anything."""

import dataclasses

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpuaas.wire.link import Refused
from tests.isolation.machines import ORIGIN, Machine, enrol
from tests.links.wires import Wire, dial
from tests.world import World

OTHER = "http://gpuaas.internal:8080"


async def dialled(world: World, machine: Machine) -> Wire:
    wire = await dial(world, machine, origin=OTHER)
    await wire.ended()
    return wire


async def test_the_refusal_names_both_urls_and_what_to_set(world: World) -> None:
    wire = await dialled(world, await enrol(world, "astray"))
    reason = (await wire.heard(Refused)).reason
    assert all(words in reason for words in (OTHER, ORIGIN, "GPUAAS_URL", "gpuaas agent move"))
    assert wire.closed == (4401, "refused")


async def test_whoever_has_not_the_nodes_key_learns_nothing(world: World) -> None:
    machine = dataclasses.replace(await enrol(world, "astray"), key=Ed25519PrivateKey.generate())
    wire = await dialled(world, machine)
    assert wire.closed == (4401, "refused")
    assert wire.is_drained
