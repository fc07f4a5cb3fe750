"""Answers about the feed-forward network, which works beside attention in every block."""

from viz.core.block import STEPS
from viz.core.cost.attention import parameters
from viz.core.feed_forward import FeedForwardWeights, feed_forward
from viz.core.spec import AttentionSpec
from viz.lessons.key import Because, Key, Part, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
ORDER = tuple(f"{part}{step}" for part in ("attention", "feed_forward") for step in STEPS["post"])
"""The boxes of an encoder's block in the order of the paper of 2017."""
WIDER = 4
"""Default width of the hidden layer, in widths of a token's vector."""


@registered(ANSWERS, "order", "other", codes=tuple(sorted(ORDER)))
def order_of_block(_: Subject) -> Key:
    """The steps of a block in order, each part with its sum and its norm."""

    def wrong(answer: tuple[str, ...]) -> Because:
        return "other", {"n": next(i for i, (a, b) in enumerate(zip(answer, ORDER, strict=True), 1) if a != b)}

    return Key(right=(ORDER,), values={"n": len(ORDER)}, wrong=wrong)


@registered(ANSWERS, "option", codes=("none", "one", "all"))
def rows_a_feed_forward_mixes(subject: Subject) -> Key:
    """Number of other rows in which a feed-forward network's output changes when the last token becomes another one."""
    x, n = subject.trace.x, subject.at_least(3)
    random = FeedForwardWeights.random(x.shape[-1], WIDER * x.shape[-1], seed=0)
    weights = FeedForwardWeights(w_in=random.w_in.to(x), w_out=random.w_out.to(x))
    edited = x.clone()
    edited[-1] += 1
    before, after = (feed_forward(rows, weights).output for rows in (x, edited))
    has_changed = (before - after).abs().amax(-1) > 1e-5 * (1 + float(before.abs().max()))
    mixed = int(has_changed[:-1].sum())
    code = "none" if not mixed else "one" if mixed == 1 else "all"
    return one_of(code, n=n, others=n - 1, mixed=mixed, last=subject.name(n - 1))


@registered(ANSWERS, "number", "half", "attention", "other")
def weights_of_feed_forward(subject: Subject) -> Key:
    """Share of the feed-forward network in a block's weights, if it is four times as wide as a token's vector."""
    spec = subject.trace.projections.spec
    d, d_ff = spec.d_model, WIDER * spec.d_model
    layer = AttentionSpec(d_model=d, n_heads=spec.H, n_kv_heads=spec.G, d_head=spec.d_k, d_value=spec.d_v)
    attention, network = parameters(layer).total, 2 * d * d_ff
    share = network / (attention + network)
    values: Values = {"d_model": d, "d_ff": d_ff, "attention": attention, "network": network, "part": Part(share)}
    return Key(right=(share,), values=values, traps={"half": 0.5, "attention": 1 - share})
