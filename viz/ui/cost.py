"""The first parts of the Cost page: sizes, the table, how costs grow, the parts of a count, one head or many."""

from dataclasses import replace

import streamlit as st
import torch

from viz.core.architectures import ARCHITECTURES, Architecture, Sizes, crossing, gru, lstm, named
from viz.core.cost import attention_flops, parameters, softmax_exponentials, streaming_numbers
from viz.core.heads import HeadWeights
from viz.core.spec import AttentionSpec
from viz.core.timed_layers import CANDIDATES
from viz.figures.growth import Line, growth
from viz.text import Translate
from viz.ui import compute, state
from viz.ui.amounts import amount, share, size
from viz.ui.controls import KEEP
from viz.ui.layout import Check, Scene, check, show

LONGEST, WIDEST = 10**12, 10**6
KERNELS = (1, 3, 5, 7, 9, 15, 31, 63, 127)
COUNTED_TOKENS = 11
USUAL_HEADS, MOST_HEADS = 8, 1024
FLOAT32_BYTES = 4


def _divisors(d: int) -> list[int]:
    return [h for h in range(1, min(d, MOST_HEADS) + 1) if d % h == 0] if d else [1]


def controls(scene: Scene) -> Sizes:
    """The sizes of the whole page; what cannot be is a sentence, and the page ends there."""
    t = scene.t
    n, d = state.whole("cost_n", 512, 0, LONGEST), state.whole("cost_d", 512, 0, WIDEST)
    k = state.pick("cost_k", 3, KERNELS)
    heads = _divisors(d)
    h = state.pick("cost_h", max(h for h in heads if h <= USUAL_HEADS), heads)
    columns = st.columns(4)
    for column, name, most in ((columns[0], "n", LONGEST), (columns[1], "d", WIDEST)):
        column.number_input(
            t(f"cost.{name}"), 0, most, key=f"cost_{name}", persist_state=KEEP, help=t(f"cost.{name}_help")
        )
    columns[2].select_slider(t("cost.k"), KERNELS, key="cost_k", persist_state=KEEP, help=t("cost.k_help"))
    if len(heads) > 1:
        columns[3].select_slider(t("cost.h"), heads, key="cost_h", persist_state=KEEP, help=t("cost.h_help"))
    for name, value in (("n", n), ("d", d)):
        if value < 1:
            st.error(t("cost.too_small", name=name, value=value))
            state.end()
            st.stop()
    return Sizes(n=n, d=d, k=k, h=h)


def checks(sizes: Sizes) -> list[Check]:
    """The counts of this page against torch's own counter and against the sizes of the matrices themselves."""
    counted = compute.counted_flops(sizes.d, sizes.h, sizes.k, COUNTED_TOKENS)
    at = replace(sizes, n=COUNTED_TOKENS)
    off = max(abs(counted[name] - candidate.flops(at)) for name, candidate in CANDIDATES.items())
    spec = AttentionSpec(d_model=sizes.d, n_heads=sizes.h)
    columns = spec.H * spec.d_k
    empty = {name: torch.empty(sizes.d, columns, device="meta") for name in ("w_q", "w_k", "w_v")}
    weights = HeadWeights(spec=spec, w_o=torch.empty(columns, sizes.d, device="meta"), **empty)
    return [
        check("cost.check_flops", off, 0, n=COUNTED_TOKENS, d=sizes.d, h=sizes.h, k=sizes.k),
        check("cost.check_parameters", abs(weights.n_parameters() - parameters(spec).total), 0),
    ]


def table(scene: Scene, s: Sizes) -> None:
    """Vaswani et al. 2017, table 1, with the exact numbers at these sizes beside the orders."""
    t = scene.t
    head = [t(f"cost.{name}") for name in ("layer", "order", "at_sizes", "exact", "waits", "path")]
    rows = [head, ["---"] * len(head)]
    for one in ARCHITECTURES:
        orders = [f"$O({formula})$" for formula in one.formulas]
        rows.append([
            t(f"cost.{one.name}"), orders[0], amount(one.order(s)), amount(one.count(s)),
            f"{orders[1]} = {amount(one.waits(s))}", f"{orders[2]}: {amount(one.longest_path(s))}",
        ])  # fmt: skip
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))
    st.caption(t("cost.table_note"))
    with st.expander(t("cost.slips_title")):
        st.markdown(t("cost.slips"))


def _lengths(*sizes: int) -> list[int]:
    """Powers of two that reach beyond all of these sizes, about two dozen at most."""
    last = max(*sizes, 64).bit_length() + 1
    step = -(-last // 24)
    return [2**power for power in range(0, last + step, step)]


def _exact(t: Translate) -> list[tuple[str, Architecture]]:
    """What the curves of exact counts show: the table's layers, and recurrences as they are used."""
    shown = [one for one in ARCHITECTURES if one.name != "dilated"]
    more = {"gru": gru, "lstm": lstm}
    return [(t(f"cost.{one.name}"), one) for one in shown] + [
        (name.upper(), replace(named("recurrence"), name=name, multiply_adds=count)) for name, count in more.items()
    ]


def curves(scene: Scene, s: Sizes) -> None:
    """Cost over length, with the crossings."""
    t = scene.t
    how = state.choice("cost_how", "order", ("order", "exact"))
    st.segmented_control(
        t("cost.how"), ("order", "exact"), key="cost_how", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"cost.how_{code}"), label_visibility="collapsed",
    )  # fmt: skip
    lengths = _lengths(s.n, s.d, s.k * s.d)
    shown = [(t(f"cost.{one.name}"), one) for one in ARCHITECTURES if one.name != "dilated"]
    shown = shown if how == "order" else _exact(t)

    def value(one: Architecture, at: Sizes) -> int:
        return one.order(at) if how == "order" else one.count(at)

    lines = [
        Line(name=name, style=i, values={n: value(one, replace(s, n=n)) for n in lengths})
        for i, (name, one) in enumerate(shown)
    ]
    attention = named("self_attention")

    def meets(other: Architecture) -> int | None:
        return crossing(lambda at: value(attention, at), lambda at: value(other, at), s)

    found = {name: meets(one) for name, one in shown if one.name not in ("self_attention", "window")}
    met = {n: [name for name, at in found.items() if at == n] for n in found.values() if n and 1 < n <= lengths[-1]}
    marks = {n: t("cost.crosses", name=", ".join(names), n=amount(n)) for n, names in met.items()}
    by = "_order" if how == "order" else ""
    for name, n in found.items():
        st.markdown(t(f"cost.crossing{by}_1" if n == 1 else f"cost.crossing{by}", name=name, n=amount(n)))
    alt = t("cost.curves_alt", d=s.d, k=s.k)
    show(growth(lines, size_title=t("cost.n"), value_title=t("cost.multiply_adds"), marks=marks), key="growth", alt=alt)
    st.caption(t(f"cost.how_{how}_note"))


