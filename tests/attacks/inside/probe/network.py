"""What packets reach: neighbours, the node, its metadata service, and with whose address."""

import contextlib
import os
import socket
import struct
import subprocess
from pathlib import Path

from tests.attacks.inside.probe.base import DONE, FACTS, NOTHING, Blocked, Nothing, attack

NETWORK = "Network"
NFT = "nft: rejected"
REJECTED = Blocked("EHOSTUNREACH", NFT)
SECONDS = 3.0


def connect(address: str, port: int) -> None:
    socket.create_connection((address, port), timeout=SECONDS).close()


@attack(NETWORK, "connect to a service of a neighbour", REJECTED)
def connect_neighbour() -> None:
    connect(FACTS["neighbour"], FACTS["port"])


@attack(NETWORK, "connect to a service of the node at its end of the link", REJECTED)
def connect_node() -> None:
    connect(FACTS["gateway"], FACTS["node_port"])


@attack(NETWORK, "connect to a service of the node at another address of it", REJECTED)
def connect_node_elsewhere() -> None:
    connect(FACTS["node"], FACTS["node_port"])


@attack(NETWORK, "connect to the SSH gateway of a neighbour from inside", REJECTED)
def connect_neighbour_ssh() -> None:
    connect(FACTS["gateway"], FACTS["neighbour_ssh"])


@attack(NETWORK, "connect to the metadata service of a cloud", REJECTED)
def metadata() -> None:
    connect("169.254.169.254", 80)


@attack(NETWORK, "connect to private networks", REJECTED)
def private_networks() -> None:
    for address in ("10.0.0.1", "192.168.0.1"):
        try:
            connect(address, 80)
        except OSError as error:
            if error.errno not in (113, 101):
                raise
            continue
        return
    raise OSError(113, "all rejected")


@attack(NETWORK, "the node's services over loopback", Blocked("ECONNREFUSED", "network namespace: its own loopback"))
def loopback() -> None:
    connect("127.0.0.1", FACTS["node_port"])


@attack(
    NETWORK,
    "IPv6 to the node's link-local address",
    Blocked("ETIMEDOUT|EACCES|EHOSTUNREACH", "nft: rejected, neighbour discovery too"),
)
def ipv6() -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as link:
        link.settimeout(1.0)
        link.connect((FACTS["node_ipv6"] or "fe80::1", FACTS["node_port"], 0, socket.if_nametoindex("eth0")))


@attack(NETWORK, "abstract unix sockets of a neighbour", Blocked("ECONNREFUSED", "network namespace"))
def abstract_socket() -> None:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(f"\0{FACTS['abstract']}")


@attack(NETWORK, "abstract unix sockets of the node", Blocked("ECONNREFUSED", "network namespace"))
def abstract_socket_of_node() -> None:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(f"\0{FACTS['abstract']}-node")


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return int(~(total + (total >> 16)) & 0xFFFF)


def packet(sender: str, target: str, payload: bytes, port: int) -> bytes:
    """UDP over IPv4."""
    body = struct.pack("!HHHH", 4000, port, 8 + len(payload), 0) + payload
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, 0, 64, 17, 0, socket.inet_aton(sender), socket.inet_aton(target)
    )
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def send_raw(sender: str, target: str, payload: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as link:
        link.sendto(packet(sender, target, payload.encode(), FACTS["beyond_port"]), (target, 0))


@attack(
    NETWORK,
    "send with a neighbour's address; the test listens beyond the node",
    Blocked(DONE, "nft: dropped (a socket may send anything; nothing arrives)"),
)
def spoof_neighbour() -> None:
    send_raw(FACTS["neighbour"], FACTS["beyond"], "neighbour")


@attack(
    NETWORK,
    "send with an address of the node or of strangers; the test listens beyond the node",
    Blocked(DONE, "nft: dropped (a socket may send anything; nothing arrives)"),
)
def spoof_node() -> None:
    for sender in (FACTS["node"], FACTS["gateway"], "203.0.113.9", "127.0.0.1"):
        send_raw(sender, FACTS["beyond"], f"stranger {sender}")


@attack(
    NETWORK,
    "the twin of both: send with its own address",
    Blocked(DONE, "permitted: it must arrive"),
)
def send_own() -> None:
    send_raw(FACTS["address"], FACTS["beyond"], f"own {FACTS['name']}")


@attack(
    NETWORK,
    "claim a neighbour's address by ARP; the test looks at the node's table",
    Blocked(DONE, "own link: the node asks nobody but the neighbour's own link for that address"),
)
def spoof_arp() -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind(("eth0", 0x0806))
        mac = link.getsockname()[4]
        claim = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 2) + mac + socket.inet_aton(FACTS["neighbour"])
        link.send(b"\xff" * 6 + mac + b"\x08\x06" + claim + b"\xff" * 6 + socket.inet_aton(FACTS["gateway"]))


@attack(
    NETWORK,
    "take the address of a neighbour",
    Blocked("EPERM", "capability: NET_ADMIN", full=DONE),
    Blocked(DONE, "permitted: own network namespace; packets with it are dropped (nft)"),
)
def take_address() -> None:
    if ip("addr", "add", f"{FACTS['neighbour']}/32", "dev", "eth0"):
        raise PermissionError(1, "ip")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.bind((FACTS["neighbour"], 4000))
            link.sendto(b"neighbour", (FACTS["beyond"], FACTS["beyond_port"]))
    finally:
        ip("addr", "del", f"{FACTS['neighbour']}/32", "dev", "eth0")


@attack(
    NETWORK,
    "rules of its own that would let everything out",
    Blocked("EPERM", "capability: NET_ADMIN", full=DONE),
    Blocked(DONE, "permitted: own network namespace; the node's rules are outside"),
)
def own_rules() -> None:
    if ip("rule", "add", "pref", "7", "table", "main"):
        raise PermissionError(1, "ip")
    ip("rule", "del", "pref", "7")


def ip(*words: str) -> int:
    return subprocess.run(["/usr/sbin/ip", *words], check=False, capture_output=True).returncode


@attack(
    NETWORK, "see packets of neighbours (AF_PACKET)", Blocked(NOTHING, "network namespace: only its own link is there")
)
def sniff() -> None:
    names = {path.name for path in Path("/sys/class/net").iterdir()}
    kernel_made = {"sit0", "tunl0", "gre0", "gretap0", "erspan0", "ip6tnl0", "ip6gre0", "ip_vti0", "ip6_vti0"}
    if not names - kernel_made - {"lo", "eth0"}:
        raise Nothing


@attack(NETWORK, "bind an address of the node", Blocked("EADDRNOTAVAIL", "network namespace"))
def bind_node() -> None:
    with socket.socket() as link:
        link.bind((FACTS["node"], FACTS["node_port"]))


@attack(
    NETWORK,
    "a second sshd on the environment's SSH port",
    Blocked(DONE, "permitted: own network namespace; SSH arrives outside"),
)
def second_sshd() -> None:
    with socket.socket() as link, contextlib.suppress(FileNotFoundError):
        link.bind(("0.0.0.0", FACTS["ssh_port"]))  # noqa: S104 (of the environment)
        link.listen()
        os.stat("/")  # noqa: PTH116
