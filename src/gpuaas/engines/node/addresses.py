"""Address blocks for networks of environments: one per engine, from a range without routes."""

import json
from ipaddress import IPv4Network

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands

SHARED_SPACE = IPv4Network("100.64.0.0/10")  # for address translation of providers; no private network uses it
BLOCK_PREFIX = 21
LIMIT = 512  # networks of four addresses in a block


async def choose_block(seed: int) -> IPv4Network:
    """A block of addresses without a route on this computer."""
    routes = json.loads(await commands.run("ip", "-4", "-json", "route", "show", "table", "all"))
    taken = [IPv4Network(route["dst"]) for route in routes if route.get("dst", "default") != "default"]
    count = 2 ** (BLOCK_PREFIX - SHARED_SPACE.prefixlen)
    for offset in range(count):
        start = int(SHARED_SPACE.network_address) + ((seed + offset) % count) * 2 ** (32 - BLOCK_PREFIX)
        block = IPv4Network((start, BLOCK_PREFIX))
        if not any(block.overlaps(network) for network in taken):
            return block
    raise EngineError("the node has no addresses left", f"all of {SHARED_SPACE} is routed here")
