"""Whose a connection is: its network address, or what the trusted proxies say of it."""

import ipaddress

UNKNOWN = "unknown"


def client_network(peer: str, forwarded: str, proxies: int) -> str:
    """The address that asks; of IPv6, its network of 64 bits. `unknown` where nothing that can be trusted says it.

    peer: whom the connection is from. forwarded: all of X-Forwarded-For. proxies: how many trusted ones stand in front,
    each of which adds to that header the address it was asked from; with none the header is the reader's own word.
    """
    if proxies:
        addresses = forwarded.split(",")
        peer = addresses[-proxies].strip() if len(addresses) >= proxies else ""
    try:
        result = ipaddress.ip_address(peer)
    except ValueError:
        return UNKNOWN
    if result.version == 4:
        return str(result)
    # A socket of both kinds writes IPv4 as ::ffff:203.0.113.7, and those would all be of one network.
    return str(result.ipv4_mapped or ipaddress.ip_network((result, 64), strict=False))
