"""Answers about a layer of heads: its sizes, its steps, how the heads come together, and why there are several."""

from dataclasses import fields

import torch

from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.analysis.several_heads import lost, neighbours, offset_scores
from viz.core.attention import row_softmax
from viz.core.cost.attention import parameters
from viz.core.heads import MultiHeadTrace, multi_head
from viz.core.spec import AttentionSpec
from viz.lessons.about_weights import most_of_heads
from viz.lessons.key import Because, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
STEPS = ("q", "scores", "weights", "head_outputs", "concat", "output")
"""The steps of a layer, by the letters they have in its trace."""
HEADS = ({-1: 0.5, 1: 0.5}, {-1: 1.0}, {1: 1.0})
"""Shares by offset: the head that divides itself between both neighbours, and those that look at one of them."""
NOTHING = 1e-9
"""A share below it is rounding."""


def _several(subject: Subject) -> AttentionSpec:
    spec = subject.trace.projections.spec
    if spec.H < 2:
        raise PremiseError("one_head")
    return spec


@registered(ANSWERS, "number", "whole", "heads", "other")
def head_width(subject: Subject) -> Key:
    """Width of one head's query."""
    spec = _several(subject)
    width = spec.H * spec.d_k
    values = {"d_model": spec.d_model, "H": spec.H, "d_k": spec.d_k, "d_v": spec.d_v, "width": width}
    return Key(right=(float(spec.d_k),), values=values, traps={"whole": float(width), "heads": float(spec.H)})


@registered(ANSWERS, "option", codes=("all", "part", "one"))
def reads(subject: Subject) -> Key:
    """Count of the numbers of a token's vector that a head reads: the rows of its part of W_Q that are not empty."""
    spec, head = _several(subject), subject.head
    block = subject.trace.projections.w_q[:, head * spec.d_k : (head + 1) * spec.d_k]
    n = int((block.abs().sum(-1) > 0).sum())
    code = "all" if n == spec.d_model else "one" if n == 1 else "part"
    return one_of(code, head=head, n=n, d_model=spec.d_model, d_k=spec.d_k, H=spec.H)


@registered(ANSWERS, "option", codes=("one", "some", "all"))
def heads_in_output(subject: Subject) -> Key:
    """Number of heads in the first number of the layer's output: those whose rows of W_O hold something there."""
    spec = _several(subject)
    column = subject.trace.projections.w_o[:, 0].unflatten(0, (spec.H, spec.d_v))
    n = int((column.abs().amax(-1) > 0).sum())
    code = "all" if n == spec.H else "one" if n == 1 else "some"
    return one_of(code, n=n, H=spec.H, width=spec.H * spec.d_v, d_out=spec.d_out)


@registered(ANSWERS, "number", "head", "next", "other")
def first_column(subject: Subject, head: int) -> Key:
    """First column of a head's output in the concatenation."""
    spec = _several(subject)
    if head >= spec.H:
        raise PremiseError("too_few_heads", n=spec.H)
    place = (subject.trace.concat[None] - subject.trace.head_outputs[head][:, :1]).abs().amax((0, 1))
    column = int(place.argmin())
    values = {
        "head": head,
        "d_v": spec.d_v,
        "width": spec.H * spec.d_v,
        "column": column,
        "last": column + spec.d_v - 1,
    }
    traps = {"head": float(head), "next": float(column + spec.d_v)}
    return Key(right=(float(column),), values=values, traps=traps)


@registered(ANSWERS, "order", "other", codes=STEPS)
def order_of_steps(_: Subject) -> Key:
    """The steps of a layer in the order in which a trace is computed."""
    names = [field.name for field in fields(MultiHeadTrace)]
    right = tuple(sorted(STEPS, key=names.index))

    def wrong(answer: tuple[str, ...]) -> Because:
        return "other", {"n": next(i for i, (a, b) in enumerate(zip(answer, right, strict=True), 1) if a != b)}

    return Key(right=(right,), wrong=wrong)


@registered(ANSWERS, "option", codes=("sum", "mean", "largest"))
def joined(subject: Subject) -> Key:
    """Way of combining the heads' contributions that gives the layer's output."""
    spec, trace = _several(subject), subject.trace
    parts, bias = trace.contributions, trace.projections.b_o
    output = trace.output if bias is None else trace.output - bias
    ways = {"sum": parts.sum(0), "mean": parts.mean(0), "largest": parts.amax(0)}
    off = {code: float((candidate - output).abs().max()) for code, candidate in ways.items()}
    code = min(off, key=off.__getitem__)
    lengths = parts.norm(dim=-1).mean(-1)
    return one_of(
        code, H=spec.H, most=int(lengths.argmax()), most_length=float(lengths.max()), least_length=float(lengths.min())
    )


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def one_head_instead(subject: Subject) -> Key:
    """Compare the parameters of one head as wide as all together with those of the heads."""
    spec = _several(subject)
    width = spec.H * spec.d_k
    many = parameters(AttentionSpec(d_model=spec.d_model, n_heads=spec.H, d_head=spec.d_k)).total
    single = parameters(AttentionSpec(d_model=spec.d_model, n_heads=1, d_head=width)).total
    code = "same" if many == single else "more" if single > many else "less"
    return one_of(code, H=spec.H, d_k=spec.d_k, width=width, many=many, single=single)


@registered(ANSWERS, "option", codes=("words", "places", "new"))
def shuffled(subject: Subject) -> Key:
    """Weights when the words stand in the opposite order, with the same vectors and, as drawn, no mask."""
    trace, n = subject.trace, subject.at_least(3)
    if subject.chosen.get("source") == "model":
        raise PremiseError("knows_places")
    order = torch.arange(n - 1, -1, -1)
    before, after = (multi_head(x, x, trace.projections, scale=trace.scale).weights for x in (trace.x, trace.x[order]))
    off = {"words": float((after - before[:, order][..., order]).abs().max())}
    off["places"] = float((after - before).abs().max())
    values: Values = {"n": n, "first": subject.name(0), "last": subject.name(n - 1), "off": Part(off["places"])}
    # Of equal words both are right.
    right = tuple(code for code in off if off[code] < 1e-4) or ("new",)
    return Key(right=right, values=values, wrong=lambda answer: (str(answer), {}))


def _lost(heads: tuple[dict[int, float], ...]) -> float:
    """The share of both neighbours of random vectors that no read-out gets from what these heads bring."""
    # These are the numbers of the picture.
    x = torch.randn(512, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    read = torch.cat([(row_softmax(offset_scores(len(x), shares)) @ x)[1:-1] for shares in heads], dim=-1)
    return float(lost(read, neighbours(x)))


@registered(ANSWERS, "number", "one", "more", "other")
def heads_for_two_places(_: Subject) -> Key:
    """The fewest heads that bring the word before and the word after and lose nothing of them."""
    losses = {1: _lost(HEADS[:1]), 2: _lost(HEADS[1:])}
    fewest = min(n for n, share in losses.items() if share < NOTHING)
    return Key(right=(float(fewest),), values={"n": fewest, "lost": Part(losses[1])}, traps={"one": 1.0, "more": 3.0})


@registered(ANSWERS, "head", "little")
def next_word_head(subject: Subject) -> Key:
    """The heads in which a token looks at the one after it."""
    return most_of_heads(subject, lambda weights: weight_at_offset(weights, 1).mean(-1), near=0.9)
