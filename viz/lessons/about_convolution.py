"""Answers about heads that look at a place instead of at a word."""

import torch
from torch import Tensor

from viz.core.attention import row_softmax
from viz.core.variants.relative import heads_from_kernel, kernel_offsets, quadratic_scores
from viz.lessons.key import Because, Hidden, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}


def window(n: int, offset: float, alpha: float) -> Tensor:
    """The weights (n, n) of a head that looks at a place."""
    return row_softmax(quadratic_scores(torch.tensor([[float(offset)]]), torch.tensor([alpha]), (n,)))[0]


@registered(ANSWERS, "word", "itself", "other_way", "less")
def centre(subject: Subject, place: int, offset: int, alpha: float) -> Key:
    """The word that a window looks at most from a place."""
    n = len(subject.labels)
    if not 0 <= place + offset < n or place >= n or not offset:
        raise PremiseError("too_short", n=place + max(offset, 0) + 1)
    row = window(n, offset, alpha)[place]
    best = int(row.argmax())
    if (sign := next((at for at in (place, best) if at not in subject.words), None)) is not None:
        raise PremiseError("sign_there", token=subject.name(sign))
    values: Values = {"query": subject.name(place), "key": subject.name(best), "offset": offset, "alpha": alpha}

    def wrong(answer: int) -> Because:
        reason = "itself" if answer == place else "other_way" if answer == place - offset else "less"
        return reason, {"given": subject.name(answer), "away": abs(answer - place)}

    key = Key(right=(best,), values={**values, "weight": Part(row[best])}, wrong=wrong)
    return key.hiding(Hidden(rows=(place,), asked=(place, -1)))


@registered(ANSWERS, "number", "all_of_it", "nothing", "other")
def without_sharpness(subject: Subject) -> Key:
    """Weight of each word when the sharpness is 0."""
    n = subject.at_least(2)
    weight = float(window(n, 1.0, 0.0)[0, 0])
    key = Key(right=(weight,), values={"n": n, "weight": Part(weight)}, traps={"all_of_it": 1.0, "nothing": 0.0})
    return key.hiding(Hidden(rows=tuple(range(n))))


@registered(ANSWERS, "option", codes=("edge", "nothing", "other_end"))
def at_the_border(subject: Subject, alpha: float) -> Key:
    """Place the first word looks at in a head that looks at the word before."""
    n = subject.at_least(3)
    row = window(n, -1.0, alpha)[0]
    best = int(row.argmax())
    code = "nothing" if float(row[best]) < 0.5 else "edge" if best == 0 else "other_end"
    return one_of(code, first=subject.name(0), last=subject.name(n - 1), weight=Part(row[best]))


@registered(ANSWERS, "number", "side", "both_sides", "other")
def heads_of_kernel(_: Subject, side: int) -> Key:
    """Number of heads a square kernel takes: one for each of its cells."""
    n_heads = len(kernel_offsets((side, side)))
    values: Values = {"side": side, "heads": n_heads}
    return Key(right=(float(n_heads),), values=values, traps={"side": float(side), "both_sides": 2.0 * side})


@registered(ANSWERS, "option", codes=("w_q", "w_v", "w_o"))
def holds_the_kernel(_: Subject) -> Key:
    """Matrix of the heads that changes when the kernel does."""
    kernels = torch.arange(9.0).reshape(1, 1, 3, 3) + 1, torch.arange(9.0).reshape(1, 1, 3, 3).flip(-1) - 20
    layers = [heads_from_kernel(kernel, alpha=30.0).weights for kernel in kernels]
    differing = [
        name for name in ("w_q", "w_k", "w_v", "w_o") if not torch.equal(*(getattr(of, name) for of in layers))
    ]
    (code,) = differing
    return one_of(code, rows=layers[0].w_o.shape[0])
