"""Times of the Cost page's layers on this machine: ``python -m bench.layers``, on texts twice as long each time.

Beside a time stand the operations in it by the exact count, and below the power of the length by which both grow.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.benchmark import Timer

from pages.cost.recount import naive_attention
from viz.core.cost.architectures import Sizes, convolution, gru, lstm, self_attention
from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD
from viz.core.heads import concat_heads, split_heads

Run = Callable[[], Tensor]
Matrices = Tensor | Sequence[Tensor]
"""W_Q, W_K, W_V and W_O."""


def sdpa_attention(x: Tensor, w: Matrices, h: int) -> Tensor:
    """The same numbers from ``F.scaled_dot_product_attention``, which takes the keys block by block where it can."""
    q, k, v = (split_heads(x @ matrix, h)[None] for matrix in w[:3])
    return concat_heads(scaled_dot_product_attention(q, k, v))[0] @ w[3]


def _attention(layer: Callable[[Tensor, Matrices, int], Tensor], s: Sizes) -> Run:
    return partial(layer, torch.randn(s.n, s.d), torch.randn(4, s.d, s.d) * s.d**-0.5, s.h)


def _convolution(s: Sizes) -> Run:
    return partial(nn.Conv1d(s.d, s.d, s.k, padding=s.k // 2), torch.randn(1, s.d, s.n))


def _recurrence(kind: type[nn.GRU] | type[nn.LSTM], s: Sizes) -> Run:
    layer, x = kind(s.d, s.d, batch_first=True), torch.randn(1, s.n, s.d)
    return lambda: layer(x)[0]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A layer to measure: how to make it ready for a text, and how many multiply-adds it has by part."""

    make: Callable[[Sizes], Run]
    multiply_adds: Callable[[Sizes], dict[str, int]]

    def flops(self, s: Sizes) -> int:
        """Operations of the layer by the exact count."""
        return FLOPS_PER_MULTIPLY_ADD * sum(self.multiply_adds(s).values())


CANDIDATES: Mapping[str, Candidate] = MappingProxyType(
    {
        "naive": Candidate(make=partial(_attention, naive_attention), multiply_adds=self_attention),
        "sdpa": Candidate(make=partial(_attention, sdpa_attention), multiply_adds=self_attention),
        "convolution": Candidate(make=_convolution, multiply_adds=convolution),
        "gru": Candidate(make=partial(_recurrence, nn.GRU), multiply_adds=gru),
        "lstm": Candidate(make=partial(_recurrence, nn.LSTM), multiply_adds=lstm),
    }
)


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
