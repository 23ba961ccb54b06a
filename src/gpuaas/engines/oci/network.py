"""The network of an environment: a pair of interfaces, and address translation for outgoing traffic.

The runtime creates the network namespace; the engine moves one end of the pair into it. No incoming connections are
accepted: not from other environments, services of the node, or the outside network. Outgoing traffic to private
networks, which belong to the operator, is rejected unless the node allows them.
"""

# ruff: noqa: ASYNC240 (single reads of /proc and /sys, which do not block)

import json
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from gpuaas.engines.node import commands, flows
from gpuaas.engines.node.addresses import LIMIT
from gpuaas.engines.node.resolvers import resolvers

INTERFACES = Path("/sys/class/net")
NEW_CONNECTIONS = 200  # per environment and second, with a burst of the same size
OPEN_CONNECTIONS = 8_192  # per environment, including idle ones: the connection table of the node is shared
PRIVATE = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"),
)

RULES = """
table inet gpuaas_{tag} {{}}
delete table inet gpuaas_{tag}
table inet gpuaas_{tag} {{
    set new_connections {{ type ipv4_addr; size 4096; flags dynamic; timeout 1m; }}
    set flows {{ type ipv4_addr; size 4096; flags dynamic; }}
    set senders {{ type ifname . ipv4_addr; elements = {{ {senders} }} }}
    chain input {{
        type filter hook input priority filter - 10; policy accept;
        iifname "{prefix}*" ct state established,related accept
        iifname "{prefix}*" reject with icmpx admin-prohibited
    }}
    chain forward {{
        type filter hook forward priority filter - 10; policy accept;
        oifname "{prefix}*" ct state established,related accept
        oifname "{prefix}*" reject with icmpx admin-prohibited
        iifname != "{prefix}*" accept
        meta nfproto ipv6 reject with icmpx admin-prohibited
        iifname . ip saddr != @senders drop
        ct state established,related accept
        ct state new add @new_connections {{ ip saddr limit rate over {rate}/second burst {rate} packets }} \
            reject with icmpx admin-prohibited
        ct state new add @flows {{ ip saddr ct count over {flows} }} reject with icmpx admin-prohibited
        {allowed}
        ip daddr {{ {private} }} reject with icmpx admin-prohibited
    }}
    chain postrouting {{
        type nat hook postrouting priority srcnat;
        ip saddr {block} oifname != "{prefix}*" masquerade
    }}
}}
"""


class Networks:
    """The interfaces of one engine, by index; `tag` keeps two engines on a node apart."""

    def __init__(self, tag: str, block: IPv4Network, allowed: tuple[IPv4Network, ...] = ()) -> None:
        self._tag, self._block, self._allowed = tag, block, allowed
        self._prefix = f"g{tag}-"

    def address(self, index: int) -> IPv4Address:
        return self._block.network_address + 4 * index + 2

    def _gateway(self, index: int) -> IPv4Address:
        return self._block.network_address + 4 * index + 1

    def _interface(self, index: int) -> str:
        return f"{self._prefix}{index}"

    async def open(self, keep: set[int]) -> None:
        """Load the rules; keep interfaces of running environments, delete those of others."""
        await commands.run("nft", "-f", "-", text=self.rules())
        routes = json.loads(await commands.run("ip", "-4", "-json", "route", "show", "default"))
        for device in {route["dev"] for route in routes}:
            Path(f"/proc/sys/net/ipv4/conf/{device}/forwarding").write_text("1")
        for index in {int(path.name.rsplit("-", 1)[1]) for path in INTERFACES.glob(f"{self._prefix}*")} - keep:
            await self.remove(index)

    def rules(self) -> str:
        dns = [f"ip daddr {address} meta l4proto {{ tcp, udp }} th dport 53 accept" for address in resolvers()]
        allowed = [f"ip daddr {network} accept" for network in self._allowed]
        return RULES.format(
            tag=self._tag,
            prefix=self._prefix,
            block=self._block,
            senders=", ".join(f'"{self._interface(index)}" . {self.address(index)}' for index in range(LIMIT)),
            rate=NEW_CONNECTIONS,
            flows=OPEN_CONNECTIONS,
            allowed="\n        ".join(dns + allowed),
            private=", ".join(PRIVATE),
        )

    async def attach(self, index: int, pid: int) -> None:
        """Move one end into the network namespace of a created container before it starts."""
        interface = self._interface(index)
        await self.remove(index)
        await commands.run(
            *("ip", "-batch", "-"),
            text=f"link add {interface} type veth peer name eth0 netns {pid}\n"
            f"addr add {self._gateway(index)}/30 dev {interface}\n"
            f"link set {interface} up\n",
        )
        Path(f"/proc/sys/net/ipv4/conf/{interface}/forwarding").write_text("1")
        await commands.run(
            *("nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-batch", "-"),
            text="link set lo up\n"
            f"addr add {self.address(index)}/30 dev eth0\n"
            "link set eth0 up\n"
            f"route add default via {self._gateway(index)}\n",
        )

    async def remove(self, index: int) -> None:
        if (INTERFACES / self._interface(index)).exists():
            await commands.attempt("ip", "link", "del", self._interface(index))
        flows.end(str(self.address(index)))

    def residue(self, index: int) -> list[str]:
        """Find leftovers of one network."""
        interface = self._interface(index)
        return [f"interface {interface}"] if (INTERFACES / interface).exists() else []

    async def close(self, *, remove: bool) -> None:
        if remove:
            for path in INTERFACES.glob(f"{self._prefix}*"):
                await self.remove(int(path.name.rsplit("-", 1)[1]))
            await commands.attempt("nft", "delete", "table", "inet", f"gpuaas_{self._tag}")
