"""Mistakes of attention that somebody wrote, measured on its maps: sums along each axis, zeros beside the diagonal.

A sentence says what was measured and the line that mends it; where a map alone cannot tell, its q and k do.
"""

from itertools import combinations

import torch
from torch import Tensor

AXES = ("heads", "queries", "keys")
SOFTMAX = "scores.softmax(-1)"
EXACT = 1e-5
"""Largest difference of numbers that one softmax gave, relative to the largest."""


def is_empty(weights: Tensor, side: int) -> bool:
    """Return whether weights (H, T, T) above (1) or below (-1) the diagonal are all 0, and on the other side not."""
    if weights.shape[-1] != weights.shape[-2] or weights.shape[-1] < 2:
        return False
    above, below = (bool((part != 0).any()) for part in (weights.triu(1), weights.tril(-1)))
    return (below and not above) if side > 0 else (above and not below)


def wrong_axis(weights: Tensor, off: float) -> str:
    """Sentence on maps (H, Q, K) whose rows do not sum to 1, if the sums along other axes do; empty if none do."""
    weights = weights.float()
    if bool(((weights == 0) | ((weights - 1).abs() < EXACT)).all()) and bool((weights.sum(-1) > 1.5).any()):
        return f"Every weight is 1: the softmax went over an axis of one number. It goes over the keys: {SOFTMAX}."
    # Rows that all have one sum were scaled; other axes may then sum to 1 by chance.
    sides = [] if constant_sum(weights.sum(-1), off) else [i for i, n in enumerate(weights.shape) if n > 1]
    for axes in (group for n in (1, 2, 3) for group in combinations(sides, n) if group != (2,)):
        sums = weights.sum(axes)
        if not bool((((sums - 1).abs() <= off) | (sums == 0)).all()):
            continue
        if axes == (1,):
            return _of_columns(weights)
        names = " and ".join(AXES[i] for i in axes)
        sums_to_one = "Each whole map sums to 1" if axes == (1, 2) else f"The sums over {names} are 1"
        return f"{sums_to_one}: the softmax went over {names}, and nothing is missing. {SOFTMAX} goes over the keys."
    return ""


def _of_columns(weights: Tensor) -> str:
    if is_empty(weights, 1):
        return (
            "Its columns sum to 1, and above the diagonal all is 0: the softmax went over the queries. "
            f"Over the keys: {SOFTMAX}."
        )
    if is_empty(weights, -1):
        return (
            "Its columns sum to 1, and below the diagonal all is 0: these maps are transposed. "
            "The right way round: layer.mT."
        )
    return (
        f"Its columns sum to 1: the softmax went over the queries ({SOFTMAX} goes over the keys), or these maps are "
        "transposed (layer.mT is the right way round); with a causal mask zeros would tell which."
    )


def constant_sum(sums: Tensor, off: float) -> float | None:
    """Return the number that every row sums to, if it is one and not 1."""
    mean = float(sums.mean())
    return mean if abs(mean - 1) > off and float((sums - mean).abs().max()) < off * mean else None


def mask_note(weights: Tensor, off: float) -> str | None:
    """Return the name of the note on maps (H, Q, K) whose rows sum to 1 at most; None if there is none."""
    weights = weights.float()
    n_heads, n_queries, n_keys = weights.shape
    sums = weights.sum(-1)
    if constant_sum(sums, off):
        return "scaled_late"
    has_zero, is_one = (weights == 0).any(-1), (sums - 1).abs() <= off
    if not bool(has_zero.all()) and bool(is_one[~has_zero].all()) and bool((~is_one & (sums > 0)).any()):
        return "masked_late"
    if n_queries != n_keys or n_queries < 3 or not bool((is_one | (sums == 0)).all()):
        return None
    if is_empty(weights, -1):
        return "ahead"
    if n_heads == n_queries and not is_empty(weights, 1) and is_empty(weights.transpose(0, 1), 1):
        return "exchanged"
    later = torch.ones(n_queries, n_keys).triu(1).bool().to(weights.device)
    low, high = weights.where(later, torch.inf).amin(-1), weights.where(later, -torch.inf).amax(-1)
    is_equal = ((high - low) <= EXACT * high)[:, :-2].all() and (low[:, :-2] > 0).all()
    is_flat = (weights.amax(-1) - weights.amin(-1) <= EXACT)[:, :-2].all()
    return "masked_zero" if bool(is_equal) and not bool(is_flat) else None


def locate_invalid(weights: Tensor) -> str:
    """Sentence on maps (H, Q, K) with numbers that are no weights: where they are, and what puts them there."""
    is_off = ~weights.isfinite() | (weights < 0)
    if weights.shape[-1] == weights.shape[-2] and not bool(is_off.tril().any()):
        return "All are above the diagonal: a mask after the softmax. scores.masked_fill(mask, -inf) belongs before it."
    if bool(((weights.float().exp().sum(-1) - 1).abs() < 0.01).all()):
        return "They are logarithms, whose exponentials sum to 1: layer.exp()."
    head, query, _ = is_off.nonzero()[0].tolist()
    where = f"{int(is_off.any(-1).sum())} rows have such, the first is that of token {query} in head {head}."
    if bool(weights[head, query].isnan().all()):
        return f"{where} All of that row is NaN: so is the softmax of -inf alone. A mask leaves each row one key."
    return where


def scale_note(weights: Tensor, q: Tensor, k: Tensor) -> tuple[str, dict[str, str]]:
    r"""Return a note on the factor of :math:`q k^\top` in maps (H, Q, K), fitted to the logarithms of their rows.

    Raises:
        ValueError: if q (H, Q, d) and k (G, K, d) are not of these maps.
    """
    q, k, weights = (values.detach().to("cpu", torch.float64) for values in (q, k, weights))
    n_heads, n_queries, n_keys = weights.shape
    fits = q.shape == (n_heads, n_queries, k.shape[-1]) and k.shape[1] == n_keys and n_heads % len(k) == 0
    if not fits:
        sizes = ", ".join(" × ".join(map(str, values.shape)) for values in (q, k, weights))
        raise ValueError(
            f"q, k and a layer's maps are {sizes}, and not heads × queries × d, heads × keys × d, and these."
        )
    k = k.repeat_interleave(n_heads // len(k), 0)
    rows = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    want = q.shape[-1] ** -0.5
    results, pairs = [], [("scaled", q @ k.mT), *([("swapped", k @ q.mT)] if n_queries == n_keys else [])]
    for name, scores in pairs:
        x, y = (_centred(values, rows > 1e-6) for values in (scores, rows.clamp(min=1e-30).log()))
        factor = float((x * y).sum() / (x * x).sum().clamp(min=1e-30))
        again = (factor * scores).masked_fill(rows <= 1e-6, -torch.inf).softmax(-1).nan_to_num()
        results.append((float((again - rows).abs().max()), name, factor))
    difference, name, factor = min(results)
    if difference > 0.01:
        return "other_scores", {"difference": f"{difference:.2g}"}
    name = "scaled_right" if name == "scaled" and abs(factor / want - 1) < 0.02 else name
    return name, {"factor": f"{factor:.3g}", "want": f"{want:.3g}"}


def _centred(values: Tensor, is_counted: Tensor) -> Tensor:
    """Numbers of each row less their mean, 0 where they are not counted."""
    n = is_counted.sum(-1, keepdim=True).clamp(min=1)
    mean = values.where(is_counted, 0.0).sum(-1, keepdim=True) / n
    return (values - mean).where(is_counted, 0.0)
