"""Answers read off the weights: the word looked at most, remaining weight, and kinds of heads."""

from collections.abc import Callable

import torch
from torch import Tensor

from viz.core.analysis.map_statistics import message_norms, uniform, weight_at_offset
from viz.core.heads import share_kv
from viz.lessons.key import Because, Hidden, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
CLEAR = 0.02
"""Two weights nearer than this are no difference to ask for."""
NOT_WHOLE = 1e-3
"""A row whose sum is further from 1 gives a part of itself to no token."""


def without_marks(subject: Subject, row: Tensor) -> Tensor:
    """Return a copy of a row in which marks and punctuation come after every word: they answer no question for one."""
    is_word = torch.zeros(len(row), dtype=torch.bool)
    is_word[[*subject.words]] = True
    return row.masked_fill(~is_word, -1.0)


def even_weights(subject: Subject) -> Tensor:
    """Return the weights (H, Q, K) that spread every row evenly over what it may look at."""
    return torch.stack([uniform(cells) for cells in subject.trace.masked.isfinite()])


def place_of(subject: Subject, word: str) -> int:
    """Return the first place of a word.

    Raises:
        PremiseError: "no_word".
    """
    labels = {place: subject.word(place).casefold() for place in subject.words}
    if (first_place := next((place for place in labels if labels[place] == word.casefold()), None)) is None:
        raise PremiseError("no_word", word=word)
    return first_place


def row_of(subject: Subject, query: str) -> tuple[int, Tensor]:
    """Return the place of a word, and its row of weights.

    Raises:
        PremiseError: "no_word"; "blind" if it may look nowhere.
    """
    place = place_of(subject, query)
    row = subject.weights[place]
    if not float(row.sum()):
        raise PremiseError("blind", word=query)
    return place, row


def check_whole_row(subject: Subject, place: int) -> None:
    """Raise PremiseError, "not_whole", where a row does not sum to 1, as with a learned sink."""
    if abs(float(subject.weights[place].sum()) - 1) > NOT_WHOLE:
        raise PremiseError("not_whole", query=subject.name(place))


def _two_largest(subject: Subject, row: Tensor) -> tuple[int, int]:
    """The words with the two largest weights.

    Raises:
        PremiseError: "too_short", or "too_close" if the difference is none to ask for.
    """
    n_words = len(subject.words)
    if len(row) < 3 or n_words < 2:
        raise PremiseError("too_short", n=max(3, len(row) - n_words + 2))
    best, second = without_marks(subject, row).topk(2).indices.tolist()
    if float(row[best] - row[second]) < CLEAR:
        raise PremiseError("too_close", first=subject.name(best), second=subject.name(second))
    return best, second


@registered(ANSWERS, "word", "itself", "less")
def looks_at_most(subject: Subject, query: str) -> Key:
    """The word that a word gives its largest weight; marks do not count."""
    place, row = row_of(subject, query)
    best, second = _two_largest(subject, row)
    values: Values = {
        "query": subject.name(place),
        "key": subject.name(best),
        "weight": Part(row[best]),
        "second": subject.name(second),
        "second_weight": Part(row[second]),
        "n": len(row),
    }

    def wrong(answer: int) -> Because:
        reason = "itself" if answer == place else "less"
        return reason, {"given": subject.name(answer), "given_weight": Part(row[answer])}

    return Key(right=(best,), values=values, wrong=wrong).hiding(Hidden(rows=(place,), asked=(place, -1)))


@registered(ANSWERS, "number", "that_one", "all", "other")
def left_over(subject: Subject, query: str) -> Key:
    """Attention of a word that is left without its largest weight."""
    place, row = row_of(subject, query)
    check_whole_row(subject, place)
    best, _ = _two_largest(subject, row)
    weight = Part(row[best])
    values: Values = {
        "query": subject.name(place),
        "key": subject.name(best),
        "weight": weight,
        "left": Part(1 - weight),
        "n": len(row),
        "others": len(row) - 1,
    }
    key = Key(right=(1 - float(weight),), values=values, traps={"that_one": float(weight), "all": 1.0})
    return key.hiding(Hidden(rows=(place,), shown=((place, best),), asked=(place, best)))


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def looks_back(subject: Subject, query: str) -> Key:
    """Compare the largest weight of a word with the weight in the other direction."""
    place, row = row_of(subject, query)
    candidates = without_marks(subject, row)
    candidates[place] = -1
    best = int(candidates.argmax())
    if float(candidates[best]) < CLEAR:
        raise PremiseError("nothing_to_ask", word=query)
    there, back = float(row[best]), float(subject.weights[best, place])
    code = "same" if abs(there - back) < CLEAR else "more" if back > there else "less"
    key = one_of(code, query=subject.name(place), key=subject.name(best), there=Part(there), back=Part(back))
    return key.hiding(Hidden(cells=((best, place),)))


