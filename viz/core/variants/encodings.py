"""Encodings of position for attention, each passed in as functions. To add one, add it here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import layer_norm

from viz.core.attention import ScoreMod
from viz.core.heads import HeadWeights, MultiHeadTrace, merge_heads, project, split_heads
from viz.core.positions import alibi, rope, sinusoidal, t5_bias
from viz.core.variants.relative import quadratic_scores


def no_table(n_positions: int, d_model: int) -> Float[Tensor, "T d_model"]:
    """Nothing is added to the tokens."""
    return torch.zeros(n_positions, d_model)


def no_turn(x: Float[Tensor, "*B T d_k"]) -> Float[Tensor, "*B T d_k"]:
    """Queries and keys stay as they are."""
    return x


def no_bias(n_heads: int, n_queries: int, n_keys: int) -> None:
    """The scores stay as they are."""


def nothing_read(x: Float[Tensor, "T d_model"], n_heads: int) -> None:
    """No vector has a say in the bias."""


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """Functions at the places where a position can enter; each does nothing by default.

    ``table`` is added to the tokens, ``turn`` changes every head's queries and keys, ``bias`` is added to the scaled
    scores, and so is what ``reads`` makes of the tokens' vectors and the number of heads.
    """

    table: Callable[[int, int], Tensor] = no_table
    turn: Callable[[Tensor], Tensor] = no_turn
    bias: Callable[[int, int, int], Tensor | None] = no_bias
    reads: Callable[[Tensor, int], Tensor | None] = nothing_read

    def scale_table(self, gain: float) -> "Encoding":
        """The same with the rows of its table ``gain`` times as long."""
        return replace(self, table=lambda n, d_model: gain * self.table(n, d_model))


def learned(rows: Float[Tensor, "n_max d_model"], n_positions: int, d_model: int) -> Float[Tensor, "T d_model"]:
    """Take the first rows of a trained table; it has nothing to say beyond its last one.

    Raises:
        ValueError: if the table is too short or of another width.

    Example:
        >>> learned(torch.eye(3), 2, 3)
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if n_positions > len(rows):
        raise ValueError(f"n_positions={n_positions} is beyond the table's last row: it was trained with {len(rows)}")
    if d_model != rows.shape[1]:
        raise ValueError(f"d_model={d_model} is not the table's width, {rows.shape[1]}")
    return rows[:n_positions]


def window(alpha: float, delta: float, n_heads: int, n_queries: int, n_keys: int) -> Float[Tensor, "H Q K"]:
    r"""The convolution page's bias, the same for every head: :math:`-\alpha (\delta - \Delta)^2`.

    Example:
        >>> window(1.0, -1.0, 1, 2, 2)[0].tolist()
        [[-1.0, -4.0], [-0.0, -1.0]]
    """
    queries = torch.arange(n_keys - n_queries, n_keys)
    bias = quadratic_scores(torch.tensor([[delta]]), torch.tensor([alpha]), (n_keys,), queries)
    return bias.expand(n_heads, -1, -1)


def random_t5_bias(seed: int, n_heads: int, n_queries: int, n_keys: int) -> Float[Tensor, "H Q K"]:
    """T5's buckets with N(0, 1) numbers in place of learned ones."""
    table = torch.randn(32, n_heads, generator=torch.Generator().manual_seed(seed))
    return t5_bias(table, n_queries, n_keys)


def content_bias(
    states: Float[Tensor, "*B T r"], profiles: Float[Tensor, "r reach"], *, longest: float = 8.0
) -> Float[Tensor, "*B T T"]:
    r"""Let each query's own state mix a bias for every distance back; 0 for later keys, and beyond the reach.

    .. math:: b_{ij} = r_i \cdot P_{i - j}, \quad r_i = \gamma \odot W x_i, \text{ shortened to length 8 if longer}

    Inkling 2 (2026), which has no RoPE: W, :math:`\gamma` and P are learned; ``states`` are not shortened yet. In its
    full layers they are then multiplied by :math:`\tau_i`. Standard at P = 0.

    Example:
        >>> content_bias(torch.tensor([[1.0], [2.0], [20.0]]), torch.tensor([[5.0, 3.0]]))
        tensor([[ 5.,  0.,  0.],
                [ 6., 10.,  0.],
                [ 0., 24., 40.]])
    """
    length = states.norm(dim=-1, keepdim=True)
    by_distance = states * (longest / length.clamp(min=longest)) @ profiles
    places = torch.arange(states.shape[-2])
    back = places[:, None] - places
    reach = profiles.shape[-1]
    bias = by_distance.gather(-1, back.clamp(0, reach - 1).expand(*by_distance.shape[:-2], -1, -1))
    return bias.masked_fill((back < 0) | (back >= reach), 0.0)


CONTENT_WIDTH = 16
"""Numbers of a query's state, as in Inkling 2."""


