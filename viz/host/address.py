"""The client address that limits apply to."""

import ipaddress

from starlette.datastructures import Headers
from starlette.types import Scope


def address_of(scope: Scope, headers: Headers, proxies: int) -> str:
    """Return a request's client address: the entry of X-Forwarded-For added by our outermost proxy.

    An IPv6 user commonly has 2^64 addresses, which count as one.
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
