"""Answers that can be redone on paper: one number of a head, and the results of common slips."""

import math

from torch import Tensor

from viz.core.attention import row_softmax
from viz.core.heads import share_kv
from viz.lessons.about_masks import check_mask_changes, check_no_bias
from viz.lessons.key import Hidden, Key, Part, PremiseError, Registry, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
APART = 0.02
"""A slip nearer to the right number than this is not reported."""


def _key(right: float, traps: dict[str, float], **values: str | int | float | tuple[float, ...]) -> Key:
    distinct = {reason: value for reason, value in traps.items() if abs(value - right) > APART}
    return Key(right=(right,), values=values, traps=distinct)


def _of_head(subject: Subject, what: str) -> Tensor:
    """The head's queries, keys or values, (T, d)."""
    heads: Tensor = getattr(subject.trace, what)
    return share_kv(heads, len(subject.trace.weights))[subject.head]


def _vector(numbers: Tensor) -> tuple[float, ...]:
    return tuple(numbers.tolist())


@registered(ANSWERS, "number", "key", "word", "other")
def query_number(subject: Subject, word: int, column: int) -> Key:
    """One number of a word's query: the word's vector times a column of W_Q."""
    subject.at_least(word + 1)
    trace, q = subject.trace, _of_head(subject, "q")
    x, of_column = trace.x[word], trace.projections.w_q[:, subject.head * q.shape[-1] + column]
    if not math.isclose(float(x @ of_column), float(q[word, column]), rel_tol=1e-4, abs_tol=1e-4):
        raise PremiseError("more_steps")
    traps = {"key": float(_of_head(subject, "k")[word, column]), "word": float(x[column])}
    vectors = {"x": _vector(x), "w": _vector(of_column)}
    right = float(q[word, column])
    return _key(right, traps, result=right, label=subject.name(word), column=column + 1, **vectors).hiding(
        Hidden(part="q", cells=((word, column),))
    )


@registered(ANSWERS, "number", "swapped", "scaled", "other")
def score(subject: Subject, query: int, key: int) -> Key:
    """The score of a pair: the dot product of a query and a key."""
    subject.at_least(max(query, key) + 1)
    q, k, scores = _of_head(subject, "q"), _of_head(subject, "k"), subject.trace.scores[subject.head]
    right = float(scores[query, key])
    traps = {"swapped": float(scores[key, query]), "scaled": float(subject.trace.scaled[subject.head][query, key])}
    labels = {"query": subject.name(query), "key": subject.name(key)}
    return _key(right, traps, score=right, q=_vector(q[query]), k=_vector(k[key]), **labels).hiding(
        Hidden(part="scores", cells=((query, key),))
    )


@registered(ANSWERS, "number", "by_width", "as_it_was", "other")
def scaled_score(subject: Subject, query: int, key: int) -> Key:
    """The score divided by the root of the head's width."""
    subject.at_least(max(query, key) + 1)
    width, unscaled = subject.trace.q.shape[-1], float(subject.trace.scores[subject.head][query, key])
    right = float(subject.trace.scaled[subject.head][query, key])
    if not math.isclose(unscaled, right * math.sqrt(width), rel_tol=1e-4, abs_tol=1e-4):
        raise PremiseError("more_steps")
    traps = {"by_width": unscaled / width, "as_it_was": unscaled}
    labels = {"query": subject.name(query), "key": subject.name(key)}
    return _key(right, traps, scaled=right, score=unscaled, width=width, root=math.sqrt(width), **labels).hiding(
        Hidden(part="scaled", cells=((query, key),))
    )


@registered(ANSWERS, "number", "without_e", "even", "other")
def weight(subject: Subject, query: int, key: int) -> Key:
    """The weight of a pair: e to its score, as a share of the row's."""
    subject.at_least(max(query, key) + 1)
    masked = subject.trace.masked[subject.head][query]
    right, open_cells = float(subject.weights[query, key]), masked.isfinite()
    if not right:
        raise PremiseError("not_open", query=subject.name(query), key=subject.name(key))
    traps = {"even": 1 / int(open_cells.sum())}
    if (total := float(masked[open_cells].sum())) > 0:
        traps["without_e"] = float(masked[key]) / total
    labels = {"query": subject.name(query), "key": subject.name(key)}
    return _key(right, traps, row=_vector(masked), weight=Part(right), **labels).hiding(
        Hidden(part="weights", cells=((query, key),))
    )


@registered(ANSWERS, "number", "even", "largest", "other")
def weighted_sum(subject: Subject, query: int, column: int) -> Key:
    """One number of what a word takes along: the values, each times its weight, added up."""
    subject.at_least(query + 1)
    values, row = _of_head(subject, "v")[:, column], subject.weights[query]
    right = float(subject.trace.head_outputs[subject.head][query, column])
    traps = {"even": float(values.mean()), "largest": float(values[int(row.argmax())])}
    vectors = {"row": tuple(map(Part, row.tolist())), "v": _vector(values)}
    return _key(right, traps, label=subject.name(query), column=column + 1, result=right, **vectors).hiding(
        Hidden(part="head_outputs", cells=((query, column),))
    )


@registered(ANSWERS, "number", "as_it_was", "other")
def weight_under_mask(subject: Subject, query: int, key: int) -> Key:
    """The weight of a pair when the mask has taken others out of the row."""
    subject.at_least(max(query, key) + 1)
    row, before = subject.weights[query], row_softmax(subject.trace.scaled[subject.head])[query]
    right = float(row[key])
    check_mask_changes(subject, query)
    check_no_bias(subject)
    if not right:
        raise PremiseError("not_open", query=subject.name(query), key=subject.name(key))
    if right - float(before[key]) < APART:
        raise PremiseError("mask_takes_little", query=subject.name(query))
    rows = {"before": tuple(map(Part, before.tolist())), "row": tuple(map(Part, row.tolist()))}
    labels = {"query": subject.name(query), "key": subject.name(key)}
    return _key(
        right, {"as_it_was": float(before[key])}, weight=Part(right), was=Part(before[key]), **labels, **rows
    ).hiding(Hidden(part="weights", cells=((query, key),)))
