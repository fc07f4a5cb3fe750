"""Log, without blocking, every attempt of a server to reach another machine; loaded through PYTHONPATH."""

import ipaddress
import os
import sys
from typing import Any

NOTES = os.environ.get("OUTGOING_NOTES")


def _is_local(host: Any) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False


def _note(event: str, args: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        host = args[1][0] if isinstance(args[1], tuple) else None  # anything else is a socket of this machine
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if not _is_local(host) and str(host) not in ("0.0.0.0", "::"):
        with open(str(NOTES), "a") as notes:  # noqa: PTH123
            notes.write(f"{event} {host}\n")


if NOTES:
    sys.addaudithook(_note)
