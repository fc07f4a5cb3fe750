"""From measurements to the needed capacity: ``python -m bench.load.capacity`` writes the tables of deploy/README.md."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tests.browser.drive import ROOT
from viz import limits

README, MEASUREMENTS = ROOT / "deploy" / "README.md", ROOT / "deploy" / "capacity.toml"
BLOCK = re.compile(r"(?<=<!-- capacity -->\n)(.*\n)*?(?=<!-- end of capacity -->)")
FULL = 0.6
"""Of one core, which is what one process's Python can use: beyond it answers wait for each other, and the users of a
replica that died find no room."""
REPLICA_GB = 3
"""The memory limit of a replica in compose.yaml and deployment.yaml."""
TABLE_ROWS = ((50, 4), (500, 20), (10_000, 20), (10_000, 4))
"""Users at once, and seconds between two changes of each: 4 in the load test, 20 where people read."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """Resources for a number of users."""

    changes: float
    """A second."""
    cores: float
    replicas: int

    @property
    def memory(self) -> int:
        """GB, if every replica uses what it may."""
        return self.replicas * REPLICA_GB


def need(visitors: int, pause: float, work: float, sockets: int = limits.SOCKETS) -> Need:
    """Cores for the work, replicas for the cores and for the connections, and one more, because one may die.

    Args:
        users: at once.
        pause: seconds between two changes of each.
        work: seconds of one core for a change, measured.
        sockets: connections a replica takes.

    Example:
        >>> need(1000, 10, 0.06)
        Need(changes=100.0, cores=6.0, replicas=11)
    """
    cores = visitors / pause * work
    replicas = max(ceil(round(cores / FULL, 9)), ceil(visitors / sockets)) + 1
    return Need(changes=visitors / pause, cores=cores, replicas=replicas)


def work(course: dict[str, Any]) -> float:
    """Seconds of one core for a change, on average over everything users do."""
    return float(course["cores"] * course["seconds"] / course["changes"])


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """A table in Markdown."""
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(map(str, row))} |"


def of_memory(mb: dict[str, Any]) -> Iterator[str]:
    """A process's memory in MB, by its parts."""
    used = "after one visitor on each page"
    burst = f"{mb['burst_visitors']} visitors at once with 512 tokens of their own each"
    rows = [
        ["`app.py`, before the first visitor", f"{mb['desk_mb']} MB"],
        [f"`app.py`, {used}", f"{mb['desk_used_mb']} MB"],
        ["`serve.py`, warm", f"{mb['warm_mb']} MB"],
        [f"`serve.py`, {used}", f"{mb['used_mb']} MB"],
        [f"{burst}, twice over all pages ({mb['burst_date']}): at most", f"{mb['burst_mb']} MB"],
        ["a minute after they left", f"{mb['after_mb']} MB"],
        ["the ceiling, `HEADLIGHT_MEMORY_MB`", f"{limits.MEMORY_BYTES / 1e9:.1f} GB"],
        ["what a replica is given", f"{REPLICA_GB} GB"],
    ]
    yield from table(["", "memory"], rows)


def of_classes(courses: Sequence[dict[str, Any]], machine: str) -> Iterator[str]:
    """Results of the load test, on the default machine or on the one that is named."""
    heads = [
        "date", "visitors", "minutes", "models chosen", "long texts", "changes a second", "p50", "p95", "p99",
        "of sentences: p50", "p95", "errors",
        "memory at most", "its growth after a third", "cores", "load before", "machine",
    ]  # fmt: skip
    rows = []
    for course in courses:
        shares = [course[f"p{share}_ms"] for share in (50, 95, 99)]
        times = [f"{milliseconds} ms" for milliseconds in (*shares, *course.get("sentences_ms", shares[:2]))]
        changes, memory = (
            f"{course['changes'] / course['seconds']:.1f}",
            (f"{course['most_mb']} MB", f"{course['growth_mb']} MB"),
        )
        rows.append([
            course["date"], course["users"], f"{course['seconds'] / 60:.1f}", course["models"], f"{course['long']:.0%}",
            changes, *times, course["errors"], *memory, course["cores"], course["load"],
            course.get("machine", machine),
        ])  # fmt: skip
    yield from table(heads, rows)


def of_needs(work_per_change: float) -> Iterator[str]:
    """Resources for a number of users, at that much work for a change."""
    heads = ["visitors", "seconds between changes", "changes a second", "cores at work", "replicas", "memory at most"]
    rows = []
    for visitors, pause in TABLE_ROWS:
        servers = need(visitors, pause, work_per_change)
        much = f"{servers.changes:,.0f}", f"{servers.cores:.0f}", servers.replicas, f"{servers.memory:,} GB"
        rows.append([f"{visitors:,}", pause, *much])
    yield from table(heads, rows)


def lines(measurements: dict[str, Any]) -> Iterator[str]:
    """The tables, and from what."""
    yield f"[`capacity.toml`](capacity.toml), measured on {measurements['date']} with {measurements['machine']}."
    yield "Memory is that of the process, resident, with the default model alone; each further model adds its weights:"
    yield ""
    yield from of_memory(measurements["memory"])
    yield ""
    yield "One replica under `python -m bench.load` (a change by each visitor every 2 to 6 s, half type own sentences;"
    yield "of the texts typed so many have 512 tokens, `--long`; so many models are chosen among, `--models`):"
    yield ""
    yield from of_classes(measurements["class"], measurements["machine"])
    work_per_change = work(measurements["class"][-1])
    yield ""
    milliseconds = 1000 * work_per_change
    yield f"A change takes {milliseconds:.0f} ms of one core. A replica is one process, which is given {FULL:.0%} of a"
    yield f"core's time and {limits.SOCKETS} tabs at most; one more than needed is there for when one dies:"
    yield ""
    yield from of_needs(work_per_change)
    yield ""


def block() -> str:
    """The text between the marks in deploy/README.md."""
    with MEASUREMENTS.open("rb") as file:
        return "\n".join(lines(tomllib.load(file))) + "\n"


if __name__ == "__main__":
    README.write_text(BLOCK.sub(lambda _: block(), README.read_text("utf8"), count=1), "utf8")
