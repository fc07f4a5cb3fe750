"""The parts of the Heads page, in the order they are read."""

from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz.core.heads import share_kv
from viz.core.measures import message_norms
from viz.core.portrait import Portrait, baseline, portrait
from viz.figures.bars import bars
from viz.figures.blocks import mark_blocks
from viz.figures.matrix import matrix
from viz.models.notes import note
from viz.ui import compute, state
from viz.ui.controls import KEEP, examples
from viz.ui.grid import GridChoice
from viz.ui.layout import Scene, show

PARTS = ("row", "arrive", "numbers", "after", "off")
"""What there is to see of the chosen head; one at a time, for every figure is drawn anew when the layer changes."""
AFTER = ("contributions", "concat", "w_o", "output")


def view_controls(scene: Scene) -> compute.View:
    """Weights or scores; pieces merged; special tokens hidden. What a view changes is said beside it."""
    t = scene.t
    what = state.choice("what", "weights", ("weights", "scores"))
    merge, hide = state.flag("merge"), state.flag("hide")
    columns = st.columns([2, 2, 2], vertical_alignment="center")
    columns[0].segmented_control(
        t("heads.what"), ("weights", "scores"), key="what", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"heads.{code}"), label_visibility="collapsed",
    )  # fmt: skip
    columns[1].toggle(t("heads.merge"), key="merge", persist_state=KEEP, help=t("heads.merge_help"))
    columns[2].toggle(t("heads.hide"), key="hide", persist_state=KEEP, help=t("heads.hide_help"))
    if merge and what == "weights":
        st.caption(t("heads.view_merge"))
    if hide and what == "weights":
        st.caption(t("heads.view_hide"))
    return compute.View(what=what, merge=merge, hide=hide)


def head_note(scene: Scene, layer: int, head: int) -> None:
    """What is known of this head and what must not be read into it, with sentences to try."""
    known = note(scene.choice.source.heads_of, layer, head)
    if known is None:
        return
    with st.container(border=True):
        st.markdown(f"**{scene.t('heads.note', layer=layer, head=head)}** {known.text[scene.choice.lang]}")
        sentences = {example.code: example for example in examples()}
        for code in known.examples:
            st.button(
                f"{scene.t('heads.try')} {sentences[code].text}", key=f"try_{code}", on_click=state.put,
                args=("text", sentences[code].text), type="tertiary",
            )  # fmt: skip


def look_closer(scene: Scene, shown: compute.Shown, chosen: GridChoice) -> None:
    """One part of what there is to see of the chosen head, and the choice between them."""
    t = scene.t
    part = state.choice("part", PARTS[0], PARTS)
    st.subheader(t("heads.chosen", layer=chosen.layer, head=chosen.head), anchor=False)
    st.segmented_control(
        t("heads.part"), PARTS, key="part", required=True, persist_state=KEEP, label_visibility="collapsed",
        format_func=lambda code: t(f"heads.part_{code}"),
    )  # fmt: skip
    if chosen.temperature != 1:
        st.caption(t("heads.part_at_one", T=f"{chosen.temperature:g}"))
    if part == "row":
        row_bars(scene, shown, chosen.head, chosen.query or 0)
    else:
        {"arrive": arrivals, "numbers": numbers, "after": after, "off": switch_off}[part](scene, chosen.head)


def row_bars(scene: Scene, shown: compute.Shown, head: int, query: int) -> None:
    """The chosen row of the chosen head."""
    weights = st.session_state["what"] == "weights"
    t, row = scene.t, shown.values[head, query]
    best = int(row.nan_to_num(neginf=-torch.inf).argmax())
    if bool(row[best] > 0 if weights else row[best].isfinite()):
        key, value = shown.labels[best], f"{float(row[best]):.4f}"
        sentence = t(
            "heads.row_weights" if weights else "heads.row_scores", query=shown.labels[query], key=key, value=value
        )
    else:  # with tokens hidden it may still look at those
        sentence = t("heads.row_hidden" if st.session_state["hide"] else "head_grid.says_blind", q=shown.labels[query])
    st.text(sentence)
    show(
        bars(
            shown.labels, {t("heads.row"): row}, title=t("axis.keys"), top=1.0 if weights else None, height=230,
            value_title=t("heads.share" if weights else "heads.scores"),
        ),
        key="row", alt=sentence,
    )  # fmt: skip


def _masks(scene: Scene) -> tuple[Tensor, Tensor, Tensor]:
    tokens, trace = scene.capture.tokens, scene.trace
    n_queries, n_keys = trace.weights.shape[-2:]
    allowed = trace.masked.isfinite().any(0) if trace.allowed is not None else torch.ones(n_queries, n_keys).bool()
    return allowed, torch.tensor(tokens.ids), torch.tensor(tokens.special)


def numbers(scene: Scene, head: int) -> None:
    """Each head in a few numbers, and the same numbers for a head that spreads its weight evenly."""
    t = scene.t
    allowed, ids, special = _masks(scene)
    heads, even = portrait(scene.trace.weights, ids, special), baseline(allowed, ids, special)
    names = list(vars(heads))
    rows = [_row(heads, i, f"{'▸ ' if i == head else ''}{i}") for i in range(scene.trace.weights.shape[0])]
    rows.append(_row(even, 0, t("heads.even")))
    columns = {"head": st.column_config.TextColumn(t("heads.head"), pinned=True)} | {
        name: st.column_config.NumberColumn(t(f"heads.n_{name}"), help=t(f"heads.n_{name}_help"), format="%.2f")
        for name in names
    }
    st.dataframe(rows, column_config=columns, hide_index=True, height="content", key="numbers")
    st.caption(t("heads.numbers_note"))


