"""Self-attention, convolution, recurrence: cost of a layer, sequential operations, path length between words.

The table of Vaswani et al. 2017 (table 1) gives orders; here the orders and the exact counts stand side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from viz.core.cost.attention import FLOPS_PER_MULTIPLY_ADD, at_least_one, attention_flops, shortest
from viz.core.spec import AttentionSpec


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """``n`` tokens of width ``d``; ``k`` positions seen by a kernel or a window, an odd number; ``h`` heads.

    Raises:
        ValueError: if a size is below 1, k is even, or d is not a multiple of h.
    """

    n: int
    d: int
    k: int = 3
    h: int = 1

    def __post_init__(self) -> None:
        at_least_one(n=self.n, d=self.d, k=self.k, h=self.h)
        if self.k % 2 == 0:
            raise ValueError(f"k={self.k} must be odd: an even kernel has no middle")
        if self.d % self.h:
            raise ValueError(f"d={self.d} is not a multiple of h={self.h}")

    @property
    def reach(self) -> int:
        """Positions that a kernel of k positions sees on each side."""
        return self.k // 2


def window_pairs(n: int, reach: int) -> int:
    r"""Count the (query, key) pairs at most ``reach`` positions apart: what ``masks.window`` allows.

    .. math:: n (2 r + 1) - r (r + 1), \qquad r = \min(\text{reach}, n - 1)

    Example:
        >>> window_pairs(3, 1)
        7
    """
    r = min(reach, n - 1)
    return n * (2 * r + 1) - r * (r + 1)


def _attention(s: Sizes, n_pairs: int) -> dict[str, int]:
    flops = attention_flops(AttentionSpec(d_model=s.d, n_heads=s.h), n_queries=s.n, n_keys=s.n, n_pairs=n_pairs)
    counts = {name: amount // FLOPS_PER_MULTIPLY_ADD for name, amount in flops.parts().items()}
    projections = counts["q"] + counts["k"] + counts["v"]
    return {"projections": projections} | {name: counts[name] for name in ("scores", "mixing", "output")}


def self_attention(s: Sizes) -> dict[str, int]:
    """Multiply-adds of full self-attention: 4nd² + 2n²d in all."""
    return _attention(s, s.n * s.n)


def windowed_attention(s: Sizes) -> dict[str, int]:
    """The same where every query sees k positions only, and a kernel skips the others."""
    return _attention(s, window_pairs(s.n, s.reach))


def convolution(s: Sizes) -> dict[str, int]:
    """Multiply-adds of ``Conv1d(d, d, k)`` that keeps the length: knd², zeros of the padding included."""
    return {"kernel": s.k * s.n * s.d * s.d}


def recurrence(s: Sizes, gates: int = 1) -> dict[str, int]:
    """Multiply-adds of a recurrence: every gate has a d x d matrix for the word and one for the state."""
    return {"input": gates * s.n * s.d * s.d, "state": gates * s.n * s.d * s.d}


def gru(s: Sizes) -> dict[str, int]:
    """Three gates: 6nd²."""
    return recurrence(s, 3)


def lstm(s: Sizes) -> dict[str, int]:
    """Four gates: 8nd²."""
    return recurrence(s, 4)


def direct(_: Sizes, distance: int) -> int | None:
    """Every word sees every word: one step."""
    return min(distance, 1)


def stacked(s: Sizes, distance: int) -> int | None:
    r"""Layers that see ``reach`` to each side: :math:`\lceil \text{distance} / \text{reach} \rceil`; None if they see
    nothing but themselves.
    """
    return (-(-distance // s.reach) if s.reach else None) if distance else 0


def dilated(s: Sizes, distance: int) -> int | None:
    r"""Causal layers with gaps of 1, k, k², … between taps: the digits of the distance, written in base k.

    Layer l reaches back by 0, 1, … or k - 1 times :math:`k^l`, so m layers reach :math:`k^m - 1`: for a whole text
    :math:`\lceil \log_k n \rceil`. Kalchbrenner et al. 2016.
    """
    if s.k == 1:
        return None if distance else 0
    layers, span = 0, 1
    while span <= distance:
        layers, span = layers + 1, span * s.k
    return layers


def one_by_one(_: Sizes, distance: int) -> int | None:
    """A state handed on from word to word."""
    return distance


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A kind of layer, with its costs.

    ``order`` is the term of the table, with every constant left out; ``multiply_adds`` the exact count of one layer, by
    part; ``waits`` how many operations must wait for each other in one layer; ``steps`` how many layers (or hand-overs)
    lie between two words at a distance, None if they never meet; ``formulas`` the orders of the three, in TeX.
    """

    name: str
    order: Callable[[Sizes], int]
    multiply_adds: Callable[[Sizes], dict[str, int]]
    waits: Callable[[Sizes], int]
    steps: Callable[[Sizes, int], int | None]
    formulas: tuple[str, str, str]

    def count(self, s: Sizes) -> int:
        """All multiply-adds of one layer."""
        return sum(self.multiply_adds(s).values())

    def longest_path(self, s: Sizes) -> int | None:
        """Steps between the first word and the last."""
        return self.steps(s, s.n - 1)


ARCHITECTURES = (
    Architecture(
        name="self_attention",
        order=lambda s: s.n**2 * s.d,
        multiply_adds=self_attention,
        waits=lambda _: 1,
        steps=direct,
        formulas=("n^2 d", "1", "1"),
    ),
    Architecture(
        name="window",
        order=lambda s: s.k * s.n * s.d,
        multiply_adds=windowed_attention,
        waits=lambda _: 1,
        steps=stacked,
        formulas=("k n d", "1", "n / k"),
    ),
    Architecture(
        name="convolution",
        order=lambda s: s.k * s.n * s.d**2,
        multiply_adds=convolution,
        waits=lambda _: 1,
        steps=stacked,
        formulas=("k n d^2", "1", "n / k"),
    ),
    Architecture(
        name="dilated",
        order=lambda s: s.k * s.n * s.d**2,
        multiply_adds=convolution,
        waits=lambda _: 1,
        steps=dilated,
        formulas=("k n d^2", "1", r"\log_k n"),
    ),
    Architecture(
        name="recurrence",
        order=lambda s: s.n * s.d**2,
        multiply_adds=recurrence,
        waits=lambda s: s.n,
        steps=one_by_one,
        formulas=("n d^2", "n", "n"),
    ),
)
"""The rows of the table. A window and a kernel both see k positions, to be compared; the paper calls the window r."""


def find_architecture(name: str) -> Architecture:
    """The architecture of that name."""
    return next(architecture for architecture in ARCHITECTURES if architecture.name == name)


def crossing(first: Callable[[Sizes], int], second: Callable[[Sizes], int], sizes: Sizes) -> int | None:
    """Find the shortest text for which ``first`` costs at least as much as ``second``; None if there is none.

    ``first`` must grow at least as fast as ``second``. Sizes other than n are kept.

    Example:
        >>> attends, recurs = find_architecture("self_attention"), find_architecture("recurrence")
        >>> crossing(attends.order, recurs.order, Sizes(n=1, d=512))
        512
    """

    def dearer(n: int) -> bool:
        at = replace(sizes, n=n)
        return first(at) >= second(at)

    return shortest(dearer)
