"""Times of the Cost page's layers on this machine: ``python -m bench.layers``, on texts twice as long each time.

Beside a time stand the operations in it by the exact count, and below the power of the length by which both grow.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from math import log

import torch
from torch.utils.benchmark import Timer

from viz.core.cost.architectures import Sizes
from viz.core.cost.timed_layers import CANDIDATES


def report(sizes: Sizes, lengths: list[int]) -> Iterator[str]:
    """Measure every layer on every length, a line each."""
    yield f"d_model {sizes.d}, {sizes.h} heads, kernel {sizes.k}, float32, {torch.get_num_threads()} threads"
    for name, candidate in CANDIDATES.items():
        points = []
        for n in lengths:
            at = replace(sizes, n=n)
            seconds = Timer("run()", globals={"run": candidate.make(at)}).blocked_autorange().median
            points.append((n, seconds, candidate.flops(at)))
            yield f"{name:<12} {n:>6} tokens {seconds * 1e3:>10.3f} ms {points[-1][2] / seconds / 1e9:>8.1f} GFLOP/s"
        (n, *first), (n_last, *last) = points[len(points) // 2], points[-1]
        if n < n_last:
            time, count = (log(b / a) / log(n_last / n) for a, b in zip(first, last, strict=True))
            yield f"{name:<12} from {n} to {n_last}: time as n^{time:.2f}, count as n^{count:.2f}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.layers", description=__doc__)
    for option, number in (("d-model", 512), ("heads", 8), ("kernel", 3)):
        parser.add_argument(f"--{option}", type=int, default=number)
    parser.add_argument("--tokens", type=int, nargs="+", default=[2**power for power in range(6, 13)])
    options = parser.parse_args()
    with torch.inference_mode():
        for line in report(Sizes(n=1, d=options.d_model, h=options.heads, k=options.kernel), options.tokens):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
