"""The same width cut into more and more heads: what stays and what grows; and heads that are not d / h wide."""

import streamlit as st
import torch

from pages.cost import recount
from pages.cost.context import FLOAT32_BYTES, CostContext, divisors, draw_sizes
from pages.cost.growth import COUNTED_TOKENS
from viz.core.cost.architectures import Sizes
from viz.core.cost.attention import attention_flops, parameters, softmax_exponentials
from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.modes import say
from viz.frame.show import show_lines, show_table
from viz.params import Flag
from viz.text import Translate
from viz.text.sizes import size

COLUMNS = ("heads", "d_k", "parameters", "projections", "pairs", "w_o", "total", "exponentials", "kept")

FIXED = Flag("cost_fixed")


def draw(context: CostContext) -> list[Check]:
    """Render the counts over the number of heads, then the table."""
    t, s, picture = context.t, context.sizes, st.container()
    draw_sizes(context)
    fixed = FIXED.toggle(t("cost.fixed", d_k=s.d // s.h), help=t("cost.fixed_help"))
    specs = _specs(s, fixed=fixed)
    if len(specs) > 1:
        with picture:
            _figure(t, s.n, specs)
    say(t("cost.fixed_says" if fixed else "cost.shared_says"))
    rows = [_row(s, spec) for spec in specs]
    columns = {name: st.column_config.TextColumn(t(f"cost.col_{name}"), pinned=name == "heads") for name in COLUMNS}
    show_table(rows, height="content", key="one_or_many", column_config=columns)
    st.caption(t("cost.heads_note"))
    return _checks(specs)


def _specs(s: Sizes, *, fixed: bool) -> list[AttentionSpec]:
    """The chosen number of heads, the powers of two that divide d, and the most there may be."""
    possible = divisors(s.d)
    numbers = sorted({h for h in possible if h & (h - 1) == 0} | {s.h, possible[-1]})
    return [AttentionSpec(d_model=s.d, n_heads=h, d_head=s.d // s.h if fixed else None) for h in numbers]


def _figure(t: Translate, n: int, specs: list[AttentionSpec]) -> None:
    """Each count as a multiple of what one head has."""
    heads = [spec.H for spec in specs]
    counts = {
        "parameters": [parameters(spec).total for spec in specs],
        "total": [attention_flops(spec, n_queries=n, n_keys=n).multiply_adds for spec in specs],
        "exponentials": [softmax_exponentials(spec, n_queries=n, n_keys=n) for spec in specs],
    }
    lines = [
        Line(
            name=t(f"cost.line_{name}"),
            style=i,
            values={h: amount_there / numbers[0] for h, amount_there in zip(heads, numbers, strict=True)},
        )
        for i, (name, numbers) in enumerate(counts.items())
    ]
    fig = growth(lines, size_title=t("cost.h"), value_title=t("cost.times_one"), letter="h", height=300)
    show_lines(fig, key="by_heads", alt=t("cost.heads_alt"))


def _row(s: Sizes, spec: AttentionSpec) -> dict[str, str]:
    flops = attention_flops(spec, n_queries=s.n, n_keys=s.n)
    exponentials = softmax_exponentials(spec, n_queries=s.n, n_keys=s.n)
    cells = (
        f"▸ {spec.H}" if s.h == spec.H else str(spec.H),
        amount(spec.d_k),
        amount(parameters(spec).total),
        amount((flops.q + flops.k + flops.v) // 2),
        amount((flops.scores + flops.mixing) // 2),
        amount(flops.output // 2),
        amount(flops.multiply_adds),
        amount(exponentials),
        size(FLOAT32_BYTES * exponentials),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def _checks(specs: list[AttentionSpec]) -> list[Check]:
    """Every row against the sizes of the matrices themselves, and against torch's counter."""
    weights = work = exponentials = 0
    n = COUNTED_TOKENS
    for spec in specs:
        expected = recount.attention_layer(spec.d_model, spec.H, spec.d_k, n)
        weights = max(weights, abs(_on_meta(spec).n_parameters() - parameters(spec).total))
        flops = attention_flops(spec, n_queries=n, n_keys=n).multiply_adds
        work = max(work, abs(expected.matrices + expected.pairs - flops))
        n_exponentials = softmax_exponentials(spec, n_queries=n, n_keys=n)
        exponentials = max(exponentials, abs(expected.exponentials - n_exponentials))
    return [
        check("cost.check_parameters", weights, 0),
        check("cost.check_heads_flops", work, 0, n=n),
        check("cost.check_heads_exponentials", exponentials, 0, n=n),
    ]


def _on_meta(spec: AttentionSpec) -> HeadWeights:
    """The four matrices of a layer, without numbers."""
    columns = spec.H * spec.d_k
    empty = {name: torch.empty(spec.d_model, columns, device="meta") for name in ("w_q", "w_k", "w_v")}
    return HeadWeights(spec=spec, w_o=torch.empty(columns, spec.d_model, device="meta"), **empty)
