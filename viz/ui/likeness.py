"""What a convolution cannot do, and how much like a convolution the heads of a model are."""

import streamlit as st
import torch

from viz.core.fit import window_weights
from viz.figures.lesson import lines
from viz.figures.matrix import matrix
from viz.ui import compute, limits, state
from viz.ui.controls import KEEP
from viz.ui.convolution import Bench
from viz.ui.layout import show

DEPTH = 12


def receptive_field(bench: Bench) -> None:
    """How far a stack of convolutions carries the first token, and a single layer of attention."""
    t, n = bench.t, len(bench.scene.labels)
    k = state.pick("k_stack", 3, (3, 5, 7))
    st.segmented_control(t("convolution.k_stack"), (3, 5, 7), key="k_stack", required=True, persist_state=KEEP)
    if n == 1:
        st.markdown(t("convolution.field_one"))
        return
    depth, half = range(1, DEPTH + 1), (k - 1) // 2
    series = {
        t("convolution.stack"): torch.tensor([min(n, 1 + layers * half) for layers in depth]),
        t("convolution.one_attention"): torch.full((DEPTH,), n),
    }
    sentence = t("convolution.field_found", k=k, n=n, layers=-(-(n - 1) // half))
    st.markdown(sentence)
    if bench.scene.choice.mask.kind != "own":
        st.caption(t("convolution.field_masked"))
    fig = lines(depth, series, at_title=t("convolution.layers"), value_title=t("convolution.sees"), height=240)
    show(fig, key="field", alt=sentence)


def likeness(bench: Bench) -> None:
    """The window that explains each head best, for every head of the source; one of them beside its window."""
    t, choice = bench.t, bench.scene.choice
    fits, n = compute.windows(choice.source, choice.mask), len(bench.scene.labels)
    found = [
        {
            "layer": i, "head": h, "offset": float(fit.offset[h]), "alpha": float(fit.alpha[h]),
            "share": float(fit.explained[h]), "inside": max(0.0, 1 - abs(float(fit.offset[h])) / n),
        }
        for i, fit in enumerate(fits)
        for h in range(len(fit.offset))
    ]  # fmt: skip
    found.sort(key=lambda row: -row["share"])
    true = [row for row in found if row["inside"] >= 0.5 and row["share"] > 0.5]
    sentence = t("convolution.likeness_none", n=len(found))
    if true:
        best = true[0]
        sentence = t(
            "convolution.likeness_found", n=len(found), layer=best["layer"], head=best["head"], many=len(true),
            offset=f"{best['offset']:.2f}", alpha=f"{best['alpha']:.2g}", share=f"{best['share']:.3f}",
        )  # fmt: skip
    st.markdown(sentence)
    names = {"layer": "%d", "head": "%d", "offset": "%.2f", "alpha": "%.2g", "share": "%.3f", "inside": "%.2f"}
    config = {
        name: st.column_config.NumberColumn(
            t(f"convolution.n_{name}"), help=t(f"convolution.n_{name}_help"), format=form
        )
        for name, form in names.items()
    }  # fmt: skip
    st.dataframe(found, column_config=config, hide_index=True, height=300, key="likeness")
    st.caption(t("convolution.likeness_note"))
    _beside(bench, fits[choice.layer])


def _beside(bench: Bench, fit: compute.WindowFit) -> None:
    """A head of the chosen layer, and the window closest to it."""
    scene, t = bench.scene, bench.t
    H, n = scene.trace.weights.shape[0], min(len(scene.labels), limits.WINDOW_TOKENS)
    head = state.whole("head", 1, 0, H - 1)
    if H > 1:
        st.slider(t("convolution.which_head", layer=scene.choice.layer), 0, H - 1, key="head", persist_state=KEEP)
    delta = torch.arange(float(n)) - torch.arange(float(n))[:, None]
    allowed = scene.trace.masked[0, :n, :n].isfinite()
    window = window_weights(fit.offset[head], fit.alpha[head], delta, allowed)
    sentence = t(
        "convolution.beside_found", offset=f"{float(fit.offset[head]):.2f}", alpha=f"{float(fit.alpha[head]):.2g}",
        share=f"{float(fit.explained[head]):.3f}",
    )  # fmt: skip
    st.markdown(sentence)
    for column, name, values in zip(
        st.columns(2), ("a_head", "its_window"), (scene.trace.weights[head, :n, :n], window), strict=True
    ):
        with column:
            st.markdown(f"**{t(f'convolution.{name}')}**")
            fig = matrix(
                values, scene.labels[:n], scene.labels[:n], kind="weights", row_title=t("axis.queries"),
                column_title=t("axis.keys"),
            )  # fmt: skip
            show(fig, key=name, alt=sentence)
