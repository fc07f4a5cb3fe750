"""Answers about the feed-forward network, which works beside attention in every block."""

from viz.core.block import STEPS
from viz.core.cost.attention import parameters
from viz.core.feed_forward import FeedForwardWeights, feed_forward
from viz.core.spec import AttentionSpec
from viz.lessons.key import Because, Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
ORDER = tuple(f"{part}{step}" for part in ("attention", "feed_forward") for step in STEPS["post"])
"""The boxes of an encoder's block in the order of the paper of 2017."""
WIDER = 4
"""How many times as wide as a token's vector the hidden layer usually is."""


@registered(ANSWERS, "order", "other", codes=tuple(sorted(ORDER)))
def order_of_block(_: Subject) -> Key:
    """The steps of a block in order, each part with its sum and its norm."""

    def wrong(given: tuple[str, ...]) -> Because:
        return "other", {"n": next(i for i, (a, b) in enumerate(zip(given, ORDER, strict=True), 1) if a != b)}

    return Key(right=(ORDER,), values={"n": len(ORDER)}, wrong=wrong)


@registered(ANSWERS, "option", codes=("none", "one", "all"))
def rows_a_feed_forward_mixes(subject: Subject) -> Key:
    """In how many other rows a feed-forward network's output changes when the last token becomes another one."""
    x, n = subject.trace.x, len(subject.labels)
    if n < 3:
        raise PremiseError("too_short", n=3)
    drawn = FeedForwardWeights.random(x.shape[-1], WIDER * x.shape[-1], seed=0)
    weights = FeedForwardWeights(w_in=drawn.w_in.to(x), w_out=drawn.w_out.to(x))
    other = x.clone()
    other[-1] += 1
    before, after = (feed_forward(rows, weights).output for rows in (x, other))
    changed = (before - after).abs().amax(-1) > 1e-5 * (1 + float(before.abs().max()))
    mixed = int(changed[:-1].sum())
    code = "none" if not mixed else "one" if mixed == 1 else "all"
    return one_of(code, n=n, others=n - 1, mixed=mixed, last=subject.word(n - 1))


@registered(ANSWERS, "number", "half", "attention", "other")
def weights_of_feed_forward(subject: Subject) -> Key:
    """What part of a block's weights is the feed-forward network's, if it is four times as wide as a token's vector."""
    spec = subject.trace.projections.spec
    d, d_ff = spec.d_model, WIDER * spec.d_model
    whole = AttentionSpec(d_model=d, n_heads=spec.H, n_kv_heads=spec.G, d_head=spec.d_k, d_value=spec.d_v)
    attention, network = parameters(whole).total, 2 * d * d_ff
    found = network / (attention + network)
    values: Values = {"d_model": d, "d_ff": d_ff, "attention": attention, "network": network, "part": Part(found)}
    return Key(right=(found,), values=values, traps={"half": 0.5, "attention": 1 - found})
