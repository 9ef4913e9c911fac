"""Which addresses are public, and what a name resolves to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from .errors import ForbiddenError, SourceError

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_RESOLVE_SECONDS = 10.0


def is_public(text: str) -> bool:
    """Whether an IP address is one of the public internet, and so is an address inside it.

    >>> is_public("93.184.215.14"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _NAT64:
        inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if inner is not None:
        return is_public(str(inner))
    return address in _GLOBAL_UNICAST and address.is_global


async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses of a host, all of them checked.

    Raises SourceError where there are none, ForbiddenError where one of them is not public.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"{host}: no such host") from error
    # The scope of a link-local address ("fe80::1%eth0") is no part of the address.
    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    for address in addresses:
        if not allow_private and not is_public(address):
            raise ForbiddenError(f"{host}: address {address} is not public")
    return addresses
