"""The container that this process runs in: the memory that it may take, and the host whose environment it has."""

import os
from collections.abc import Mapping
from pathlib import Path

SPACE = "Hugging Face Space"
SIGNS = {
    "SPACE_ID": SPACE,
    "RENDER": "Render",
    "K_SERVICE": "Cloud Run",
    "FLY_APP_NAME": "Fly.io",
    "RAILWAY_ENVIRONMENT": "Railway",
    "DYNO": "Heroku",
    "WEBSITE_SITE_NAME": "Azure App Service",
}
"""Variables that a host sets in the environment of every program it runs, and its name."""

COMMUNITY_CLOUD = Path("/mount/src")
"""Folder of every repository on Streamlit Community Cloud; no variable of its environment is documented."""
CLOUD = "Streamlit Community Cloud"
CLOUD_BYTES = 1_000_000_000
"""Memory to assume there if its container shows no limit: an app is promised 0.7 GB, and may have 2.7."""

NO_LIMIT = 1 << 60
"""cgroup v1 writes a number of about this size where there is no limit."""


def host_of(environment: Mapping[str, str], root: Path) -> str:
    """Return the name of the host that runs the program for the public; "" at a desk.

    ``HEADLIGHT_HOSTED`` decides where it is set: 0 is a desk, anything else is a host.
    """
    if choice := environment.get("HEADLIGHT_HOSTED"):
        return "" if choice == "0" else "HEADLIGHT_HOSTED"
    if root.is_relative_to(COMMUNITY_CLOUD):
        return CLOUD
    return next((host for variable, host in SIGNS.items() if environment.get(variable)), "")


PROC, CGROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def memory_limit(proc: Path = PROC, cgroups: Path = CGROUPS) -> int:
    """Return the bytes of memory that the container may take; 0 where there is no limit, or it cannot be read."""
    return _limit("memory.max", "memory/memory.limit_in_bytes", proc, cgroups)


def thread_limit(proc: Path = PROC, cgroups: Path = CGROUPS) -> int:
    """Return the number of threads and processes that the container may have; 0 as above."""
    return _limit("pids.max", "pids/pids.max", proc, cgroups)


def _limit(name: str, name_v1: str, proc: Path, cgroups: Path) -> int:
    """Return the smallest limit of this name, or of ``name_v1`` with cgroup v1; 0 if there is none.

    ``proc`` names the process's control groups (cgroup v2: ``0::/path``), and ``cgroups`` is where the system shows
    them. In a container its own group is often the root there.
    """
    files = [cgroups / name, cgroups / name_v1]
    try:
        groups = [line.partition("::")[2].strip("/") for line in proc.read_text("utf-8").splitlines() if "::" in line]
    except OSError:
        groups = []
    for group in filter(None, groups):
        parts = Path(group).parts
        files += [cgroups.joinpath(*parts[:n], name) for n in range(1, len(parts) + 1)]
    return min((limit for file in files if 0 < (limit := _read(file)) < NO_LIMIT), default=0)


def _read(file: Path) -> int:
    try:
        text = file.read_text("ascii").strip()
    except (OSError, ValueError):
        return 0
    return int(text) if text.isdecimal() else 0


def memory_of(environment: Mapping[str, str], host: str, limit: int) -> int:
    """Return the bytes of memory to reckon with on a host, in a container with this limit; 0 if there is no limit.

    ``HEADLIGHT_CONTAINER_MB`` decides where it is set.

    Examples:
        >>> memory_of({"HEADLIGHT_CONTAINER_MB": "900"}, "", 0), memory_of({}, CLOUD, 0), memory_of({}, "", 0)
        (900000000, 1000000000, 0)
    """
    megabytes = environment.get("HEADLIGHT_CONTAINER_MB", "")
    if megabytes.isdecimal():
        return int(megabytes) * 10**6
    return limit or (CLOUD_BYTES if host == CLOUD else 0)


HOST = host_of(os.environ, Path(__file__).parents[1])
MEMORY = memory_of(os.environ, HOST, memory_limit())
IS_SMALL = 0 < MEMORY < 1_500_000_000
"""True if there is little more memory than Python, torch and the default model take (0.7 GB)."""


OWN_THREADS = 100
"""Of the process itself: computing, sending files, and the ends of runs whose tabs are gone."""


def fit_threads(most: int, limit: int = thread_limit()) -> int:
    """Return how many tabs can draw their pages at once, a thread each: ``most``, or fewer in a container with less."""
    return max(1, min(most, limit - OWN_THREADS)) if limit else most


def share_mb(most: int, share: float, least: int = 0) -> int:
    """Return MB that something takes by default: ``most``, or that share of the container's memory if it is less."""
    return max(least, min(most, int(MEMORY * share / 1e6))) if MEMORY else most
