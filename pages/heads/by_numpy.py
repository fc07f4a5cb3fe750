"""The numbers of the table once more, by numpy from a layer's weights: what the live check compares with."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from viz.frame.specs import View
from viz.models.tokens import Tokens


def numbers(weights: np.ndarray, ids: Sequence[int], special: Sequence[bool]) -> dict[str, np.ndarray]:
    """The statistics of each head of a layer, (H, T, T); NaN where the text has no such tokens."""
    n, hidden, tokens = len(ids), np.array(special), np.array(ids)
    places, plain = np.arange(n), ~hidden
    logarithms = np.log(np.where(weights > 0, weights, 1.0))
    plain_weights = weights[:, plain][:, :, plain]
    shares = plain_weights / np.maximum(plain_weights.sum(-1, keepdims=True), 1e-300)
    equal_tokens = (tokens[:, None] == tokens) & (places[:, None] != places) & plain[:, None] & plain
    separator = hidden & (places > 0)
    rows = {
        "entropy": -(weights * logarithms).sum(-1),
        "distance": (weights * _apart(n)).sum(-1),
        "distance_plain": (shares * _apart(int(plain.sum()))).sum(-1),
        "previous": weights[:, places[1:], places[1:] - 1],
        "next": weights[:, places[:-1], places[:-1] + 1],
        "same": (weights * equal_tokens).sum(-1)[:, equal_tokens.any(-1)],
        "first": weights[:, 1:, 0],
        "separators": weights[:, ~separator][:, :, separator].sum(-1) if separator.any() else weights[:, :0, 0],
    }
    nothing = np.full(len(weights), np.nan)
    return {name: values.mean(-1) if values.shape[-1] else nothing for name, values in rows.items()}


def _apart(n: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n)))


def worst(values: Mapping[str, Tensor], expected: Mapping[str, np.ndarray]) -> float:
    """The largest difference, as a share of the number where that is above 1; infinite if only one is there."""
    off = [0.0]
    for name, numbers_of_heads in expected.items():
        actual = values[name].double().numpy()
        apart = np.abs(actual - numbers_of_heads) / np.maximum(1.0, np.abs(numbers_of_heads))
        none = np.isnan(actual) & np.isnan(numbers_of_heads)
        off.append(float(np.where(none, 0.0, np.nan_to_num(apart, nan=np.inf)).max()))
    return max(off)


def groups(tokens: Tokens, view: View) -> list[list[int]]:
    """The tokens that each row of a view is made of."""
    pieces = tokens.words if view.merge else range(len(tokens.ids))
    by_piece: dict[int, list[int]] = {}
    for token, piece in enumerate(pieces):
        by_piece.setdefault(piece, []).append(token)
    return [group for group in by_piece.values() if not (view.hide and any(tokens.special[i] for i in group))]


def row_difference(view_values: Tensor, rows: Tensor, keys: Tokens, view: View) -> float:
    """Return how far a row of a view is from the mean of its tokens' rows (n, K), with a word's keys added up."""
    mean = rows.double().numpy().mean(0)
    sums = np.array([mean[group].sum() for group in groups(keys, view)])
    if view.hide and sums.sum() > 0:
        sums = sums / sums.sum()
    if len(sums) != len(view_values):
        return float("inf")
    return float(np.abs(sums - view_values.double().numpy()).max(initial=0.0))
