"""Name servers of the node that environments can reach, which excludes resolvers on the loopback interface."""

from ipaddress import AddressValueError, IPv4Address
from pathlib import Path

FILES = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


def lines() -> list[str]:
    """Servers from the first file with a usable one."""
    for path in FILES:
        found = path.read_text().splitlines() if path.exists() else []
        kept = [line for line in found if not line.startswith("nameserver") or _address(line) is not None]
        if any(line.startswith("nameserver") for line in kept):
            return kept
    return []


def resolvers() -> list[IPv4Address]:
    return [address for line in lines() if (address := _address(line)) is not None]


def _address(line: str) -> IPv4Address | None:
    words = line.split()
    if len(words) < 2 or words[0] != "nameserver":  # noqa: PLR2004 (the word and the address)
        return None
    try:
        address = IPv4Address(words[1])
    except AddressValueError:
        return None
    return None if address.is_loopback else address
