"""Lists connections tracked by the kernel, and ends them through netlink.

A killed process does not close its connections, and the kernel would keep the flow for days.
"""

import errno
import os
import socket
import struct
from ipaddress import IPv4Address
from pathlib import Path

TABLE = Path("/proc/net/nf_conntrack")
PROTOCOLS = ("tcp", "udp")
NETLINK_NETFILTER = 12
DELETE = 1 << 8 | 2  # of the connection tracking subsystem
REQUEST, ACKNOWLEDGE = 1, 4
NESTED = 1 << 15
ORIGINAL, OF_ADDRESSES, OF_PORTS = 1 | NESTED, 1 | NESTED, 2 | NESTED


def of(address: str) -> list[str]:
    """The kernel's lines of all flows of an address."""
    try:
        lines = TABLE.read_text().splitlines()
    except FileNotFoundError:
        return []
    return [line for line in lines if f"src={address} " in line]


def end(address: str) -> None:
    """Delete every flow of an address."""
    for line in of(address):
        words = line.split()
        if words[2] in PROTOCOLS:
            _delete(int(words[3]), line)


def _delete(protocol: int, line: str) -> None:
    first: dict[str, str] = {}  # a line has the outgoing, then the reply direction with the same keys
    for name, _, value in (word.partition("=") for word in line.split()):
        first.setdefault(name, value)
    source, target = IPv4Address(first["src"]).packed, IPv4Address(first["dst"]).packed
    ports = _attribute(2, struct.pack("!H", int(first["sport"]))) + _attribute(
        3, struct.pack("!H", int(first["dport"]))
    )
    flow = _attribute(OF_ADDRESSES, _attribute(1, source) + _attribute(2, target))
    flow += _attribute(OF_PORTS, _attribute(1, bytes([protocol])) + ports)
    body = struct.pack("=BBH", socket.AF_INET, 0, 0) + _attribute(ORIGINAL, flow)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as kernel:
        kernel.send(struct.pack("=IHHII", 16 + len(body), DELETE, REQUEST | ACKNOWLEDGE, 1, 0) + body)
        (refusal,) = struct.unpack_from("=i", kernel.recv(4096), 16)
    if refusal and -refusal != errno.ENOENT:  # it may have ended meanwhile
        raise OSError(-refusal, os.strerror(-refusal), "ending a flow")


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