PART_FORMULAS = {
    "self_attention": {"projections": "3nd^2", "scores": "n^2d", "mixing": "n^2d", "output": "nd^2"},
    "window": {"projections": "3nd^2", "scores": r"\approx knd", "mixing": r"\approx knd", "output": "nd^2"},
    "convolution": {"kernel": "knd^2"},
    "recurrence": {"input": "nd^2", "state": "nd^2"},
}


def parts(scene: Scene, s: Sizes) -> None:
    """Every count taken apart."""
    t = scene.t
    head = [t(f"cost.{name}") for name in ("layer", "part", "formula", "multiply_adds", "share")]
    rows = [head, ["---"] * len(head)]
    for name, formulas in PART_FORMULAS.items():
        counts = named(name).multiply_adds(s)
        total = sum(counts.values())
        rows += [
            [t(f"cost.{name}"), t(f"cost.part_{part}"), f"${formula}$", amount(counts[part]),
             share(counts[part] / total)]
            for part, formula in formulas.items()
        ]  # fmt: skip
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))
    flops = amount(2 * named("self_attention").count(s))
    exponentials = amount(softmax_exponentials(AttentionSpec(d_model=s.d, n_heads=s.h), n_queries=s.n, n_keys=s.n))
    st.caption(t("cost.parts_note", flops=flops, exponentials=exponentials))


def memory(scene: Scene, s: Sizes) -> None:
    """The weights of all heads kept at once, against what a streaming softmax keeps."""
    t, spec = scene.t, AttentionSpec(d_model=s.d, n_heads=s.h)

    def kept(n: int) -> int:
        return FLOAT32_BYTES * softmax_exponentials(spec, n_queries=n, n_keys=n)

    def streamed(n: int) -> int:
        return FLOAT32_BYTES * streaming_numbers(spec, n_queries=n, n_keys=n)

    st.markdown(t("cost.memory_found", n=amount(s.n), h=s.h, kept=size(kept(s.n)), streamed=size(streamed(s.n))))
    lengths = _lengths(s.n, s.d)
    lines = [
        Line(name=t(f"cost.{name}"), style=i, unit=" B", values={n: count(n) for n in lengths})
        for i, (name, count) in enumerate((("kept", kept), ("streamed", streamed)))
    ]
    fig = growth(lines, size_title=t("cost.n"), value_title=t("cost.bytes"), marks={s.n: f"n = {amount(s.n)}"})
    show(fig, key="memory", alt=t("cost.memory_alt", h=s.h))
    st.caption(t("cost.memory_note"))


def one_or_many(scene: Scene, s: Sizes) -> None:
    """The same width d cut into more and more heads: what stays and what grows; and heads that are not d / h wide."""
    t = scene.t
    fixed = state.flag("cost_fixed")
    d_k = s.d // s.h
    st.toggle(t("cost.fixed", d_k=d_k), key="cost_fixed", persist_state=KEEP, help=t("cost.fixed_help"))
    names = ("heads", "d_k", "parameters", "projections", "pairs", "w_o", "total", "exponentials", "kept")
    shown = sorted({h for h in _divisors(s.d) if h & (h - 1) == 0} | {s.h, _divisors(s.d)[-1]})
    rows = []
    for h in shown:
        spec = AttentionSpec(d_model=s.d, n_heads=h, d_head=d_k if fixed else None)
        flops = attention_flops(spec, n_queries=s.n, n_keys=s.n)
        exponentials = softmax_exponentials(spec, n_queries=s.n, n_keys=s.n)
        cells = (
            f"▸ {h}" if h == s.h else str(h), str(spec.d_k), amount(parameters(spec).total),
            amount((flops.q + flops.k + flops.v) // 2), amount((flops.scores + flops.mixing) // 2),
            amount(flops.output // 2), amount(flops.multiply_adds), amount(exponentials),
            size(FLOAT32_BYTES * exponentials),
        )  # fmt: skip
        rows.append(dict(zip(names, cells, strict=True)))
    st.dataframe(
        rows, hide_index=True, height="content", key="one_or_many",
        column_config={name: st.column_config.TextColumn(t(f"cost.col_{name}")) for name in names},
    )  # fmt: skip
    st.markdown(t("cost.fixed_says" if fixed else "cost.shared_says"))
    st.latex(r"3nd\,(h d_k) + 2n^2 (h d_k) + n (h d_k)\, d \;=\; 4nd^2 + 2n^2 d \quad\text{if } h d_k = d")
