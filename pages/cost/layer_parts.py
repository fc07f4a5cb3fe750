"""Parts of a count: the work with the weight matrices, and the work for every pair of words."""

from dataclasses import replace

import streamlit as st

from pages.cost import recount
from pages.cost.context import CostContext, draw_sizes, powers_of_two
from pages.cost.growth import COUNTED_TOKENS
from viz.core.cost.architectures import Sizes, find_architecture
from viz.core.cost.attention import shortest, softmax_exponentials
from viz.core.masks import window
from viz.core.spec import AttentionSpec
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.modes import say
from viz.frame.show import show_lines
from viz.text import Translate

FORMULAS = {
    "self_attention": {"projections": "3nd^2", "scores": "n^2d", "mixing": "n^2d", "output": "nd^2"},
    "window": {"projections": "3nd^2", "scores": r"\approx knd", "mixing": r"\approx knd", "output": "nd^2"},
    "convolution": {"kernel": "knd^2"},
    "recurrence": {"input": "nd^2", "state": "nd^2"},
}
MASKED_TOKENS = 200
"""A mask is counted cell by cell up to this length; it is longer than every window that can be chosen."""


def draw(context: CostContext) -> list[Check]:
    """Render the share of self-attention for pairs of words, over the length; then the parts of every count."""
    t, s = context.t, context.sizes
    half = shortest(lambda n: _pairs(replace(s, n=n)) >= _matrices(replace(s, n=n)))
    lengths = powers_of_two(s.n, 4 * s.d)
    shares = {n: _pairs(at) / (_pairs(at) + _matrices(at)) for n in lengths for at in [replace(s, n=n)]}
    near = {
        n: _pairs(at, "window") / find_architecture("window").count(at) for n in lengths for at in [replace(s, n=n)]
    }
    lines = [
        Line(name=t("cost.parts_pairs"), style=0, values=shares),
        Line(name=t("cost.parts_matrices"), style=2, values={n: 1 - pairs for n, pairs in shares.items()}),
        Line(name=t("cost.parts_window"), style=1, values=near),
    ]
    fig = growth(
        lines,
        size_title=t("cost.n"),
        value_title=t("cost.share"),
        marks={s.n: f"n = {amount(s.n)}"},
        share=True,
        height=320,
    )
    sentence = t("cost.parts_found", n=amount(half))
    show_lines(fig, key="parts", alt=sentence)
    draw_sizes(context)
    say(sentence)
    _table(t, s)
    exponentials = softmax_exponentials(AttentionSpec(d_model=s.d, n_heads=s.h), n_queries=s.n, n_keys=s.n)
    flops = amount(2 * find_architecture("self_attention").count(s))
    st.caption(t("cost.parts_note", flops=flops, exponentials=amount(exponentials)))
    return _checks(s, half)


def _pairs(s: Sizes, name: str = "self_attention") -> int:
    counts = find_architecture(name).multiply_adds(s)
    return counts["scores"] + counts["mixing"]


def _matrices(s: Sizes) -> int:
    counts = find_architecture("self_attention").multiply_adds(s)
    return counts["projections"] + counts["output"]


def _table(t: Translate, s: Sizes) -> None:
    head = [t(f"cost.{name}") for name in ("layer", "part", "formula", "multiply_adds", "share")]
    rows = [head, ["---"] * len(head)]
    for name, formulas in FORMULAS.items():
        counts = find_architecture(name).multiply_adds(s)
        total = sum(counts.values())
        for i, (part, formula) in enumerate(formulas.items()):
            layer = "" if i else t(f"cost.{name}")
            count, of_all = amount(counts[part]), share(counts[part] / total)
            rows.append([layer, t(f"cost.part_{part}"), f"${formula}$", count, of_all])
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))


def _checks(s: Sizes, half: int | None) -> list[Check]:
    """Against torch's counter, operation by operation, and against the cells that the window's mask leaves open."""
    at = replace(s, n=COUNTED_TOKENS)
    expected = recount.attention_layer(s.d, s.h, s.d // s.h, at.n)
    off = abs(expected.matrices - _matrices(at)) + abs(expected.pairs - _pairs(at))
    spec = AttentionSpec(d_model=s.d, n_heads=s.h)
    exponentials = softmax_exponentials(spec, n_queries=at.n, n_keys=at.n)
    return [
        check("cost.check_parts", off, 0, n=at.n),
        pairs_check(s),
        check("cost.check_exponentials", abs(expected.exponentials - exponentials), 0, n=at.n, h=s.h),
        check("cost.check_half", abs((half or 0) - 2 * s.d), 0),
    ]


def pairs_check(s: Sizes) -> Check:
    """The pairs of windowed attention against the mask itself."""
    at = replace(s, n=min(s.n, MASKED_TOKENS))
    cells = int(window(at.n, at.n, at.reach).sum())
    return check(
        "cost.check_pairs",
        abs(find_architecture("window").multiply_adds(at)["scores"] - cells * at.d),
        0,
        n=at.n,
        k=at.k,
    )
