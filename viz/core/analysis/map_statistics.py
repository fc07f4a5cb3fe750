"""Statistics of a map of weights, and maps with tokens merged or dropped."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def entropy(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q"]:
    r"""Entropy of each row, in nats: :math:`-\sum_j A_{ij} \ln A_{ij}`, 0 for one key, ln K for an even spread.

    Example:
        >>> entropy(torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
        tensor([0.0000, 0.6931])
    """
    return torch.special.entr(weights).sum(-1)


def distance(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q"]:
    r"""Mean distance of each row, in tokens: :math:`\sum_j A_{ij} |j - i|`.

    Example:
        >>> distance(torch.tensor([[0.0, 1.0], [0.0, 1.0]]))
        tensor([1., 0.])
    """
    n_queries, n_keys = weights.shape[-2:]
    offset = torch.arange(n_keys) - torch.arange(n_queries)[:, None]
    return (weights * offset.abs()).sum(-1)


def distance_without(weights: Float[Tensor, "*B T T"], hidden: Bool[Tensor, " T"]) -> Float[Tensor, "*B Ts"]:
    """:func:`distance` after :func:`hide`, for a map of one text on itself, without building that map.

    Example:
        >>> weights = torch.tensor([[0.0, 0.9, 0.1], [0.0, 1.0, 0.0], [0.2, 0.0, 0.8]])
        >>> distance_without(weights, torch.tensor([False, True, False]))
        tensor([1.0000, 0.2000])
    """
    visible = ~hidden
    place = visible.cumsum(0)
    offset = (place - place[:, None]).abs() * visible
    total = (weights * visible).sum(-1)
    return ((weights * offset).sum(-1) / total.where(total > 0, 1.0))[..., visible]


def weight_at_offset(weights: Float[Tensor, "*B Q K"], offset: int) -> Float[Tensor, "*B R"]:
    """The weight on the key ``offset`` places after the query (-1: the previous token), where there is one.

    Example:
        >>> weight_at_offset(torch.tensor([[0.9, 0.1], [0.7, 0.3]]), -1)
        tensor([0.7000])
    """
    return weights.diagonal(offset, -2, -1)


def weight_on_keys(
    weights: Float[Tensor, "*B Q K"], keys: Bool[Tensor, "*M Q K"] | Bool[Tensor, " K"]
) -> Float[Tensor, "*B Q"]:
    """The weight of each row on a set of keys, the same for all queries or each its own.

    Example:
        >>> weight_on_keys(torch.tensor([[0.2, 0.3, 0.5]]), torch.tensor([True, False, True]))
        tensor([0.7000])
    """
    return (weights * keys).sum(-1)


def uniform(allowed: Bool[Tensor, "Q K"]) -> Float[Tensor, "Q K"]:
    """Uniform map: every query spreads its weight evenly over the keys it may look at.

    Example:
        >>> uniform(torch.tensor([[True, False], [True, True]]))
        tensor([[1.0000, 0.0000],
                [0.5000, 0.5000]])
    """
    return allowed / allowed.sum(-1, keepdim=True).clamp(min=1)


def total_variation(a: Float[Tensor, "*B Q K"], b: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q"]:
    r"""Total variation between two maps, row by row: :math:`\tfrac12 \sum_j |A_{ij} - A'_{ij}|`, from 0 to 1.

    Example:
        >>> total_variation(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]))
        tensor([1.])
    """
    return (a - b).abs().sum(-1) / 2


def count_largest(values: Float[Tensor, " n"]) -> int:
    """Count the numbers that are as large as the largest of them, apart from rounding; infinite ones are left out.

    Example:
        >>> count_largest(torch.tensor([0.25, 0.5, 0.5 - 1e-8])), count_largest(torch.tensor([-torch.inf, -3.0]))
        (2, 1)
    """
    finite = values[values.isfinite()]
    return int((finite >= finite.max() - 1e-5 * finite.abs().max()).sum()) if finite.numel() else 0


def jacobian_norm(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q"]:
    r"""Sensitivity of a row to its scores: :math:`\lVert \operatorname{diag}(p) - p p^\top \rVert_F`.

    Near 0 the softmax is saturated and no gradient comes through. In closed form,
    :math:`\sqrt{\sum p^2 - 2 \sum p^3 + (\sum p^2)^2}`.

    Example:
        >>> jacobian_norm(torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
        tensor([0.0000, 0.5000])
    """
    squares, cubes = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (squares - 2 * cubes + squares.square()).clamp(min=0).sqrt()


def message_norms(v: Float[Tensor, "*B H K d_v"], w_o: Float[Tensor, "H d_v d_out"]) -> Float[Tensor, "*B H K"]:
    r"""Length of each value after W_O, its effect on the output at weight 1: :math:`\lVert v_j W_O^i \rVert`.

    What arrives from key j at query i is :math:`A_{ij}` times this (Kobayashi et al. 2020).

    Example:
        >>> message_norms(torch.tensor([[[3.0, 4.0]]]), torch.eye(2)[None])
        tensor([[5.]])
    """
    return (v @ w_o).norm(dim=-1)


def merge_words(
    weights: Float[Tensor, "*B Q K"], query_words: Int[Tensor, " Q"], key_words: Int[Tensor, " K"]
) -> Float[Tensor, "*B Qw Kw"]:
    """Merge the pieces of words: the sum over a word's keys, the mean over a word's queries. Rows keep their sums.

    Example:
        >>> words = torch.tensor([0, 0, 1])
        >>> merge_words(torch.eye(3), words, words)
        tensor([[1., 0.],
                [0., 1.]])
    """
    queries = torch.nn.functional.one_hot(query_words).to(weights.dtype)
    keys = torch.nn.functional.one_hot(key_words).to(weights.dtype)
    return (queries / queries.sum(0)).T @ weights @ keys


def mean_words(
    scores: Float[Tensor, "*B Q K"], query_words: Int[Tensor, " Q"], key_words: Int[Tensor, " K"]
) -> Float[Tensor, "*B Qw Kw"]:
    """Merge the pieces of words in a map of scores: the mean of their pairs, without masked pairs (-inf).

    Example:
        >>> words = torch.tensor([0, 0, 1])
        >>> mean_words(torch.tensor([[1.0, 3.0, -torch.inf]]), torch.tensor([0]), words)
        tensor([[2., -inf]])
    """
    finite = scores.isfinite()
    total = merge_words(scores.where(finite, 0.0), query_words, key_words)
    count = merge_words(finite.to(scores.dtype), query_words, key_words)
    return (total / count).where(count > 0, -torch.inf)


def hide(
    weights: Float[Tensor, "*B Q K"], keep_queries: Bool[Tensor, " Q"], keep_keys: Bool[Tensor, " K"]
) -> Float[Tensor, "*B Qs Ks"]:
    """Drop tokens and scale each row to sum to 1 again; a row with no weight left is 0.

    Example:
        >>> hide(torch.tensor([[0.5, 0.1, 0.4]]), torch.tensor([True]), torch.tensor([False, True, True]))
        tensor([[0.2000, 0.8000]])
    """
    remainder = weights[..., keep_queries, :][..., keep_keys]
    total = remainder.sum(-1, keepdim=True)
    return torch.where(total > 0, remainder / total.where(total > 0, 1.0), 0.0)
