"""The network address of a connection, as the trusted proxies report it."""

import ipaddress

UNKNOWN = "unknown"


def client_network(peer: str, forwarded: str, proxies: int) -> str:
    """The client's address; of IPv6, its network of 64 bits. `unknown` where no trusted source gives one.

    peer: the other end of the connection. forwarded: all of X-Forwarded-For. proxies: how many trusted proxies are in
    front, each of which adds the address of its peer to that header; without any the header cannot be trusted.
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