def _row(of: Portrait, i: int, name: str) -> dict[str, Any]:
    numbers = {key: float(values[i]) for key, values in vars(of).items()}
    return {"head": name} | {key: None if value != value else value for key, value in numbers.items()}  # noqa: PLR0124


def arrivals(scene: Scene, head: int) -> None:
    """Look, then distrust: where a head looks, beside what arrives from there."""
    t, trace = scene.t, scene.trace
    st.markdown(t("heads.arrive_lead"))
    w_o = trace.projections.w_o.unflatten(0, (trace.projections.spec.H, -1))
    norms = message_norms(share_kv(trace.v, w_o.shape[0]), w_o)[head]
    weight = trace.weights[head].mean(0)
    message = (trace.weights[head] * norms).sum(0)
    message = message / message.sum().clamp(min=1e-30)
    st.markdown(
        t("heads.arrive_found", head=head, first=f"{float(weight[0]):.2f}", first_message=f"{float(message[0]):.2f}")
    )
    series = {t("heads.by_weight"): weight, t("heads.by_message"): message}
    alt = t("heads.arrive_alt", n=len(scene.labels))
    show(bars(scene.labels, series, title=t("axis.keys"), value_title=t("heads.share")), key="arrive", alt=alt)
    st.latex(rf"\lVert A_{{ij}}\, v_j\, W_O^{{({head})}} \rVert")


def after(scene: Scene, head: int) -> None:
    """From the heads' outputs to the layer's: concatenation, W_O, and the sum of contributions."""
    t, trace, spec = scene.t, scene.trace, scene.trace.projections.spec
    stage = state.choice("after", AFTER[0], AFTER)
    st.segmented_control(
        t("heads.part_after"), AFTER, key="after", required=True, persist_state=KEEP, label_visibility="collapsed",
        format_func=lambda code: t(f"heads.after_{code}"),
    )  # fmt: skip
    st.markdown(t(f"heads.after_{stage}_says", H=spec.H, d_v=spec.d_v, width=spec.H * spec.d_v, d_out=spec.d_out))
    names = [str(i) for i in range(spec.H)]
    if stage == "contributions":
        norms = trace.contributions.norm(dim=-1)
        total = trace.contributions.sum(0).norm(dim=-1, keepdim=True)
        fig = matrix(
            torch.cat([norms, total.T]), [*names, t("heads.sum")], scene.labels, kind="sizes",
            row_title=t("heads.head"), column_title=t("axis.tokens"), numbers=norms.numel() <= 400,
        )  # fmt: skip
    elif stage == "concat":
        columns = [str(i) for i in range(spec.H * spec.d_v)]
        fig = matrix(
            trace.concat,
            scene.labels,
            columns,
            kind="signed",
            row_title=t("axis.tokens"),
            column_title=t("axis.concat"),
        )
        fig = mark_blocks(fig, spec.H, spec.d_v, along="columns", chosen=head)
    elif stage == "w_o":
        w_o = trace.projections.w_o
        rows, columns = [str(i) for i in range(w_o.shape[0])], [str(i) for i in range(w_o.shape[1])]
        fig = matrix(w_o, rows, columns, kind="signed", row_title=t("axis.concat"), column_title=t("axis.d_out"))
        fig = mark_blocks(fig, spec.H, spec.d_v, along="rows", chosen=head)
    else:
        columns = [str(i) for i in range(spec.d_out)]
        fig = matrix(
            trace.output, scene.labels, columns, kind="signed", row_title=t("axis.tokens"), column_title=t("axis.d_out")
        )
    show(fig, key=f"after_{stage}", alt=t(f"heads.after_{stage}"))


def switch_off(scene: Scene, _: int) -> None:
    """Heads switched off, and what that changes: in this layer's output, in the end, in the predicted words."""
    t, choice, trace = scene.t, scene.choice, scene.trace
    H = trace.projections.spec.H
    off = state.numbers("off", 0, H - 1)
    st.pills(
        t("heads.off"), list(range(H)), selection_mode="multi", key="off", persist_state=KEEP,
        format_func=lambda i: f"{t('heads.head')} {i}",
    )  # fmt: skip
    if not off:
        st.caption(t("heads.off_none"))
        return
    heads_off = frozenset((choice.layer, i) for i in off)
    without = compute.read(choice.source, heads_off)
    whole = trace.output.norm(dim=-1)  # 0 where a query may look nowhere and no bias is added: nothing can change there
    here = trace.contributions[off].sum(0).norm(dim=-1) / whole
    end = (without.final - scene.capture.final).norm(dim=-1) / scene.capture.final.norm(dim=-1)
    if choice.mask.kind != "own":
        st.caption(t("heads.off_mask"))
    series = {t("heads.off_here"): here, t("heads.off_end"): end}
    found = t("heads.off_nowhere", end=f"{float(end.mean()):.2f}")
    if bool((whole > 0).any()):
        found = t("heads.off_found", here=f"{float(here[whole > 0].mean()):.2f}", end=f"{float(end.mean()):.2f}")
    st.markdown(found)
    show(
        bars(scene.labels, series, title=t("axis.tokens"), value_title=t("heads.change")), key="change", alt=found
    )  # fmt: skip
    for before, now in zip(scene.capture.predictions, without.predictions, strict=True):
        st.markdown(t("heads.predictions", token=before.at))
        st.dataframe(
            {
                t("heads.predicted_before"): before.labels, t("heads.p_before"): before.probabilities,
                t("heads.predicted_now"): now.labels, t("heads.p_now"): now.probabilities,
            },
            hide_index=True,
        )  # fmt: skip
