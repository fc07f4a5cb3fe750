"""Limit of file descriptors of this process, and the numbers of tabs and connections that fit into it.

A process without a free descriptor accepts no connection, not even a health check. Many systems start a process with a
soft limit of 1,024 and let it raise that to its hard limit.
"""

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from viz import limits

RESERVED = 128
"""Descriptors for the process itself, its libraries, and the files that it serves."""
TAB = 4
"""Descriptors of a connected tab: its socket, and the event loop of its script (a selector, a pair of sockets)."""
LOST = TAB - 1
"""Descriptors of a session whose browser is disconnected, until it expires."""
IN_PASSING = 8
"""If descriptors are few, one in this many is reserved for connections other than tabs."""
UNLIMITED, LARGEST = sys.maxsize, 1_048_576
"""The limit where the system has none, and the largest limit to request: some systems refuse larger ones."""
OPEN = Path("/proc/self/fd"), Path("/dev/fd")


@cache
def limit() -> int:
    """Raise this process's soft limit to its hard limit, once, and return it; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return UNLIMITED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports no limit, but refuses more than 10,240.
    for target in (hard, LARGEST, 10_240):
        if target == resource.RLIM_INFINITY or (soft != resource.RLIM_INFINITY and target <= soft):
            continue
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
            break
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return UNLIMITED if soft == resource.RLIM_INFINITY else soft


def most_connections() -> int:
    """Return the largest number of connections other than tabs."""
    return max(1, limit() // IN_PASSING, limit() - RESERVED - (TAB + LOST) * limits.SOCKETS)


def most_tabs() -> int:
    """Return the largest number of tabs: the configured one, or fewer if descriptors are short."""
    return min(limits.SOCKETS, _session_descriptors() // TAB) if is_short() else limits.SOCKETS


def most_lost(n_tabs: int) -> int:
    """Return how many disconnected sessions to keep beside ``n_tabs`` connected tabs."""
    return max(0, _session_descriptors() - TAB * n_tabs) // LOST if is_short() else UNLIMITED


def is_short() -> bool:
    """Return whether the configured limits could use more descriptors than there are."""
    return limit() < RESERVED + limits.CONNECTIONS_EACH + (TAB + LOST) * limits.SOCKETS


def count_open() -> int:
    """Return how many descriptors this process has open; 0 if the system does not report it."""
    for folder in OPEN:
        with suppress(OSError):
            return sum(1 for _ in folder.iterdir())
    return 0


def _session_descriptors() -> int:
    return max(TAB, limit() - RESERVED - limit() // IN_PASSING)
