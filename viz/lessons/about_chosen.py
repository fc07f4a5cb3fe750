"""Answers about looking at less than everything: words that matter, blocks, chosen keys, and keys of several words."""

import torch
from torch import Tensor

from viz.core.variants.today.selection import lost_shares, top_k_mask
from viz.lessons.about_weights import check_whole_row, place_of, row_of
from viz.lessons.key import Hidden, Key, Part, PremiseError, Registry, Values, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}


@registered(ANSWERS, "number", "all", "other")
def tokens_for_share(subject: Subject, query: str, share: float) -> Key:
    """Count of tokens, the largest weights first, that hold a share of a word's row."""
    place, row = row_of(subject, query)
    check_whole_row(subject, place)
    together = row.sort(descending=True).values.cumsum(0)
    count, n = int((together < share).sum()) + 1, len(row)
    values: Values = {"query": query, "share": Part(share), "count": count, "n": n, "left": n - count}
    return Key(right=(float(count),), values=values, traps={"all": float(n)}).hiding(Hidden(rows=(place,)))


@registered(ANSWERS, "number", "causal", "window", "other")
def tokens_in_blocks(subject: Subject, query: str, size: int) -> Key:
    """Count of tokens that a word sees where a mask opens its own block of ``size`` tokens and all blocks before.

    Raises:
        PremiseError: "no_word"; "no_mask" if the page's mask closes some of them.
    """
    place, n = place_of(subject, query), len(subject.labels)
    count = min(n, (place // size + 1) * size)
    if not bool(subject.trace.masked[subject.head, place, :count].isfinite().all()):
        raise PremiseError("no_mask", query=query)
    values: Values = {"query": query, "number": place + 1, "size": size, "count": count, "n": n}
    traps = {"causal": float(place + 1), "window": float(size)}
    return Key(right=(float(count),), values=values, traps=traps)


def _top(subject: Subject, k: int) -> tuple[Tensor, Tensor]:
    """Return the head's weights, and which k of each row are its largest.

    Raises:
        PremiseError: "too_short" if there are no more than k tokens.
    """
    subject.at_least(k + 1)
    masked = subject.trace.masked[subject.head]
    return subject.weights, top_k_mask(masked, k, allowed=masked > -torch.inf)


@registered(ANSWERS, "number", "even", "other")
def lost_outside(subject: Subject, k: int) -> Key:
    """Mean share of a row that the head loses where each token looks at its k best keys alone."""
    weights, n = _top(subject, k)[0], len(subject.labels)
    rows = weights.sum(-1) > 0
    lost, even = float(lost_shares(weights[rows])[:, k - 1].mean()), 1 - k / n
    values: Values = {"layer": subject.layer, "head": subject.head, "k": k, "n": n}
    return Key(right=(lost,), values={**values, "lost": Part(lost), "even": Part(even)}, traps={"even": even})


@registered(ANSWERS, "number", "none", "other")
def rows_without_own(subject: Subject, k: int) -> Key:
    """Count of tokens that are not among their own k best keys."""
    best, n = _top(subject, k)[1], len(subject.labels)
    count = n - int(best.diagonal().sum())
    values: Values = {"layer": subject.layer, "head": subject.head, "k": k, "n": n, "count": count, "kept": n - count}
    return Key(right=(float(count),), values=values, traps={"none": 0.0})


@registered(ANSWERS, "number", "all", "entries", "other")
def keys_of_last(subject: Subject, size: int, fresh: int) -> Key:
    """Count of keys that the last token looks at: entries of ``size`` tokens it sees all of, and ``fresh`` tokens."""
    n = subject.at_least(size)
    is_open = subject.trace.masked[subject.head, -1].isfinite()
    entries = int(is_open[: n // size * size].unflatten(0, (-1, size)).all(-1).sum())
    count = entries + int(is_open[max(0, n - fresh) :].sum())
    values: Values = {
        "last": subject.name(-1),
        "size": size,
        "fresh": fresh,
        "n": n,
        "entries": entries,
        "count": count,
    }
    return Key(right=(float(count),), values=values, traps={"all": float(n), "entries": float(entries)})
