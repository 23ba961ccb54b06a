"""A network of its own per environment: a namespace, a pair of interfaces, and address translation on the way out.

Nothing comes in: not from a neighbour, not from the machine's own services, not from the network around it. A
namespace is used once; fresh ones are prepared ahead, because making one costs as much as all the rest of a boot.
"""

# ruff: noqa: ASYNC240 (single looks at /proc, /sys and /run, which answer from memory)

import asyncio
import json
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox import commands, flows

SHARED_SPACE = IPv4Network("100.64.0.0/10")  # set aside for translation inside a provider; nobody's own network
BLOCK_PREFIX = 21
LIMIT = 512  # networks of four addresses in a block
NAMESPACES = Path("/run/netns")
INTERFACES = Path("/sys/class/net")

RULES = """
table inet gpuaas_{tag} {{}}
delete table inet gpuaas_{tag}
table inet gpuaas_{tag} {{
    chain input {{
        type filter hook input priority filter - 10; policy accept;
        iifname "{prefix}*" ct state established,related accept
        iifname "{prefix}*" drop
    }}
    chain forward {{
        type filter hook forward priority filter - 10; policy accept;
        oifname "{prefix}*" ct state established,related accept
        oifname "{prefix}*" drop
        iifname "{prefix}*" meta nfproto ipv6 drop
        iifname "{prefix}*" ip saddr != {block} drop
        iifname "{prefix}*" ip daddr 169.254.0.0/16 drop comment "metadata services of clouds"
    }}
    chain postrouting {{
        type nat hook postrouting priority srcnat;
        ip saddr {block} oifname != "{prefix}*" masquerade
    }}
}}
"""


async def choose_block(seed: int) -> IPv4Network:
    """A block of addresses that no route of this machine uses."""
    routes = json.loads(await commands.run("ip", "-4", "-json", "route", "show", "table", "all"))
    taken = [IPv4Network(route["dst"]) for route in routes if route.get("dst", "default") != "default"]
    count = 2 ** (BLOCK_PREFIX - SHARED_SPACE.prefixlen)
    for offset in range(count):
        start = int(SHARED_SPACE.network_address) + ((seed + offset) % count) * 2 ** (32 - BLOCK_PREFIX)
        block = IPv4Network((start, BLOCK_PREFIX))
        if not any(block.overlaps(network) for network in taken):
            return block
    raise EngineError("the node has no addresses left", f"all of {SHARED_SPACE} is routed here")


class Networks:
    """The namespaces of one engine, by index; `tag` keeps two engines on a machine apart."""

    def __init__(self, tag: str, block: IPv4Network) -> None:
        self._tag, self._block = tag, block
        self._prefix = f"g{tag}-"
        self._ready: set[int] = set()
        self._making: dict[int, asyncio.Task[None]] = {}

    def path(self, index: int) -> Path:
        return NAMESPACES / self._name(index)

    def address(self, index: int) -> IPv4Address:
        return self._block.network_address + 4 * index + 2

    def is_ready(self, index: int) -> bool:
        return index in self._ready

    def _name(self, index: int) -> str:
        return f"gpuaas-{self._tag}-{index}"

    def _interface(self, index: int) -> str:
        return f"{self._prefix}{index}"

    async def open(self, keep: set[int]) -> None:
        """Rules in force; namespaces of living environments kept, everything else of an earlier run gone."""
        await commands.run("nft", "-f", "-", text=RULES.format(tag=self._tag, prefix=self._prefix, block=self._block))
        routes = json.loads(await commands.run("ip", "-4", "-json", "route", "show", "default"))
        for device in {route["dev"] for route in routes}:
            Path(f"/proc/sys/net/ipv4/conf/{device}/forwarding").write_text("1")
        found = {int(path.name.rsplit("-", 1)[1]) for path in NAMESPACES.glob(f"gpuaas-{self._tag}-*")}
        found |= {int(path.name.rsplit("-", 1)[1]) for path in INTERFACES.glob(f"{self._prefix}*")}
        await self._delete(found - keep)
        self._ready = {index for index in keep & found if (INTERFACES / self._interface(index)).exists()}

    async def ensure(self, index: int) -> None:
        """Ready for use; several callers share one making."""
        while index not in self._ready:
            task = self._making.get(index)
            if task is None:
                task = self._making[index] = asyncio.create_task(self._make(index))
            await asyncio.shield(task)

    async def _make(self, index: int) -> None:
        try:
            await self._delete({index})
            name, interface = self._name(index), self._interface(index)
            gateway = self._block.network_address + 4 * index + 1
            await commands.run(
                "ip",
                "-batch",
                "-",
                text=f"netns add {name}\n"
                f"link add {interface} type veth peer name eth0 netns {name}\n"
                f"addr add {gateway}/30 dev {interface}\n"
                f"link set {interface} up\n",
            )
            Path(f"/proc/sys/net/ipv4/conf/{interface}/forwarding").write_text("1")
            await commands.run(
                "ip",
                "-n",
                name,
                "-batch",
                "-",
                text="link set lo up\n"
                f"addr add {self.address(index)}/30 dev eth0\n"
                "link set eth0 up\n"
                f"route add default via {gateway}\n",
            )
            self._ready.add(index)
        finally:
            del self._making[index]

    async def remove(self, index: int) -> None:
        task = self._making.get(index)
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)
        await self._delete({index})
        flows.end(str(self.address(index)))

    async def _delete(self, indexes: set[int]) -> None:
        self._ready -= indexes
        lines = []
        for index in sorted(indexes):
            if (INTERFACES / self._interface(index)).exists():
                lines.append(f"link del {self._interface(index)}")
            if self.path(index).exists():
                lines.append(f"netns del {self._name(index)}")
        if lines:
            await commands.run("ip", "-force", "-batch", "-", text="\n".join(lines) + "\n")

    def residue(self, index: int) -> list[str]:
        """What is still there of one network, looked up now."""
        found = []
        if self.path(index).exists():
            found.append(f"namespace {self._name(index)}")
        if (INTERFACES / self._interface(index)).exists():
            found.append(f"interface {self._interface(index)}")
        return found

    async def close(self, *, remove: bool) -> None:
        for task in list(self._making.values()):
            await asyncio.gather(task, return_exceptions=True)
        if remove:
            found = {int(path.name.rsplit("-", 1)[1]) for path in NAMESPACES.glob(f"gpuaas-{self._tag}-*")}
            await self._delete(found | self._ready)
            await commands.attempt("nft", "delete", "table", "inet", f"gpuaas_{self._tag}")
