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
        return f"Every weight is 1 or 0: a mask, or a softmax over an axis of one number. Over the keys: {SOFTMAX}."
    n_heads, n_queries, n_keys = weights.shape
    order = "" if n_queries == n_keys != n_heads else f"Of {n_heads} heads × {n_queries} queries × {n_keys} keys: "
    # Rows that all have one sum were scaled; other axes may then sum to 1 by chance.
    sides = [] if constant_sum(weights.sum(-1), off) else [i for i, n in enumerate(weights.shape) if n > 1]
    for axes in (group for n in (1, 2, 3) for group in combinations(sides, n) if group != (2,)):
        sums = weights.sum(axes)
        if not bool((((sums - 1).abs() <= off) | (sums == 0)).all()):
            continue
        if axes == (1,):
            return order + _of_columns(weights)
        names = " and ".join(AXES[i] for i in axes)
        sums_to_one = "Each whole map sums to 1" if axes == (1, 2) else f"The sums over {names} are 1"
        end = " If the first axis has the keys: layer.movedim(-3, -1)." if order and axes == (0,) else ""
        end = f"the softmax went over {names}, and nothing is missing. {SOFTMAX} goes over the keys.{end}"
        return f"{order}{sums_to_one}: {end}"
    if n_queries == n_keys and mask_note(weights.mT, off) == "masked_late":
        return "Columns without a 0 sum to 1, others to less: a softmax over queries (or layer.mT), a mask after it."
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
    return _above_diagonal(weights)


def _above_diagonal(weights: Tensor) -> str | None:
    """The name of the note on what is above the diagonal of square maps; None if it says nothing."""
    n_keys = weights.shape[-1]
    later = torch.ones(n_keys, n_keys).triu(1).bool().to(weights.device)
    low, high = weights.where(later, torch.inf).amin(-1), weights.where(later, -torch.inf).amax(-1)
    is_equal = ((high - low) <= EXACT * high)[:, :-2].all() and (low[:, :-2] > 0).all()
    is_flat = (weights.amax(-1) - weights.amin(-1) <= EXACT)[:, :-2].all()
    if not bool(is_equal) or bool(is_flat) or not bool(weights.tril()[:, :-2].any()):
        is_next = not bool(weights.triu(2).any()) and bool((weights.diagonal(1, -2, -1) > 0).all())
        return "next" if n_keys > 3 and is_next and bool(weights.tril(-2).any()) else None
    # The weights of a softmax, which sum to 1, are the scores of a second one.
    total = (weights.clamp(min=1e-30) / low[..., None]).log().sum(-1)[:, :-2]
    return "twice" if bool(((total - 1).abs() < 0.01).all()) else "masked_zero"


def locate_invalid(weights: Tensor) -> str:
    """Sentence on maps (H, Q, K) with numbers that are no weights: where they are, and what puts them there."""
    is_off = ~weights.isfinite() | (weights < 0)
    if weights.shape[-1] == weights.shape[-2] and not bool(is_off.tril().any()):
        rest, start = weights.masked_fill(is_off, 0), "All are above the diagonal"
        if bool(((rest.float().sum(-1) - 1).abs() <= 0.01)[~is_off.any(-1)].all()):
            return f"{start}: a mask after the softmax. scores.masked_fill(mask, -inf) belongs before it."
        return f"{start}. {wrong_axis(rest, 0.01)}".strip()
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
    tiled, k = k.repeat(n_heads // len(k), 1, 1), k.repeat_interleave(n_heads // len(k), 0)
    rows = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    is_counted = rows > 1e-6
    y, want, least = _centred(rows.clamp(min=1e-30).log(), is_counted), q.shape[-1] ** -0.5, torch.inf
    if int((is_counted.sum(-1) - 1).clamp(min=0).sum()) < 2 or float(y.abs().max()) < EXACT:
        return "no_scale", {}
    pairs = [("scaled", q @ k.mT), *([("swapped", k @ q.mT)] if n_queries == n_keys else [])]
    pairs += [("tiled", q @ tiled.mT)] if not torch.equal(tiled, k) else []
    for name, scores in pairs:
        x = _centred(scores, is_counted)
        factor = float((x * y).sum() / (x * x).sum().clamp(min=1e-30))
        again = (factor * scores).masked_fill(~is_counted, -torch.inf).softmax(-1).nan_to_num()
        least = min(least, difference := float((again - rows).abs().max()))
        # Of rows that are nearly even each factor near 0 makes something like them.
        if difference < 0.01 and float((y - factor * x).square().sum() / y.square().sum()) < 0.01:
            right = "_right" if name == "scaled" and abs(factor / want - 1) < 0.02 else ""
            return name + right, {"factor": f"{factor:.3g}", "want": f"{want:.3g}"}
    return "other_scores", {"difference": f"{least:.2g}"}


def _centred(values: Tensor, is_counted: Tensor) -> Tensor:
    """Numbers of each row less their mean, 0 where they are not counted."""
    n = is_counted.sum(-1, keepdim=True).clamp(min=1)
    mean = values.where(is_counted, 0.0).sum(-1, keepdim=True) / n
    return (values - mean).where(is_counted, 0.0)