def random_content_bias(seed: int, x: Float[Tensor, "T d_model"], n_heads: int) -> Float[Tensor, "H T T"]:
    """A bias from content with numbers drawn at random in place of learned ones, about as large as N(0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(n_heads, x.shape[1], CONTENT_WIDTH, generator=generator) / x.shape[1] ** 0.5
    profiles = torch.randn(CONTENT_WIDTH, len(x), generator=generator) / CONTENT_WIDTH**0.5
    return content_bias(layer_norm(x, x.shape[1:]) @ w, profiles)


def encodings(*, base: float, alpha: float, delta: float, seed: int, rows: Tensor | None) -> dict[str, Encoding]:
    """Every encoding there is, by its code, in the order they are shown."""
    by_code = {
        "none": Encoding(),
        "sinusoidal": Encoding(table=partial(sinusoidal, base=base)),
        "learned": Encoding(table=partial(learned, torch.empty(0, 0) if rows is None else rows)),
        "rope_adjacent": Encoding(turn=partial(rope, base=base, pairing="adjacent")),
        "rope_halves": Encoding(turn=partial(rope, base=base, pairing="halves")),
        "alibi": Encoding(bias=alibi),
        "t5": Encoding(bias=partial(random_t5_bias, seed)),
        "quadratic": Encoding(bias=partial(window, alpha, delta)),
        "content": Encoding(reads=partial(random_content_bias, seed)),
    }
    return {code: encoding for code, encoding in by_code.items() if code != "learned" or rows is not None}


def encode(
    x: Float[Tensor, "T d_model"],
    weights: HeadWeights,
    encoding: Encoding,
    *,
    allowed: Bool[Tensor, "*M #T #T"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
) -> MultiHeadTrace:
    r"""Self-attention with an encoding of position; ``x`` has had its table added already.

    .. math:: \operatorname{softmax}\big(\rho(X W_Q)\, \rho(X W_K)^\top / \sqrt{d_k} + b\big)\, X W_V

    Example:
        >>> from viz.core.spec import AttentionSpec
        >>> weights = HeadWeights.random(AttentionSpec(d_model=4, n_heads=1), seed=0)
        >>> same = torch.ones(3, 4)  # three equal words: only their places differ
        >>> encode(same, weights, Encoding(bias=partial(window, 40.0, 0.0))).weights[0].round()
        tensor([[1., 0., 0.],
                [0., 1., 0.],
                [0., 0., 1.]])
    """
    s = weights.spec
    q = encoding.turn(split_heads(project(x, weights.w_q, weights.b_q), s.H))
    k = encoding.turn(split_heads(project(x, weights.w_k, weights.b_k), s.G))
    v = split_heads(project(x, weights.w_v, weights.b_v), s.G)
    bias = encoding.bias(s.H, len(x), len(x))
    bias = encoding.reads(x, s.H) if bias is None else bias
    return merge_heads(q, k, v, weights, x=x, memory=x, allowed=allowed, bias=bias, scale=scale, score_mod=score_mod)


@dataclass(frozen=True, kw_only=True)
class OffsetProfile:
    """Scores by offset, from -(Q - 1) to K - 1: their mean and standard deviation along each diagonal, (*B, R)."""

    offset: Tensor
    mean: Tensor
    spread: Tensor


def offset_profile(scores: Float[Tensor, "*B Q K"]) -> OffsetProfile:
    """Average scores over all pairs with the same offset, key minus query.

    Where position speaks alone, the spread is 0: every diagonal is constant, the matrix is Toeplitz.

    Example:
        >>> profile = offset_profile(torch.tensor([[1.0, 5.0], [2.0, 3.0]]))
        >>> profile.offset.tolist(), profile.mean.tolist(), profile.spread.tolist()
        ([-1, 0, 1], [2.0, 2.0, 5.0], [0.0, 1.0, 0.0])
    """
    n_queries, n_keys = scores.shape[-2:]
    offset = torch.arange(-(n_queries - 1), n_keys)
    diagonal = torch.arange(n_keys) + torch.arange(n_queries).flip(0)[:, None]

    def average(values: Tensor) -> Tensor:
        """Average all diagonals at once: a loop over those of 512 x 512 scores takes 20 ms."""
        sums = values.new_zeros(*values.shape[:-2], len(offset))
        return sums.index_add_(-1, diagonal.flatten(), values.flatten(-2)) / diagonal.flatten().bincount()

    exact = scores.double()
    mean = average(exact)
    spread = average((exact - mean[..., diagonal]).square()).sqrt()
    return OffsetProfile(offset=offset, mean=mean.to(scores.dtype), spread=spread.to(scores.dtype))


def shuffled(n: int, seed: int, fixed: frozenset[int] = frozenset()) -> Int[Tensor, " n"]:
    """Put n places into another order; place i then holds what stood at ``order[i]``. Some places may stay.

    Never the old order again, if there are two places to exchange.

    Example:
        >>> shuffled(4, 0, frozenset({0, 3})).tolist()
        [0, 2, 1, 3]
    """
    movable = torch.tensor([i for i in range(n) if i not in fixed], dtype=torch.long)
    generator = torch.Generator().manual_seed(seed)
    mixed = torch.randperm(len(movable), generator=generator)
    while len(movable) > 1 and bool((mixed == torch.arange(len(movable))).all()):
        mixed = torch.randperm(len(movable), generator=generator)
    order = torch.arange(n)
    order[movable] = movable[mixed]
    return order


def restore_order(weights: Float[Tensor, "*B T T"], order: Int[Tensor, " T"]) -> Float[Tensor, "*B T T"]:
    """Undo a shuffle on a map: rows and columns return to where their words stood before.

    Example:
        >>> restore_order(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1, 0]))
        tensor([[4., 3.],
                [2., 1.]])
    """
    back = order.argsort()
    return weights[..., back, :][..., back]
