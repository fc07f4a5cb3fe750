"""File descriptors: how many this process may have open, and how many tabs and connections fit into that.

A process without a free descriptor accepts no connection, not even one that asks for its health. Many systems begin a
process with 1,024 of them and let it raise that to its hard limit.
"""

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from viz import limits

RESERVED = 128
"""Of the process itself, its libraries, and the files that are read and sent at one time."""
TAB = 4
"""Of a connected tab: its socket, and the event loop that Streamlit keeps for its script (a selector, a pair of
sockets)."""
LOST = TAB - 1
"""Of a session whose browser has gone, for as long as it can come back."""
IN_PASSING = 8
"""One in so many is for connections beside those of tabs, where descriptors are few."""
UNLIMITED, LARGEST = sys.maxsize, 1_048_576
"""Where the system names no limit, and the most that is asked for: some systems refuse more than they can give."""
OPEN = Path("/proc/self/fd"), Path("/dev/fd")


@cache
def limit() -> int:
    """Raise this process's soft limit to its hard one, once, and return it; Windows has none of this kind."""
    try:
        import resource
    except ImportError:
        return UNLIMITED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for target in (hard, LARGEST, 10_240):  # macOS says that there is no limit, and refuses more than 10,240
        if target == resource.RLIM_INFINITY or (soft != resource.RLIM_INFINITY and target <= soft):
            continue
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
            break
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return UNLIMITED if soft == resource.RLIM_INFINITY else soft


def most_connections() -> int:
    """Return how many connections there may be beside those of tabs."""
    return max(1, limit() // IN_PASSING, limit() - RESERVED - (TAB + LOST) * limits.SOCKETS)


def most_tabs() -> int:
    """Return how many tabs may be connected: as many as are configured, or as there are descriptors for."""
    return min(limits.SOCKETS, _for_sessions() // TAB) if is_short() else limits.SOCKETS


def most_lost(n_tabs: int) -> int:
    """Return how many sessions may wait for their browsers beside so many connected tabs."""
    return max(0, _for_sessions() - TAB * n_tabs) // LOST if is_short() else UNLIMITED


def is_short() -> bool:
    """Return whether there are fewer descriptors than all that is configured could take."""
    return limit() < RESERVED + limits.CONNECTIONS_EACH + (TAB + LOST) * limits.SOCKETS


def count_open() -> int:
    """Return how many descriptors this process has open; 0 where the system does not say."""
    for folder in OPEN:
        with suppress(OSError):
            return sum(1 for _ in folder.iterdir())
    return 0


def _for_sessions() -> int:
    return max(TAB, limit() - RESERVED - limit() // IN_PASSING)
