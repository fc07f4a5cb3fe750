"""Measurements: they stop on request and at their limit, fits recover the true slope, memory is what was allocated.

No test asserts a time: the clock is simulated.
"""

import math
from threading import Event, Thread

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from viz.core.cost.timed_layers import CANDIDATES, Candidate, Plan
from viz.core.cost.timing import REPEATS, fit_exponent, measure, peak_bytes

PLAN = Plan(d=14, h=2, k=5, lengths=(3, 5, 7, 11), seconds=1e9)


class Clock:
    """A clock that moves only when work is done."""

    def __init__(self):
        self.now = 0.0
        self.runs = []

    def __call__(self):
        return self.now

    def candidate(self, seconds):
        def make(plan, n):
            def run():
                self.now += seconds(n)
                self.runs.append(n)
                return torch.zeros(n)

            return run

        return Candidate(make=make, multiply_adds=lambda s: {"all": s.n**2})


def collect(plan, **options):
    return [(point.name, point.n) for point in measure(plan, **options)]


def test_every_layer_on_every_length():
    points = list(measure(PLAN))
    assert [(p.n, p.name) for p in points] == [(n, name) for n in PLAN.lengths for name in CANDIDATES]
    assert all(p.seconds > 0 and p.peak_bytes > 0 for p in points)


def test_the_shortest_time_counts():
    clock = Clock()
    times = iter([9.0, 0.02, 0.01, 0.03, 0.5, 7.0])
    (point,) = measure(
        Plan(d=1, h=1, k=1, lengths=(4,), seconds=100), clock=clock,
        candidates={"one": clock.candidate(lambda _: next(times))},
    )  # fmt: skip
    assert point.seconds == pytest.approx(0.01)
    assert len(clock.runs) == 5, "one to warm up, three until 0.05 s are full, one for the memory"


def test_quick_runs_repeat_a_few_times():
    clock = Clock()
    list(measure(Plan(d=1, h=1, k=1, lengths=(4,), seconds=100), clock=clock,
                 candidates={"one": clock.candidate(lambda _: 1e-6)}))  # fmt: skip
    assert len(clock.runs) == REPEATS + 2


@pytest.mark.parametrize("limit", [0.5, 3, 30, 500])
def test_limit_holds_when_time_is_quadratic(limit):
    """The limit holds when time grows like the count of operations."""
    clock = Clock()
    plan = Plan(d=1, h=1, k=1, lengths=tuple(2**i for i in range(30)), seconds=limit)
    points = list(measure(plan, clock=clock, candidates={"square": clock.candidate(lambda n: n * n * 1e-3)}))
    assert points
    assert clock.now <= limit


def test_slow_layer_does_not_end_quick():
    clock = Clock()
    plan = Plan(d=1, h=1, k=1, lengths=(1, 2, 4, 8, 16), seconds=30)
    both = {"slow": clock.candidate(lambda n: n * n), "quick": clock.candidate(lambda n: n * 1e-9)}
    measurements = collect(plan, clock=clock, candidates=both)
    assert ("slow", 4) not in measurements
    assert ("quick", 16) in measurements
    assert clock.now <= 30


def test_no_run_after_time_limit():
    clock = Clock()
    plan = Plan(d=1, h=1, k=1, lengths=(1, 2), seconds=1)
    both = {"surprise": clock.candidate(lambda _: 50.0), "other": clock.candidate(lambda _: 1e-9)}
    assert collect(plan, clock=clock, candidates=both) == [("surprise", 1)]


@pytest.mark.parametrize("after", range(7))
def test_collect_stops_on_request(after):
    clock = Clock()
    candidates = {"one": clock.candidate(lambda _: 1e-3)}
    measurements = collect(PLAN, clock=clock, candidates=candidates, stop=lambda: len(clock.runs) >= after)
    assert len(clock.runs) <= after + 1, "what was under way, and no more"
    assert not measurements, "a length that was not finished is no point"


