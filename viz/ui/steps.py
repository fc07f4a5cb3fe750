"""The nine steps of one head, each with its words, its formula and its matrix."""

from collections.abc import Callable

import streamlit as st
import torch

from viz.core.checks import largest
from viz.core.heads import project
from viz.figures.bars import bars
from viz.figures.palette import HEADS
from viz.ui import breaking, formulas, layout, lens, pictures
from viz.ui.walk import ALL, ORDER, Walk


def show(walk: Walk) -> None:
    """The chosen step, or all of them."""
    for n in ORDER[:-1] if walk.step == ALL else (walk.step,):
        words, formula, draw = STEPS[n]
        st.subheader(f"{n}. {walk.t(f'step_by_step.title_{n}')}", anchor=False)
        st.markdown(walk.t(f"step_by_step.says_{words}"))
        st.latex(formula(walk))
        draw(walk)
    if walk.step == ALL:
        st.subheader(walk.t("step_by_step.lens_all"), anchor=False)
        lens.pair(walk)
        lens.chain(walk, ORDER)
        lens.dot_product(walk)
        lens.softmax_row(walk)
        lens.weighted_sum(walk)


def _tokens(walk: Walk) -> None:
    width = pictures.dimensions(walk, "d_model", walk.spec.d_model)
    pictures.picture(walk, "X", "X", walk.trace.x, pictures.tokens(walk), width)


def _learned(walk: Walk) -> None:
    own, t = walk.own, walk.t
    parts = (
        ("Q", walk.head, own.w_q, own.b_q),
        ("K", walk.group, own.w_k, own.b_k),
        ("V", walk.group, own.w_v, own.b_v),
    )
    if walk.spec.kind != "MHA":
        first, size = walk.group * walk.spec.H // walk.spec.G, walk.spec.H // walk.spec.G
        st.markdown(t("step_by_step.shared", group=walk.group, first=first, last=first + size - 1, size=size))
    st.markdown(t("step_by_step.no_bias" if own.b_q is own.b_k is own.b_v is None else "step_by_step.bias"))
    for column, (letter, index, matrix, bias) in zip(st.columns(3), parts, strict=True):
        rows = pictures.dimensions(walk, "d_model", matrix.shape[0])
        columns = pictures.dimensions(walk, "d_v" if letter == "V" else "d_k", matrix.shape[1])
        with column:
            pictures.picture(
                walk, f"W_{letter}", formulas.weight(f"W_{letter}", index), matrix, rows, columns, beside=3
            )
            if bias is not None:
                one = pictures.Axis([f"b_{letter}"], "")
                pictures.picture(
                    walk, f"b_{letter}", formulas.weight(f"b_{letter}", index), bias[None], one, columns, beside=3
                )


def _projected(walk: Walk) -> None:
    if walk.rotary:
        before, after = project(walk.trace.x, walk.own.w_q, walk.own.b_q)[walk.query], walk.cell.q
        st.markdown(
            walk.t(
                "step_by_step.rotary", i=walk.query, before=f"{float(before.norm()):.4f}",
                after=f"{float(after.norm()):.4f}", change=f"{float((after - before).norm()):.4f}",
            )
        )  # fmt: skip
    trace = walk.trace
    matrices = {"Q": trace.q[walk.head], "K": trace.k[walk.group], "V": trace.v[walk.group]}
    asked = {"Q": (pictures.queries, walk.query), "K": (pictures.keys, walk.key), "V": (pictures.keys, walk.key)}
    for column, (letter, values) in zip(st.columns(3), matrices.items(), strict=True):
        columns = pictures.dimensions(walk, "d_v" if letter == "V" else "d_k", values.shape[1])
        rows, row = asked[letter]
        with column:
            pictures.picture(walk, letter, letter, values, rows(walk), columns, beside=3, row=row)


def _with_the_lens(draw: Callable[[Walk], None], *lines: int) -> Callable[[Walk], None]:
    """The chosen cell by hand, as far as these steps go; then the map it is a cell of, and what is behind it."""

    def all_of_it(walk: Walk) -> None:
        if walk.step == ALL:
            draw(walk)
            return
        lens.pair(walk)
        lens.chain(walk, lines)
        draw(walk)
        for detail in DETAILS.get(walk.step, ()):
            detail(walk)
        with st.expander(walk.t("step_by_step.lens_all")):
            lens.chain(walk, ORDER)

    return all_of_it


def _scores(walk: Walk) -> None:
    pictures.pair_map(walk, "S", walk.trace.scores[walk.head], "signed")


def _scaled(walk: Walk) -> None:
    scores, scaled, t = walk.trace.scores[walk.head], walk.trace.scaled[walk.head], walk.t
    kind = "root" if formulas.by_root(walk) else ("one" if walk.trace.scale == 1 else "other")
    kind = "single" if scores.numel() == 1 and kind == "root" else kind
    spread = {"before": f"{float(scores.std(correction=0)):.3f}", "after": f"{float(scaled.std(correction=0)):.3f}"}
    st.markdown(t(f"step_by_step.scale_{kind}", scale=f"{walk.trace.scale:.6g}", d_k=walk.spec.d_k, **spread))
    pictures.pair_map(walk, "S_scaled", scaled, "signed", limit=_limit(walk))


