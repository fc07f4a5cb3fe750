"""The numbers of the table once more, by numpy from a layer's weights: what the live check compares with."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor


def numbers(weights: np.ndarray, ids: Sequence[int], special: Sequence[bool]) -> dict[str, np.ndarray]:
    """What the portrait of each head of a layer, (H, T, T), has to say; NaN where the text has nothing of the kind."""
    n, hidden, tokens = len(ids), np.array(special), np.array(ids)
    places, plain = np.arange(n), ~hidden
    logarithms = np.log(np.where(weights > 0, weights, 1.0))
    kept = weights[:, plain][:, :, plain]
    shares = kept / np.maximum(kept.sum(-1, keepdims=True), 1e-300)
    others = (tokens[:, None] == tokens) & (places[:, None] != places) & plain[:, None] & plain
    separator = hidden & (places > 0)
    rows = {
        "entropy": -(weights * logarithms).sum(-1),
        "distance": (weights * _apart(n)).sum(-1),
        "distance_plain": (shares * _apart(int(plain.sum()))).sum(-1),
        "previous": weights[:, places[1:], places[1:] - 1],
        "next": weights[:, places[:-1], places[:-1] + 1],
        "same": (weights * others).sum(-1)[:, others.any(-1)],
        "first": weights[:, 1:, 0],
        "separators": weights[:, ~separator][:, :, separator].sum(-1) if separator.any() else weights[:, :0, 0],
    }
    nothing = np.full(len(weights), np.nan)
    return {name: values.mean(-1) if values.shape[-1] else nothing for name, values in rows.items()}


def _apart(n: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n)))


def worst(found: Mapping[str, Tensor], expected: Mapping[str, np.ndarray]) -> float:
    """The largest difference, as a share of the number where that is above 1; infinite if only one is there."""
    off = [0.0]
    for name, numbers_of_heads in expected.items():
        shown = found[name].double().numpy()
        apart = np.abs(shown - numbers_of_heads) / np.maximum(1.0, np.abs(numbers_of_heads))
        none = np.isnan(shown) & np.isnan(numbers_of_heads)
        off.append(float(np.where(none, 0.0, np.nan_to_num(apart, nan=np.inf)).max()))
    return max(off)