def test_naive_attention_stays_within_memory():
    plan = Plan(d=14, h=2, k=5, lengths=(5, 11), seconds=1e9, memory_bytes=2 * 4 * 2 * 25)
    measurements = collect(plan)
    assert ("naive", 5) in measurements
    assert ("naive", 11) not in measurements
    assert ("sdpa", 11) in measurements


@pytest.mark.parametrize("name", CANDIDATES)
def test_counts_equal_torch_for_timed_layers(name):
    plan = Plan(d=14, h=2, k=5, lengths=(11,), seconds=1, device="meta")
    run = CANDIDATES[name].make(plan, 11)
    with FlopCounterMode(display=False) as counter:
        run()
    assert counter.get_total_flops() == CANDIDATES[name].flops(plan.at(11))


def test_counting_makes_no_weights():
    """On the meta device a layer of any size can be counted: at this width W_Q alone would be 4 TB."""
    plan = Plan(d=10**6, h=1, k=3, lengths=(), seconds=1, device="meta")
    with FlopCounterMode(display=False) as counter:
        CANDIDATES["gru"].make(plan, 2)()
    assert counter.get_total_flops() == 2 * 6 * 2 * 10**12


def test_both_self_attentions_are_one_function():
    naive, sdpa = (CANDIDATES[name].make(PLAN, 11)() for name in ("naive", "sdpa"))
    torch.testing.assert_close(naive, sdpa, atol=1e-5, rtol=1e-5)
    assert naive.shape == (11, 14)


def test_timing_keeps_global_generator_and_threads():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    list(measure(PLAN))
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_peak_memory_by_hand():
    a = torch.zeros(1000, 1000)

    def run():
        first = a + 1  # 4 MB
        second = first + 1  # 8 MB held
        del first
        return second + 1  # still 8 MB held

    assert peak_bytes(run, "cpu") == pytest.approx(8e6, rel=0.01)


def test_peak_ignores_other_threads():
    busy, finished_event = torch.zeros(1000, 1000), Event()

    def allocate():
        while not finished_event.is_set():
            busy + 1

    thread = Thread(target=allocate)
    thread.start()
    try:
        peak = peak_bytes(lambda: torch.stack([torch.zeros(1000)] * 1000), "cpu")
    finally:
        finished_event.set()
        thread.join()
    assert peak == pytest.approx(4e6, rel=0.05)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5, 2.0])
def test_fit_recovers_true_slope(exponent):
    sizes = [2**i for i in range(4, 12)]
    fit = fit_exponent(sizes, [3.7e-6 * n**exponent for n in sizes])
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.error == pytest.approx(0, abs=1e-12)


def test_truth_within_two_errors_at_rate():
    """The true slope lies within two standard errors about as often as it should."""
    generator = torch.Generator().manual_seed(0)
    sizes = [2**i for i in range(4, 20)]
    inside, errors = 0, []
    for _ in range(200):
        noise = (0.2 * torch.randn(len(sizes), generator=generator)).exp().tolist()
        fit = fit_exponent(sizes, [1e-6 * n**2 * factor for n, factor in zip(sizes, noise, strict=True)])
        inside += abs(fit.exponent - 2) < 2 * fit.error
        errors.append(fit.error)
    assert 180 <= inside <= 198  # 93 % of a t distribution with 14 degrees of freedom
    x = torch.tensor(sizes, dtype=torch.float64).log()
    expected = 0.2 / math.sqrt(float(((x - x.mean()) ** 2).sum()))
    assert sum(errors) / len(errors) == pytest.approx(expected, rel=0.05)


def test_two_points_have_no_fit():
    assert fit_exponent([1, 2], [1, 2]) is None


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan")])
def test_infinite_limit_is_refused(seconds):
    with pytest.raises(ValueError, match="must be a finite number from 0"):
        Plan(d=2, h=1, k=1, lengths=(3,), seconds=seconds)
