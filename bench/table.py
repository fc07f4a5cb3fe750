"""A row of the table that ``python -m bench`` prints, and how its two times are taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: our time and the other's, in one unit, and the largest ratio that is still good, if there is one."""

    what: str
    ours: float
    theirs: float
    unit: str = "ms"
    goal: float | None = None

    def __str__(self) -> str:
        ratio = self.ours / self.theirs
        verdict = "" if self.goal is None else f"<= {self.goal:.4g}  {'pass' if ratio <= self.goal else 'FAIL'}"
        return f"{self.what:<58} {self.ours:9.2f} {self.theirs:9.2f} {self.unit:<3} {ratio:7.2f}  {verdict}"


def interleaved(ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float = 4.0) -> tuple[float, float]:
    """Medians in ms, taken in turn, so that a slow moment of the machine hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for run in (ours, theirs) * 3:
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 9:
        for run, samples in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            run()
            samples.append((time.perf_counter() - start) * 1000)
    return median(times[0]), median(times[1])