def _limit(walk: Walk) -> float:
    """The scale of colours of steps 5 and 6, the same for both."""
    return largest(walk.trace.scaled[walk.head])


def _masked(walk: Walk) -> None:
    masked, t = walk.trace.masked[walk.head], walk.t
    blocked = int((masked == -torch.inf).sum())
    blind = int((masked == -torch.inf).all(-1).sum())
    none = "none_blocked" if walk.scene.choice.mask.kind == "own" else "none_blocked_mask"
    st.markdown(t(f"step_by_step.{'blocked' if blocked else none}", n=blocked, of=masked.numel()))
    if blind:
        st.warning(t("step_by_step.blind", n=blind))
    for name in ("score_mod", "bias"):
        if walk.options[name] is not None:
            st.markdown(t(f"step_by_step.has_{name}"))
    pictures.pair_map(walk, "S_masked", masked, "signed", limit=_limit(walk))


def _weights(walk: Walk) -> None:
    pictures.pair_map(walk, "A", walk.trace.weights[walk.head], "weights")


def _output(walk: Walk) -> None:
    values = walk.trace.head_outputs[walk.head]
    columns = pictures.dimensions(walk, "d_v", walk.spec.d_v)
    pictures.picture(walk, "Z", "Z", values, pictures.queries(walk), columns, row=walk.query)


def _leaves(walk: Walk) -> None:
    t, trace, i = walk.t, walk.trace, walk.query
    lengths = trace.contributions[:, i].norm(dim=-1)
    own, whole = float(lengths[walk.head]), float(trace.output[i].norm())
    st.markdown(t("step_by_step.lengths", i=i, head=walk.head, own=f"{own:.4f}", whole=f"{whole:.4f}", H=walk.spec.H))
    columns = pictures.dimensions(walk, "d_out", walk.spec.d_out)
    contribution = trace.contributions[walk.head]
    pictures.picture(walk, "contribution", "C", contribution, pictures.tokens(walk), columns, row=i)
    left, right = st.columns(2)
    with left:
        rows = pictures.dimensions(walk, "d_v", walk.spec.d_v)
        pictures.picture(walk, "W_O", formulas.weight("W_O", walk.head), walk.own.w_o, rows, columns, beside=2)
    with right:
        title = t("step_by_step.all_heads", i=i)
        st.markdown(title)
        colours = [HEADS[0] if head == walk.head else HEADS[10] for head in range(walk.spec.H)]
        names = [str(head) for head in range(walk.spec.H)]
        fig = bars(
            names,
            {title: lengths},
            title=t("step_by_step.head"),
            value_title=t("step_by_step.axis_length"),
            colours=colours,
        )
        alt = t("step_by_step.lengths", i=i, head=walk.head, own=f"{own:.4f}", whole=f"{whole:.4f}", H=walk.spec.H)
        layout.show(fig, key="lengths", alt=alt)


def checks(walk: Walk) -> list[layout.Check]:
    """What must hold of any head, that Q, K, V are what the formula says, and that the lens adds up."""
    trace, own = walk.trace, walk.own
    pairs = {
        "V": (project(trace.memory, own.w_v, own.b_v), trace.v[walk.group]),
        "K": (project(trace.memory, own.w_k, own.b_k), trace.k[walk.group]),
        "Q": (project(trace.x, own.w_q, own.b_q), trace.q[walk.head]),
    }
    shown = ("V",) if walk.rotary else ("Q", "K", "V")
    error = max(float((pairs[letter][0] - pairs[letter][1]).abs().max()) for letter in shown)
    tolerance = 1e-5 * max(largest(pairs[letter][1]) for letter in shown)
    key = "step_by_step.check_v" if walk.rotary else "step_by_step.check_qkv"
    return [*layout.attention_checks(trace), layout.check(key, error, tolerance), *lens.checks(walk)]


DETAILS: dict[int, tuple[Callable[[Walk], None], ...]] = {
    4: (lens.dot_product,),
    5: (breaking.random_vectors,),
    7: (lens.softmax_row,),
    8: (lens.weighted_sum,),
}
STEPS: dict[int, tuple[str, Callable[[Walk], str], Callable[[Walk], None]]] = {
    1: ("x", formulas.tokens, _tokens),
    2: ("w", formulas.learned, _learned),
    3: ("qkv", formulas.projected, _projected),
    4: ("scores", formulas.scores, _with_the_lens(_scores, 4)),
    5: ("scaled", formulas.scaled, _with_the_lens(_scaled, 4, 5)),
    6: ("masked", formulas.masked, _with_the_lens(_masked, 5, 6)),
    7: ("weights", formulas.weights, _with_the_lens(_weights, 7)),
    8: ("output", formulas.output, _with_the_lens(_output, 8)),
    9: ("leaves", formulas.leaves, _leaves),
}
