"""Answers about the limits of weights as explanations."""

from dataclasses import replace

from viz.core.analysis.map_statistics import message_norms
from viz.core.heads import share_kv
from viz.lessons.about_weights import CLEAR, even_weights, most_of_heads, row_of, without_marks
from viz.lessons.key import Hidden, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
ALIKE = 1e-6
"""Two heads whose largest weights differ by less than this are told apart by rounding alone."""


@registered(ANSWERS, "head", "little")
def sink_head(subject: Subject) -> Key:
    """The heads in which the other words give most to the first token."""
    key = most_of_heads(subject, lambda weights: weights[:, 1:, 0].mean(-1), near=0.95)
    even = Part(even_weights(subject)[:, 1:, 0].mean())
    return replace(key, values={**key.values, "even": even, "token": subject.name(0)})


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def value_length(subject: Subject) -> Key:
    """Compare the length of the first token's value after W_O with the mean of the others."""
    subject.at_least(3)
    H = len(subject.trace.weights)
    norms = message_norms(share_kv(subject.trace.v, H), subject.trace.projections.w_o.unflatten(0, (H, -1)))
    first, mean_length = float(norms[subject.head][0]), float(norms[subject.head][1:].mean())
    code = "same" if abs(first - mean_length) < CLEAR * mean_length else "more" if first > mean_length else "less"
    weights = subject.weights.sum(0)
    where = {"layer": subject.layer, "head": subject.head, "weight": Part(weights[0] / weights.sum().clamp(min=1e-30))}
    return one_of(code, token=subject.name(0), first=first, others=mean_length, **where).hiding(
        Hidden(labels=subject.labels[:1])
    )


@registered(ANSWERS, "sentence", "still")
def looks_away(subject: Subject, query: str, key: str, below: float, example: str) -> Key:
    """Check that a word gives another, still in the text, less than ``below``; ``example`` is a text where it does."""
    _, row = row_of(subject, query)
    places = [place for place in subject.words if subject.word(place).casefold() == key.casefold()]
    if not places:
        raise PremiseError("no_word", word=key)
    weight = float(row[places].sum())
    best = int(without_marks(subject, row).argmax())
    most: Values = {"most": subject.name(best), "most_weight": Part(row[best])}
    values: Values = {
        "query": query,
        "key": key,
        "below": Part(below),
        "example": example,
        "weight": Part(weight),
        **most,
    }
    return Key(
        right=(True,) if weight < below else (), values=values, wrong=lambda _: ("still", {}), shows={"text": example}
    )


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def sharp_and_strong(subject: Subject) -> Key:
    """Compare the contribution of the head with the largest single weights with the mean of all heads."""
    trace, H = subject.trace, len(subject.trace.weights)
    if H < 2:
        raise PremiseError("one_head")
    subject.at_least(3)
    peaks, lengths = trace.weights.amax(-1).mean(-1), trace.contributions.norm(dim=-1).mean(-1)
    first, second = peaks.topk(2).values.tolist()
    if first - second < ALIKE:
        raise PremiseError("too_even")
    head, mean = int(peaks.argmax()), float(lengths.mean())
    code = "same" if abs(float(lengths[head]) - mean) < CLEAR * mean else "more" if lengths[head] > mean else "less"
    lengths_of_head = {"length": float(lengths[head]), "mean": mean, "strongest": int(lengths.argmax())}
    key = one_of(code, layer=subject.layer, head=head, peak=Part(peaks[head]), H=H, **lengths_of_head)
    return key.hiding(Hidden(labels=(str(head),)))
