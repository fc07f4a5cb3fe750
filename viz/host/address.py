"""Who asks, as far as limits go: one address."""

import ipaddress

from starlette.datastructures import Headers
from starlette.types import Scope


def address_of(scope: Scope, headers: Headers, proxies: int) -> str:
    """Where a request comes from: of X-Forwarded-For, what the outermost of our own proxies saw.

    An IPv6 visitor usually has 2^64 addresses, which count as one.
    """
    client = (scope.get("client") or ("",))[0]
    chain = [entry.strip() for entry in ",".join(headers.getlist("x-forwarded-for")).split(",") if entry.strip()]
    if proxies and len(chain) >= proxies:
        client = chain[-proxies]
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)
