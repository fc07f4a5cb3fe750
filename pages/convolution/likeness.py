"""Similarity of the source's heads to a convolution: each beside its closest window."""

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


def draw(context: ConvolutionContext) -> list[Check]:
    """Draw a head of the chosen layer beside its closest window, and say which head of the source is most alike."""
    choice = context.scene.choice
    fits = own_compute.windows(choice.source, choice.mask)
    H = context.scene.trace.weights.shape[0]
    label = context.t("convolution.which_head", layer=context.scene.layer_number)
    picture = st.container()
    head = HEAD.slider(label, H, width=420)
    with picture:
        _beside_window(context, fits[choice.layer], head)
    _most_alike(context, fits, head)
    return _checks(context, fits[choice.layer], head)


def _beside_window(context: ConvolutionContext, fit: WindowFit, head: int) -> None:
    t, scene, n = context.t, context.scene, context.n
    delta = torch.arange(float(n)) - torch.arange(float(n))[:, None]
    visible = scene.trace.masked[:, :n, :n].isfinite().any(0)
    window = window_weights(fit.offset[head], fit.alpha[head], delta, visible)
    titles = t("convolution.a_head", layer=scene.layer_number, head=head), t("convolution.its_window")
    maps = torch.stack([scene.trace.weights[head, :n, :n], window])
    show_maps(t, titles, maps, context.labels, key="head_and_window", axes=t("axis.both"))
    say_first(context)
    _say_window(context, fit, head)


def _say_window(context: ConvolutionContext, fit: WindowFit, head: int) -> None:
    t, offset, alpha, share = context.t, *(float(part[head]) for part in (fit.offset, fit.alpha, fit.explained_share))
    values = {"offset": number(offset, 3), "alpha": number(alpha), "share": part(share)}
    say(t("convolution.beside_found", head=head, inside=part(inside(offset, len(context.scene.labels))), **values))


def inside(offset: float, n: int) -> float:
    """The share of n queries whose window has its centre inside the text."""
    return max(0.0, 1 - abs(offset) / n)


def _most_alike(context: ConvolutionContext, fits: tuple[WindowFit, ...], head: int) -> None:
    """Name the head most like its window, of those whose centre lies inside the text if there are any."""
    t, scene, H = context.t, context.scene, len(fits[0].offset)
    offsets, alphas, shares = (
        torch.cat([getattr(fit, name) for fit in fits]).tolist() for name in ("offset", "alpha", "explained_share")
    )
    heads = sorted(range(len(shares)), key=lambda i: -shares[i])
    within = [i for i in heads if inside(offsets[i], len(scene.labels)) >= 0.5]
    best, many = (within or heads)[0], sum(shares[i] > 0.5 for i in within)
    place = {"layer": scene.capture.number(best // H), "head": best % H}
    values = {"offset": number(offsets[best], 3), "alpha": number(alphas[best]), "share": part(shares[best])}
    say(t("convolution.likeness_found", n=len(heads), many=many, **place, **values))
    if (place["layer"], place["head"]) != (scene.layer_number, head):
        layer = place["layer"] if scene.choice.source.kind == "model" else None
        st.button(t("convolution.show_best", **place), key="show_best", on_click=_open, args=(place["head"], layer))


def _open(head: int, layer: int | None) -> None:
    HEAD.set(head)
    if layer is not None:
        LAYER.set(layer)


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
