"""The numbers of two texts once more, from the weights inside torch's own attention: what live checks compare with."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear

from pages.heads.compare.compute import Compared, keys_of, sides
from viz.core.analysis.checks import torchs_weights
from viz.core.comparison.alignment import Alignment
from viz.frame.checks import with_mask
from viz.frame.compute import kept, read, trace
from viz.frame.compute.mask_rule import written_out
from viz.frame.specs import Mask, Source, View
from viz.models.capture import Head
from viz.models.tokens import Tokens


def _groups(tokens: Tokens, view: View) -> list[list[int]]:
    """The tokens that each row of a view is made of."""
    pieces = tokens.words if view.merge else range(len(tokens.ids))
    groups: dict[int, list[int]] = {}
    for token, piece in enumerate(pieces):
        groups.setdefault(piece, []).append(token)
    return [group for group in groups.values() if not (view.hide and any(tokens.special[i] for i in group))]


def _in_view(maps: np.ndarray, tokens: Tokens, view: View) -> np.ndarray:
    """Words made of pieces: the mean over queries, the sum over keys."""
    groups = _groups(tokens, view)
    if not view.merge:
        return maps[:, np.concatenate(groups)][..., np.concatenate(groups)]
    rows = np.stack([maps[:, group].mean(1) for group in groups], 1)
    return np.stack([rows[..., group].sum(-1) for group in groups], -1)


def _weights(source: Source, layer: int, mask: Mask) -> Tensor:
    call, n = read(source).calls[layer], len(read(source).tokens.ids)
    return torchs_weights(call.q, call.k, **with_mask(call.options, written_out(mask, n, n))).nan_to_num(0)


def _maps(source: Source, layer: int, mask: Mask, view: View) -> np.ndarray:
    maps = _in_view(_weights(source, layer, mask).double().numpy(), read(source).tokens, view)
    return maps / np.maximum(maps.sum(-1, keepdims=True), 1e-300) if view.hide else maps


def _on_slots(cells: np.ndarray, places: Sequence[int | None]) -> np.ndarray:
    """A map written out cell by cell of the slots; NaN where there is none."""
    found = np.full((len(places), len(places)), np.nan)
    pairs = [(slot, place) for slot, place in enumerate(places) if place is not None]
    slots, rows = (np.array(side, dtype=int) for side in zip(*pairs, strict=True))
    found[np.ix_(slots, slots)] = cells[np.ix_(rows, rows)]
    return found


def _places(alignment: Alignment) -> tuple[list[int | None], list[int | None]]:
    return [slot.a for slot in alignment.slots], [slot.b for slot in alignment.slots]


@kept
def two_by_torch(compared: Compared, what: str, head_a: Head, head_b: Head) -> tuple[np.ndarray, np.ndarray]:
    """One head's maps on both texts: its weights, or the lengths of its messages taken one by one."""
    places = _places(sides(compared).alignment)
    return tuple(
        _on_slots(_one_map(source, what, head, compared), of)
        for source, head, of in zip((compared.a, compared.b), (head_a, head_b), places, strict=True)
    )  # type: ignore[return-value]


def _one_map(source: Source, what: str, head: Head, compared: Compared) -> np.ndarray:
    layer, i = head
    if what == "weights":
        return _maps(source, layer, compared.mask, compared.view)[i]
    call = read(source).calls[layer]
    weights = _weights(source, layer, compared.mask)[i]
    d_v, group = call.v.shape[-1], i * len(call.v) // len(call.q)
    with torch.inference_mode():
        block = trace(source, layer, compared.mask).projections.w_o[i * d_v : (i + 1) * d_v]
        # A row at a time: the messages of 512 tokens would be 400 MB.
        rows = [linear(row.unsqueeze(-1) * call.v[group], block.T).square().sum(-1).sqrt() for row in weights]
        lengths = torch.stack(rows)[None].double().numpy()
    return _in_view(lengths, read(source).tokens, compared.view)[0]


@kept
def changes_by_torch(compared: Compared) -> np.ndarray:
    r"""The change of every head as :math:`1 - \sum_j \min(p_j, q_j)`, over the pairs of an alignment one by one."""
    pairs = [(slot.a, slot.b) for slot in sides(compared).alignment.slots if slot.a is not None and slot.b is not None]
    rows_a, rows_b = ([pair[i] for pair in pairs] for i in (0, 1))
    found = []
    for layer in range(read(compared.b).n_layers):
        q = _maps(compared.b, layer, compared.mask, compared.view)
        if compared.head is None:
            p = _maps(compared.a, layer, compared.mask, compared.view)
        else:
            p = _maps(compared.a, compared.head[0], compared.mask, compared.view)[[compared.head[1]] * len(q)]
        found += [
            _overlap(mine[rows_a][:, rows_a], theirs[rows_b][:, rows_b]) for mine, theirs in zip(p, q, strict=True)
        ]
    return np.array(found)


def _overlap(p: np.ndarray, q: np.ndarray) -> float:
    """What the rows of two maps do not share, the mean over those that have any weight; NaN if there are none."""
    counts = (p.sum(-1) > 0) & (q.sum(-1) > 0)
    p, q = (rows[counts] / rows[counts].sum(-1, keepdims=True) for rows in (p, q))
    return float((1 - np.minimum(p, q).sum(-1)).mean()) if counts.any() else float("nan")


@kept
def copying_by_torch(source: Source, mask: Mask) -> float:
    """The most that any head gives, on average, to what came after the query's token: earlier mentions one by one."""
    ids, found = read(source).tokens.ids, []
    followers = {row: [j + 1 for j in range(row) if ids[j] == token] for row, token in enumerate(ids)}
    rows = [row for row, places in followers.items() if places]
    for layer in range(read(source).n_layers):
        found += [
            np.mean([head[row, followers[row]].sum() for row in rows]) for head in _weights(source, layer, mask).numpy()
        ]
    return float(max(found))


@kept
def wrong_pairs(compared: Compared) -> int:
    """How many tokens are not paired as they should be, and how many changes there are too many."""
    (a, of_a), (b, of_b) = (
        keys_of(read(source).tokens, compared.view, compared.a.model != compared.b.model)
        for source in (compared.a, compared.b)
    )
    alignment = sides(compared).alignment
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
        for j, (other, other_kind) in enumerate(b, 1):
            change = 0 if (token, kind) == (other, other_kind) else 1 if kind == other_kind else 2
            row.append(min(before[j - 1] + change, before[j] + 1, row[j - 1] + 1))
    return row[-1]
