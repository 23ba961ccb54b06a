"""What agent and SDK ask of an address before they say anything secret to it over plain http."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Names under `localhost` are not: a resolver may ask the network for them."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
