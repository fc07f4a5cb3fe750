"""Answers about looking at less than everything: words that matter, blocks, chosen keys, and keys of several words."""

import torch
from torch import Tensor

from viz import limits
from viz.core.attention import row_softmax
from viz.core.variants.today.selection import top_k_mask
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
    return Key(right=(float(count),), values=values, traps={"all": float(n)})


@registered(ANSWERS, "number", "causal", "window", "other")
def tokens_in_blocks(subject: Subject, query: str, size: int) -> Key:
    """Count of tokens that a word sees where a mask opens its own block of ``size`` tokens and all blocks before.

    Raises:
        PremiseError: "no_word"; "mask_closes" if the page's mask closes some of them.
    """
    place, n = place_of(subject, query), len(subject.labels)
    count = min(n, (place // size + 1) * size)
    if not bool(subject.trace.masked[subject.head, place, :count].isfinite().all()):
        raise PremiseError("mask_closes", query=query)
    values: Values = {"query": query, "number": place + 1, "size": size, "count": count, "n": n}
    traps = {"causal": float(place + 1), "window": float(size)}
    return Key(right=(float(count),), values=values, traps=traps)


def _on_page(subject: Subject) -> Tensor:
    """Return the head's masked scores of the tokens that the page takes, the first of a long text."""
    n = min(len(subject.labels), limits.PLACED_TOKENS)
    return subject.trace.masked[subject.head, :n, :n]


def _top(subject: Subject, k: int) -> tuple[Tensor, Tensor]:
    """Return the head's weights, and which k of each row its scorer likes best: scores below 0 are alike.

    Raises:
        PremiseError: "too_short" if there are no more than k tokens.
    """
    subject.at_least(k + 1)
    masked = _on_page(subject)
    return row_softmax(masked), top_k_mask(masked.clamp(min=0), k, allowed=masked > -torch.inf)


@registered(ANSWERS, "number", "even", "other")
def lost_outside(subject: Subject, k: int) -> Key:
    """Mean share of a row that the head loses where each token looks at its k best keys alone."""
    weights, best = _top(subject, k)
    n, rows = len(weights), weights.sum(-1) > 0
    lost, even = float((weights * ~best).sum(-1)[rows].mean()), 1 - k / n
    values: Values = {"layer": subject.layer, "head": subject.head, "k": k, "n": n}
    return Key(right=(lost,), values={**values, "lost": Part(lost), "even": Part(even)}, traps={"even": even})


@registered(ANSWERS, "number", "none", "other")
def rows_without_own(subject: Subject, k: int) -> Key:
    """Count of tokens that are not among their own k best keys."""
    best = _top(subject, k)[1]
    n = len(best)
    count = n - int(best.diagonal().sum())
    values: Values = {"layer": subject.layer, "head": subject.head, "k": k, "n": n, "count": count, "kept": n - count}
    key = Key(right=(float(count),), values=values, traps={"none": 0.0})
    return key.hiding(Hidden(cells=tuple((place, place) for place in range(n))))


@registered(ANSWERS, "number", "all", "entries", "other")
def keys_of_last(subject: Subject, size: int, fresh: int) -> Key:
    """Count of keys that the last token looks at: entries of ``size`` tokens it sees all of, and ``fresh`` tokens."""
    subject.at_least(size)
    is_open = _on_page(subject)[-1].isfinite()
    n = len(is_open)
    entries = int(is_open[: n // size * size].unflatten(0, (-1, size)).all(-1).sum())
    newest = int(is_open[max(0, n - fresh) :].sum())
    values: Values = {"last": subject.name(n - 1), "size": size, "fresh": newest, "n": n, "entries": entries}
    traps = {"all": float(n), "entries": float(entries)}
    return Key(right=(float(entries + newest),), values={**values, "count": entries + newest}, traps=traps)
