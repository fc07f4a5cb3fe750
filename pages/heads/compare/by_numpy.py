"""The numbers of two texts once more, from the weights inside torch's own attention: what live checks compare with."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear

from pages.heads.by_numpy import groups
from pages.heads.compare.compute import ComparisonKey, keys_of, sides
from viz.core.analysis.checks import sdpa_weights
from viz.core.comparison.alignment import Alignment
from viz.frame.compute import cached, read, trace
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.specs import Mask, Source, View
from viz.models.capture import Head
from viz.models.tokens import Tokens


def _in_view(maps: np.ndarray, tokens: Tokens, view: View) -> np.ndarray:
    """Words made of pieces: the mean over queries, the sum over keys."""
    pieces = groups(tokens, view)
    if not view.merge:
        return maps[:, np.concatenate(pieces)][..., np.concatenate(pieces)]
    rows = np.stack([maps[:, group].mean(1) for group in pieces], 1)
    return np.stack([rows[..., group].sum(-1) for group in pieces], -1)


def _weights(source: Source, layer: int, mask: Mask) -> Tensor:
    call, n = read(source).calls[layer], len(read(source).tokens.ids)
    return sdpa_weights(call.q, call.k, **with_mask(call.options, mask_by_rule(mask, n, n))).nan_to_num(0)


def _maps(source: Source, layer: int, mask: Mask, view: View) -> np.ndarray:
    maps = _in_view(_weights(source, layer, mask).double().numpy(), read(source).tokens, view)
    return maps / np.maximum(maps.sum(-1, keepdims=True), 1e-300) if view.hide else maps


def _on_slots(cells: np.ndarray, places: Sequence[int | None]) -> np.ndarray:
    """A map written out cell by cell of the slots; NaN where there is none."""
    on_slots = np.full((len(places), len(places)), np.nan)
    pairs = [(slot, place) for slot, place in enumerate(places) if place is not None]
    slots, rows = (np.array(side, dtype=int) for side in zip(*pairs, strict=True))
    on_slots[np.ix_(slots, slots)] = cells[np.ix_(rows, rows)]
    return on_slots


def _places(alignment: Alignment) -> tuple[list[int | None], list[int | None]]:
    return [slot.a for slot in alignment.slots], [slot.b for slot in alignment.slots]


@cached
def two_by_torch(comparison: ComparisonKey, what: str, head_a: Head, head_b: Head) -> tuple[np.ndarray, np.ndarray]:
    """One head's maps on both texts: its weights, or the lengths of its messages taken one by one."""
    places = _places(sides(comparison).alignment)
    return tuple(
        _on_slots(_one_map(source, what, head, comparison), of)
        for source, head, of in zip((comparison.a, comparison.b), (head_a, head_b), places, strict=True)
    )  # type: ignore[return-value]


def _one_map(source: Source, what: str, head: Head, comparison: ComparisonKey) -> np.ndarray:
    layer, i = head
    if what == "weights":
        return _maps(source, layer, comparison.mask, comparison.view)[i]
    call = read(source).calls[layer]
    weights = _weights(source, layer, comparison.mask)[i]
    d_v, group = call.v.shape[-1], i * len(call.v) // len(call.q)
    with torch.inference_mode():
        block = trace(source, layer, comparison.mask).projections.w_o[i * d_v : (i + 1) * d_v]
        # A row at a time: the messages of 512 tokens would be 400 MB.
        rows = [linear(row.unsqueeze(-1) * call.v[group], block.T).square().sum(-1).sqrt() for row in weights]
        lengths = torch.stack(rows)[None].double().numpy()
    return _in_view(lengths, read(source).tokens, comparison.view)[0]


@cached
def changes_by_torch(comparison: ComparisonKey) -> np.ndarray:
    r"""The change of every head as :math:`1 - \sum_j \min(p_j, q_j)`, over the pairs of an alignment one by one."""
    pairs = [
        (slot.a, slot.b) for slot in sides(comparison).alignment.slots if slot.a is not None and slot.b is not None
    ]
    rows_a, rows_b = ([pair[i] for pair in pairs] for i in (0, 1))
    changes = []
    for layer in range(read(comparison.b).n_layers):
        q = _maps(comparison.b, layer, comparison.mask, comparison.view)
        if comparison.head is None:
            p = _maps(comparison.a, layer, comparison.mask, comparison.view)
        else:
            p = _maps(comparison.a, comparison.head[0], comparison.mask, comparison.view)[[comparison.head[1]] * len(q)]
        changes += [
            _overlap(mine[rows_a][:, rows_a], theirs[rows_b][:, rows_b]) for mine, theirs in zip(p, q, strict=True)
        ]
    return np.array(changes)


def _overlap(p: np.ndarray, q: np.ndarray) -> float:
    """The mean distance of two maps' rows, over rows that have any weight; NaN if there are none."""
    counts = (p.sum(-1) > 0) & (q.sum(-1) > 0)
    p, q = (rows[counts] / rows[counts].sum(-1, keepdims=True) for rows in (p, q))
    return float((1 - np.minimum(p, q).sum(-1)).mean()) if counts.any() else float("nan")


@cached
def copying_by_torch(source: Source, mask: Mask) -> float:
    """The most that any head gives, on average, to what came after the query's token: earlier mentions one by one."""
    ids, weights_there = read(source).tokens.ids, []
    followers = {row: [j + 1 for j in range(row) if ids[j] == token] for row, token in enumerate(ids)}
    rows = [row for row, places in followers.items() if places]
    for layer in range(read(source).n_layers):
        weights_there += [
            np.mean([head[row, followers[row]].sum() for row in rows]) for head in _weights(source, layer, mask).numpy()
        ]
    return float(max(weights_there))


@cached
def wrong_pairs(comparison: ComparisonKey) -> int:
    """The number of wrongly paired tokens plus the number of superfluous changes."""
    (a, of_a), (b, of_b) = (
        keys_of(read(source).tokens, comparison.view, comparison.a.model != comparison.b.model)
        for source in (comparison.a, comparison.b)
    )
    alignment = sides(comparison).alignment
    wrong = sum(
        (slot.a is None or slot.b is None or a[slot.a] != b[slot.b]) == (slot.kind == "same")
        for slot in alignment.slots
    )
    for places, text in zip(_places(alignment), (a, b), strict=True):
        wrong += [place for place in places if place is not None] != list(range(len(text)))
    return wrong + abs(alignment.changes - _distance(list(zip(a, of_a, strict=True)), list(zip(b, of_b, strict=True))))


def _distance(a: list[tuple[str, int]], b: list[tuple[str, int]]) -> int:
    """The fewest changes that turn the one into the other, two rows of the table at a time."""
    row = list(range(len(b) + 1))
    for i, (token, kind) in enumerate(a, 1):
        before, row = row, [i]
        for j, (other_key, other_kind) in enumerate(b, 1):
            change = 0 if (token, kind) == (other_key, other_kind) else 1 if kind == other_kind else 2
            row.append(min(before[j - 1] + change, before[j] + 1, row[j - 1] + 1))
    return row[-1]
