"""Answers about who may look at whom."""

import torch
from torch import Tensor

from viz.core import masks
from viz.core.attention import row_softmax
from viz.lessons.about_weights import CLEAR, check_whole_row, place_of
from viz.lessons.key import Because, Hidden, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}


def allowed(subject: Subject) -> Tensor:
    """True where a word may look, (n, n), in the head that is looked at."""
    n, mask = len(subject.labels), subject.trace.allowed
    if mask is None:
        return torch.ones(n, n, dtype=torch.bool)
    return mask.expand(len(subject.trace.weights), n, n)[subject.head]


def check_no_bias(subject: Subject) -> None:
    """Raise PremiseError, "more_steps", where a bias is added to the scores: the unmasked weights are then unknown."""
    trace = subject.trace
    if not torch.equal(trace.masked, trace.scaled.masked_fill(~trace.masked.isfinite(), -torch.inf)):
        raise PremiseError("more_steps")


def check_mask_changes(subject: Subject, place: int) -> None:
    """Raise PremiseError, "no_mask" or "all_open", where the mask takes nothing out of a row."""
    cells = allowed(subject)
    if bool(cells[place].all()):
        raise PremiseError("no_mask" if bool(cells.all()) else "all_open", query=subject.name(place))


@registered(ANSWERS, "cell", "back", "itself")
def looks_ahead(subject: Subject) -> Key:
    """Every cell in which a word looks at a later one."""
    n = subject.at_least(2)
    right = tuple((row, column) for row in range(n) for column in range(row + 1, n))

    def wrong(answer: tuple[int, int]) -> Because:
        values: Values = {"query": subject.name(answer[0]), "key": subject.name(answer[1])}
        return ("itself" if answer[0] == answer[1] else "back"), values

    query, key = right[0]
    return Key(right=right, values={"n": len(right), "all": n * n}, wrong=wrong, shows={"query": query, "key": key})


@registered(ANSWERS, "number", "all", "half", "without_itself", "other")
def open_cells(subject: Subject) -> Key:
    """Number of cells a causal mask leaves open on these words."""
    n = subject.at_least(3)
    n_open = int(masks.causal(n, n).sum())
    traps = {"all": float(n * n), "half": n * n / 2, "without_itself": float(n_open - n)}
    return Key(right=(float(n_open),), values={"n": n, "all": n * n, "open": n_open}, traps=traps)


@registered(ANSWERS, "number", "even", "nothing", "other")
def first_row(subject: Subject) -> Key:
    """Weight the first word gives itself under the layer's mask."""
    n, sees = subject.at_least(2), allowed(subject)[0]
    if int(sees.sum()) != 1 or not bool(sees[0]):
        raise PremiseError("not_alone", query=subject.name(0))
    check_whole_row(subject, 0)
    weight = float(subject.weights[0, 0])
    values: Values = {"first": subject.name(0), "n": n, "weight": Part(weight)}
    key = Key(right=(weight,), values=values, traps={"even": 1 / n, "nothing": 0.0})
    return key.hiding(Hidden(rows=(0,), asked=(0, 0)))


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def with_the_mask(subject: Subject, query: str, key: str) -> Key:
    """Compare the weight of a word with the mask and without."""
    place, key_place = place_of(subject, query), place_of(subject, key)
    check_mask_changes(subject, place)
    mask_row = allowed(subject)[place]
    if not bool(mask_row[key_place]):
        raise PremiseError("not_open", query=query, key=key)
    check_no_bias(subject)
    check_whole_row(subject, place)
    before = float(row_softmax(subject.trace.scaled[subject.head])[place, key_place])
    now = float(subject.weights[place, key_place])
    code = "same" if abs(now - before) < CLEAR else "more" if now > before else "less"
    names = {"query": subject.name(place), "key": subject.name(key_place)}
    result = one_of(code, **names, was=Part(before), now=Part(now), blocked=int((~mask_row).sum()))
    return result.hiding(Hidden(cells=((place, key_place),)))


@registered(ANSWERS, "mask", "too_much", "too_little")
def itself_and_before(subject: Subject) -> Key:
    """Check that the mask lets every word look at itself and at the word before it, and no further."""
    n, mask = subject.at_least(3), allowed(subject)
    target = masks.window(n, n, 1) & masks.causal(n, n)
    values: Values = {"open": int(target.sum()), "all": n * n}

    def wrong(_: bool) -> Because:
        extra, missing = mask & ~target, target & ~mask
        row, column = (extra if extra.any() else missing).nonzero()[0].tolist()
        numbers: Values = {"query": subject.name(row), "key": subject.name(column), "n": int((extra | missing).sum())}
        return ("too_much" if extra.any() else "too_little"), numbers

    right = (True,) if torch.equal(mask, target) else ()
    return Key(right=right, values=values, wrong=wrong, shows={"mask": "painted", "painted": target})
