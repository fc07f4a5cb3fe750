"""Answers about the first token's share: what a softmax must give away, a sink, a gate, and a cache without it."""

from decimal import Decimal

import torch
from torch import Tensor

from viz.core.heads import share_kv
from viz.core.variants.today.sinks import first_token_share, gate_by_sink, word_share
from viz.lessons.about_weights import CLEAR, check_whole_row, even_weights
from viz.lessons.key import Hidden, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}


def _last_scores(subject: Subject) -> Tensor:
    """Return the scores (K) of the head's last row, as the softmax sees them.

    Raises:
        PremiseError: "too_short"; "blind" if the row may look nowhere.
    """
    subject.at_least(4)
    scores = subject.trace.masked[subject.head, -1]
    if not bool(scores.isfinite().any()):
        raise PremiseError("blind", word=subject.name(len(subject.labels) - 1))
    check_whole_row(subject, -1)
    return scores


def _first_weight(subject: Subject) -> float:
    """Return the last row's weight on the first token.

    Raises:
        PremiseError: as :func:`_last_scores`; "no_sink" if it is less than twice an even share; "all_to_first".
    """
    weight, n = float(_last_scores(subject).softmax(-1)[0]), len(subject.labels)
    if weight < 2 / n:
        raise PremiseError("no_sink", token=subject.name(0), weight=Part(weight), n=n)
    if weight >= 1 - CLEAR:
        raise PremiseError("all_to_first", token=subject.name(0), weight=Part(weight))
    return weight


def _output_of_last(subject: Subject, *, without: int | None = None) -> Tensor:
    """Return the head's output for the last token (d_v), with one token's key and value left out or with all."""
    trace, head = subject.trace, subject.head
    scores, values = _last_scores(subject), share_kv(trace.v, len(trace.q))[head]
    if without is not None:
        scores = scores.index_fill(0, torch.tensor(without), -torch.inf)
    return scores.softmax(-1) @ values


@registered(ANSWERS, "number", "even", "other")
def first_share(subject: Subject) -> Key:
    """Mean share of a row that the head gives the first token; the first row has no choice and does not count."""
    subject.at_least(4)
    share = float(first_token_share(subject.weights))
    even = float(first_token_share(even_weights(subject)[subject.head]))
    where: Values = {"layer": subject.layer, "head": subject.head, "token": subject.name(0), "n": len(subject.labels)}
    key = Key(right=(share,), values={**where, "share": Part(share), "even": Part(even)}, traps={"even": even})
    return key.hiding(Hidden(columns=(0,), labels=(str(subject.head),)))


@registered(ANSWERS, "number", "nothing", "as_little", "other")
def sum_when_nothing_fits(subject: Subject, lower: float) -> Key:
    """Sum of the last token's weights when each of its scores is lower by the same number."""
    weights = (_last_scores(subject) - lower).softmax(-1)
    total, factor = round(float(weights.sum()), 3), float(torch.tensor(-lower).exp())
    values: Values = {"last": subject.name(-1), "lower": lower, "sum": total, "factor": factor}
    return Key(right=(total,), values=values, traps={"nothing": 0.0, "as_little": factor})


@registered(ANSWERS, "number", "all", "one_more", "other")
def share_of_equal_sink(subject: Subject) -> Key:
    """Share of the last row that goes to a sink whose exponential is as large as those of all scores together."""
    scores, n = _last_scores(subject), len(subject.labels)
    total = scores.logsumexp(-1)
    nobody = 1 - float(word_share(scores[None, None], total[None]))
    values: Values = {"last": subject.name(-1), "n": n, "nobody": Part(nobody), "sigma": float(total)}
    return Key(right=(nobody,), values=values, traps={"all": 1.0, "one_more": 1 / (n + 1)})


@registered(ANSWERS, "number", "same", "nobody", "other")
def gate_of_sink(subject: Subject, sigma: float) -> Key:
    """Factor by which a sink of score ``sigma`` shortens the head's output for the last token."""
    scores, trace = _last_scores(subject)[None, None], subject.trace
    values = share_kv(trace.v, len(trace.q))[subject.head : subject.head + 1]
    sink = scores.new_full((1,), sigma)
    plain = scores.softmax(-1) @ values
    factor = float(gate_by_sink(plain, scores, sink).norm() / plain.norm().clamp(min=1e-30))
    nobody = 1 - float(word_share(scores, sink))
    placeholders: Values = {"last": subject.name(-1), "sigma": sigma, "nobody": Part(nobody), "gate": Part(factor)}
    traps = {"same": 1.0, "nobody": nobody}
    return Key(right=(factor,), values=placeholders, traps=traps)


@registered(ANSWERS, "number", "same", "share", "other")
def growth_without_first(subject: Subject) -> Key:
    """Factor by which the last row's other weights grow when the first token's key and value are dropped."""
    weight, scores = _first_weight(subject), _last_scores(subject)
    before, after = scores.softmax(-1)[1:], scores[1:].softmax(-1)
    place = int(before.argmax())
    factor = float(after[place] / before[place])
    # Three digits, since its inverse takes them.
    rest = f"{1 - weight:.3g}"
    values: Values = {
        **{"last": subject.name(-1), "token": subject.name(0), "factor": factor},
        **{"weight": str(1 - Decimal(rest)), "rest": rest},
        **{"other": subject.name(place + 1), "before": Part(before[place]), "after": Part(after[place])},
    }
    return Key(right=(factor,), values=values, traps={"same": 1.0, "share": 1 / weight})


@registered(ANSWERS, "option", codes=("same", "first", "other"))
def larger_loss(subject: Subject) -> Key:
    """Compare how far the last token's output moves without the first token, and without the one in the middle."""
    weight, middle = _first_weight(subject), len(subject.labels) // 2
    whole = _output_of_last(subject)
    moved = {
        code: float((_output_of_last(subject, without=place) - whole).norm() / whole.norm().clamp(min=1e-30))
        for code, place in (("first", 0), ("other", middle))
    }
    is_same = abs(moved["first"] - moved["other"]) < CLEAR * max(moved.values())
    code = "same" if is_same else max(moved, key=lambda name: moved[name])
    words: Values = {"last": subject.name(-1), "token": subject.name(0), "middle": subject.name(middle)}
    return one_of(code, **words, weight=Part(weight), **{f"{name}_moved": value for name, value in moved.items()})
