"""Similarity of the source's heads to a convolution: each beside its closest window."""

from collections.abc import Callable
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution import compute as own_compute
from pages.convolution.context import ConvolutionContext, say_first
from viz.components.maps import show_maps
from viz.core.analysis.window_fit import ROWS, WindowFit, window_weights
from viz.frame.checks import Check, check, open_cells
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.shared import HEAD, LAYER
from viz.frame.show import show_table

ROW_HEIGHT = 35
"""Pixels of a line of Streamlit's table."""

Row = dict[str, Any]
"""A line of the table: a head, and its closest window."""


def draw(context: ConvolutionContext) -> list[Check]:
    """A head of the chosen layer beside its closest window; then every head of the source, the most alike first."""
    choice = context.scene.choice
    fits = own_compute.windows(choice.source, choice.mask)
    H = context.scene.trace.weights.shape[0]
    label = context.t("convolution.which_head", layer=context.scene.layer_number)
    picture = st.container()
    head = HEAD.slider(label, H, width=420)
    with picture:
        _beside_window(context, fits[choice.layer], head)
    _all_heads(context, table(fits, len(context.scene.labels), context.scene.capture.number), head)
    return _checks(context, fits[choice.layer], head)


def _beside_window(context: ConvolutionContext, fit: WindowFit, head: int) -> None:
    t, scene, n = context.t, context.scene, context.n
    delta = torch.arange(float(n)) - torch.arange(float(n))[:, None]
    visible = scene.trace.masked[:, :n, :n].isfinite().any(0)
    window = window_weights(fit.offset[head], fit.alpha[head], delta, visible)
    titles = t("convolution.a_head", layer=scene.layer_number, head=head), t("convolution.its_window")
    maps = torch.stack([scene.trace.weights[head, :n, :n], window])
    show_maps(t, titles, maps, context.labels, key="head_and_window", axes=t("convolution.axes"))
    say_first(context)
    _say_window(context, fit, head)


def _say_window(context: ConvolutionContext, fit: WindowFit, head: int) -> None:
    t, offset, alpha, share = context.t, *(float(part[head]) for part in (fit.offset, fit.alpha, fit.explained_share))
    values = {"offset": number(offset, 3), "alpha": number(alpha), "share": part(share)}
    say(t("convolution.beside_found", head=head, inside=part(inside(offset, len(context.scene.labels))), **values))


def inside(offset: float, n: int) -> float:
    """The share of n queries whose window has its centre inside the text."""
    return max(0.0, 1 - abs(offset) / n)


def table(fits: tuple[WindowFit, ...], n: int, number: Callable[[int], int] = int) -> list[Row]:
    """Every head with its closest window and the share that explains, the most alike first.

    ``number`` gives the model's own number of each layer.
    """
    rows = [
        {
            "layer": number(layer),
            "head": head,
            "share": float(fit.explained_share[head]),
            "offset": float(fit.offset[head]),
            "alpha": float(fit.alpha[head]),
            "inside": inside(float(fit.offset[head]), n),
        }
        for layer, fit in enumerate(fits)
        for head in range(len(fit.offset))
    ]
    return sorted(rows, key=lambda row: -row["share"])


def _all_heads(context: ConvolutionContext, rows: list[Row], head: int) -> None:
    t, choice = context.t, context.scene.choice
    inside_text = [row for row in rows if row["inside"] >= 0.5]
    best = (inside_text or rows)[0]
    place = {"layer": best["layer"], "head": best["head"]}
    values = {"offset": number(best["offset"], 3), "alpha": number(best["alpha"]), "share": part(best["share"])}
    many = sum(row["share"] > 0.5 for row in inside_text)
    say(t("convolution.likeness_found", n=len(rows), many=many, **place, **values))
    if (best["layer"], best["head"]) != (context.scene.layer_number, head):
        places = (best["head"], best["layer"] if choice.source.kind == "model" else None)
        st.button(t("convolution.show_best", **place), key="show_best", on_click=_open, args=places)
    height = min(300, ROW_HEIGHT * (len(rows) + 1) + 3)
    show_table(rows, column_config=_columns(context), height=height, key="likeness")


def _open(head: int, layer: int | None) -> None:
    HEAD.set(head)
    if layer is not None:
        LAYER.set(layer)


def _columns(context: ConvolutionContext) -> dict[str, Any]:
    forms = {"layer": "%d", "head": "%d", "offset": "%.2f", "alpha": "%.2g", "inside": "%.2f"}
    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(
            context.t(f"convolution.n_{name}"), help=context.t(f"convolution.n_{name}_help"), format=form
        )
        for name, form in forms.items()
    }
    columns["share"] = st.column_config.ProgressColumn(
        context.t("convolution.n_share"),
        help=context.t("convolution.n_share_help"),
        format="%.3f",
        min_value=0,
        max_value=1,
        width="medium",
    )
    return columns


def share_by_hand(weights: Tensor, visible: Tensor, offset: Tensor, alpha: Tensor) -> float:
    """1 - squared error of the window / squared distance from an even spread, on the rows that were compared."""
    n = len(weights)
    rows = torch.linspace(0, n - 1, min(n, ROWS)).round().long()
    scores = by_hand.window_scores(offset.reshape(1, 1), alpha.reshape(1), (n,), rows)[0]
    window = by_hand.softmax(scores.masked_fill(~visible[rows], -torch.inf))
    even = by_hand.softmax(torch.zeros_like(scores).masked_fill(~visible[rows], -torch.inf))
    actual = weights[rows].double()
    error, total = float((actual - window).square().sum()), float((actual - even).square().sum())
    return 1 - error / total if total > 0 else 0.0


def _checks(context: ConvolutionContext, fit: WindowFit, head: int) -> list[Check]:
    trace = context.scene.trace
    visible = open_cells(context.scene).any(0)
    expected_share = share_by_hand(trace.weights[head], visible, fit.offset[head], fit.alpha[head])
    off = abs(expected_share - float(fit.explained_share[head]))
    return [check("convolution.check_share", off, 1e-3, layer=context.scene.layer_number, head=head)]
