"""Address checks of agent and SDK before they send a secret over plain http."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Names under `localhost` do not count, because a resolver may ask the network for them."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
