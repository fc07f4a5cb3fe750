"""``python -m viz.core.cost``: the counts, or with ``--measure`` this machine's own times, as text."""

import argparse
import sys
from collections.abc import Iterator

import torch

from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD
from viz.core.cost.timed_layers import CANDIDATES, Plan
from viz.core.cost.timing import FITTED, best_device, device_name, fit_exponent, measure


def main() -> None:
    """The command: counts, or with ``--measure`` measurements."""
    parser = argparse.ArgumentParser(prog="python -m viz.core.cost", description=__doc__)
    parser.add_argument("--measure", action="store_true", help="time the layers on this machine")
    parser.add_argument("--d-model", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--kernel", type=int, default=3)
    parser.add_argument("--tokens", type=int, nargs="+", default=[2**power for power in range(6, 13)])
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for everything")
    parser.add_argument("--device", choices=("cpu", "cuda"), default=best_device())
    arguments = parser.parse_args()
    try:
        plan = Plan(
            d=arguments.d_model,
            h=arguments.heads,
            k=arguments.kernel,
            lengths=tuple(arguments.tokens),
            seconds=arguments.seconds,
            device=arguments.device,
        )
        for line in report(plan) if arguments.measure else counts(plan):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    except ValueError as error:
        parser.error(str(error))


def counts(plan: Plan) -> Iterator[str]:
    """The exact counts, a line each."""
    yield f"{'layer':<12} {'tokens':>8}  multiply-adds"
    for n in plan.lengths:
        for name, candidate in CANDIDATES.items():
            yield f"{name:<12} {n:>8}  {candidate.flops(plan.at(n)) // FLOPS_PER_MULTIPLY_ADD:,}"


def report(plan: Plan) -> Iterator[str]:
    """Measure, a line for each point, then the fitted exponents."""
    plan.at(1)
    yield f"{device_name(plan.device)} ({plan.device}), {torch.get_num_threads()} threads, torch {torch.__version__}"
    yield f"d_model {plan.d}, {plan.h} heads, kernel {plan.k}, float32, forward passes; limit {plan.seconds:g} s"
    yield f"{'layer':<12} {'tokens':>8} {'ms':>10} {'GFLOP/s':>9} {'peak MB':>9}"
    points = []
    for point in measure(plan):
        points.append(point)
        speed = CANDIDATES[point.name].flops(plan.at(point.n)) / point.seconds / 1e9
        yield f"{point.name:<12} {point.n:>8} {point.seconds * 1e3:>10.3f} {speed:>9.1f} {point.peak_bytes / 1e6:>9.1f}"
    for name, candidate in CANDIDATES.items():
        last = [point for point in points if point.name == name][-FITTED:]
        fit = fit_exponent([p.n for p in last], [p.seconds for p in last])
        count = fit_exponent([p.n for p in last], [candidate.flops(plan.at(p.n)) for p in last])
        if fit is not None and count is not None:
            yield (
                f"{name:<12} time grows as n^({fit.exponent:.2f} ± {fit.error:.2f}) over n = {last[0].n}–{last[-1].n}; "
                f"the count as n^{count.exponent:.2f}"
            )


if __name__ == "__main__":
    main()
