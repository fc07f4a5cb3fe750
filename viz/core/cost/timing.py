"""Time and peak memory of a few layers on this machine, and how they grow with the length of the text."""

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from viz.core.cost.timed_layers import CANDIDATES, Candidate, Plan, Run

# Otherwise torch's profiler writes lines into the log.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

REPEATS, SETTLE_SECONDS = 5, 0.05
"""A run is repeated until it took 0.05 s in all, at most 5 times; the shortest counts: other work only ever adds."""
FITTED = 4
"""The exponent is fitted to the longest few texts: for short ones a run is mostly overhead."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measurement: the shortest time of a forward pass, and the most memory it held beyond what was there."""

    name: str
    n: int
    seconds: float
    peak_bytes: int


def _synchronize(plan: Plan) -> None:
    if plan.device == "cuda":
        torch.cuda.synchronize()


def peak_bytes(run: Run, device: str) -> int:
    """Run once and find the most memory held at a time, beyond what was there before.

    On the CPU from the profiler's record of everything torch's allocator handed out and got back, inside operators
    too; on a GPU from its allocator's own peak.
    """
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as record:
        run()
    assert record.profiler is not None
    assert record.profiler.kineto_results is not None
    events = record.profiler.kineto_results.events()
    current = peak = 0
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        current += event.nbytes()
        peak = max(peak, current)
    return peak


def measure(
    plan: Plan,
    *,
    stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.perf_counter,
    candidates: Mapping[str, Candidate] = CANDIDATES,
) -> Iterator[Point]:
    """Measure every candidate on every length, short texts first, until done, stopped, or out of time.

    A candidate is left out from the length on at which it would break the limit, as far as its last measurement and the
    count can tell; so the limit holds although a running forward pass is not interrupted.

    Args:
        plan: what to measure.
        stop: called before every run; True ends the measurement.
        clock: tells the time in seconds.
        candidates: what to measure it with.
    """
    end = clock() + plan.seconds
    last: dict[str, tuple[int, float]] = {}
    remaining = set(candidates)
    for n in plan.lengths:
        for name, candidate in candidates.items():
            if name in remaining and (
                plan.too_large(name, n) or clock() + _expected(candidate, plan, n, last, name) > end
            ):
                remaining.discard(name)
            if stop() or clock() > end:
                return
            if name not in remaining:
                continue
            start = clock()
            point = _measure_one(candidate, name, plan, n, stop, clock)
            if point is None:
                return
            last[name] = (n, clock() - start)
            yield point


def _expected(candidate: Candidate, plan: Plan, n: int, last: Mapping[str, tuple[int, float]], name: str) -> float:
    """Seconds all runs on this length will take, if they grow like the count."""
    if name not in last:
        return 0.0
    length, duration = last[name]
    return duration * candidate.flops(plan.at(n)) / candidate.flops(plan.at(length))


def _measure_one(
    candidate: Candidate, name: str, plan: Plan, n: int, stop: Callable[[], bool], clock: Callable[[], float]
) -> Point | None:
    with torch.inference_mode():
        run = candidate.make(plan, n)
        # The first time, buffers are made and kernels are chosen.
        run()
        _synchronize(plan)
        best, total = float("inf"), 0.0
        for _ in range(REPEATS):
            if stop():
                return None
            start = clock()
            run()
            _synchronize(plan)
            duration = clock() - start
            best, total = min(best, duration), total + duration
            if total > SETTLE_SECONDS:
                break
        if stop():
            return None
        return Point(name=name, n=n, seconds=best, peak_bytes=peak_bytes(run, plan.device))


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A power law through points: the exponent, and its standard error."""

    exponent: float
    error: float


def fit_exponent(sizes: Sequence[int | float], values: Sequence[int | float]) -> Fit | None:
    r"""Fit :math:`y = c\, n^p` by least squares on the logarithms; None with fewer than three points.

    .. math:: \hat p = \frac{\sum (x - \bar x)(y - \bar y)}{\sum (x - \bar x)^2}, \qquad
              \text{error} = \sqrt{\frac{\sum r^2}{(m - 2) \sum (x - \bar x)^2}}

    with x = ln n, y = ln value, r what the line misses, m points.

    Example:
        >>> fit_exponent([1, 2, 4], [3, 12, 48])
        Fit(exponent=2.0, error=0.0)
    """
    if len(sizes) < 3:
        return None
    x, y = (torch.tensor(numbers, dtype=torch.float64).log2() for numbers in (list(sizes), list(values)))
    dx, dy = x - x.mean(), y - y.mean()
    spread = float((dx * dx).sum())
    exponent = float((dx * dy).sum()) / spread
    residuals = float(((dy - exponent * dx) ** 2).sum())
    return Fit(exponent=exponent, error=(residuals / (len(sizes) - 2) / spread) ** 0.5)


def best_device() -> str:
    """The GPU if there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def device_name(device: str) -> str:
    """Name of the device as the machine reports it."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf8", "replace").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())