@registered(ANSWERS, "option", codes=("first", "second", "neither"))
def prefers(subject: Subject, query: str, first: str, second: str) -> Key:
    """Return which of two words a word looks at most; or neither, if it is a third. Marks do not count."""
    place, row = row_of(subject, query)
    places = {"first": place_of(subject, first), "second": place_of(subject, second)}
    best, _ = _two_largest(subject, row)
    code = next((code for code, at in places.items() if at == best), "neither")
    weights: Values = {f"{code}_weight": Part(row[at]) for code, at in places.items()}
    most: Values = {"most": subject.name(best), "most_weight": Part(row[best])}
    names: Values = {"query": subject.name(place), **{code: subject.name(at) for code, at in places.items()}}
    key = one_of(code, **names, **weights, **most)
    return key.hiding(Hidden(rows=(place,), asked=(place, -1)))


def previous(weights: Tensor) -> Tensor:
    """Of weights (H, Q, K), the mean that a word gives to the one before it, for each head."""
    return weight_at_offset(weights, -1).mean(-1)


def most_of_heads(subject: Subject, mean_of: Callable[[Tensor], Tensor], near: float) -> Key:
    """Return the key of the head for which ``mean_of`` its weights is largest; others that come near it count as well.

    Raises:
        PremiseError: "too_short"; "no_such_head" if that is less than one half.
    """
    subject.at_least(4)
    means = torch.stack([mean_of(subject.weights_of(layer)) for layer in range(subject.n_layers)])
    best = float(means.max())
    if best < 0.5:
        raise PremiseError("no_such_head", most=Part(best))
    layer, head = divmod(int(means.argmax()), means.shape[1])
    right = tuple((a, b) for a, b in (means >= near * best).nonzero().tolist())
    place: Values = {"layer": layer, "head": head}
    numbers: Values = {"mean": Part(best), "typical": Part(means.median()), "heads": means.numel(), "n": len(right)}

    def wrong(answer: tuple[int, int]) -> Because:
        return "little", {"layer": answer[0], "head": answer[1], "mean": Part(means[answer])}

    return Key(right=right, values={**place, **numbers}, wrong=wrong, shows=place)


@registered(ANSWERS, "head", "little")
def previous_word_head(subject: Subject) -> Key:
    """The heads in which a word looks at the one before it."""
    return most_of_heads(subject, previous, near=0.9)


@registered(ANSWERS, "option", codes=("first", "itself", "beside", "far"))
def most_goes_to(subject: Subject) -> Key:
    """The largest share of a layer's weight: the first token's, a token's for itself, a neighbour's, or all others'."""
    weights, n = subject.trace.weights, subject.at_least(5)
    away = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    away[:, 0] = -1
    kinds = {"first": away == -1, "itself": away == 0, "beside": away == 1, "far": away > 1}
    all_of_it = float(weights.sum())
    shares = {code: Part(float(weights[:, cells].sum()) / all_of_it) for code, cells in kinds.items()}
    code, runner_up = sorted(shares, key=lambda code: -shares[code])[:2]
    if shares[code] - shares[runner_up] < CLEAR:
        raise PremiseError("too_even")
    even = even_weights(subject)
    first = Part(even[:, :, 0].sum() / even.sum())
    key = one_of(code, layer=subject.layer, token=subject.name(0), even=first, **shares)
    return key.hiding(Hidden(columns=(0,)))


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def arrives(subject: Subject) -> Key:
    """Compare the first token's share of the contributions with its share of the weight."""
    trace, head = subject.trace, subject.head
    H = len(trace.weights)
    norms = message_norms(share_kv(trace.v, H), trace.projections.w_o.unflatten(0, (H, -1)))[head]
    by_weight, by_message = (of.sum(0) for of in (trace.weights[head], trace.weights[head] * norms))
    weight, message = (float(of[0] / of.sum().clamp(min=1e-30)) for of in (by_weight, by_message))
    if weight < 2 / len(subject.labels):
        raise PremiseError("no_sink", token=subject.name(0), weight=Part(weight), n=len(subject.labels))
    code = "same" if abs(weight - message) < CLEAR else "more" if message > weight else "less"
    shares = {"weight": Part(weight), "message": Part(message)}
    key = one_of(code, token=subject.name(0), layer=subject.layer, head=head, **shares)
    return key.hiding(Hidden(labels=subject.labels[:1]))
