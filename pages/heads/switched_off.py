"""Heads switched off, and what that changes: in this layer's output, in the end, in the predicted words."""

import streamlit as st
from torch.nn.functional import linear

from pages.heads.context import HeadsContext
from viz.components.bars import BarChart
from viz.core.analysis.checks import largest, random_place
from viz.frame import compute
from viz.frame.checks import Check, check
from viz.frame.compute import recount
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.scene import Scene
from viz.frame.shared import HEADS_OFF
from viz.frame.show import show_bars, show_table
from viz.models.capture import Head
from viz.params import Scope

OFF = HEADS_OFF.variant(scope=Scope("heads"))


def draw(context: HeadsContext) -> list[Check]:
    """Heads switched off, and what that changes: in this layer's output, in the end, in the predicted words."""
    scene = context.scene
    t, choice, trace = scene.t, scene.choice, scene.trace
    H = trace.projections.spec.H
    selected = OFF.pills(t("heads.off"), H, says=lambda i: f"{t('heads.head')} {i}")
    off = selected or [context.head]
    heads_off = frozenset((choice.layer, i) for i in off)
    without = compute.read(choice.source, heads_off)
    full_norm = trace.output.norm(dim=-1)
    # It is 0 in fully masked rows without a bias, where nothing can change.
    added = trace.contributions[off].sum(0).norm(dim=-1) / full_norm
    end = (without.final - scene.capture.final).norm(dim=-1) / scene.capture.final.norm(dim=-1)
    if choice.mask.kind != "own":
        st.caption(t("heads.off_mask"))
    series = {t("heads.off_here"): added, t("heads.off_end"): end}
    in_layer = float(added[full_norm > 0].mean().nan_to_num())
    sentence = t("heads.off_found", n=len(off), here=share(in_layer), end=share(float(end.mean())))
    show_bars(
        BarChart(scene.labels, series, title=t("axis.tokens"), value_title=t("heads.change")),
        key="change",
        alt=sentence,
    )
    say(sentence)
    if not selected:
        st.caption(t("heads.off_none", head=context.head))
    else:
        # An empty element keeps the place, so that elements below are neither moved nor sent again.
        st.empty()
    for before, now in zip(scene.capture.predictions, without.predictions, strict=True):
        claim = "predictions" if "decoder" in scene.capture.stacks else "predictions_masked"
        say(t(f"heads.{claim}", token=before.at))
        show_table(
            {
                t("heads.predicted_before"): before.labels,
                t("heads.p_before"): before.probabilities,
                t("heads.predicted_now"): now.labels,
                t("heads.p_now"): now.probabilities,
            },
        )
    silenced = trace.concat.clone().unflatten(-1, (H, -1))
    silenced[:, off] = 0
    by_torch = linear(silenced.flatten(-2), trace.projections.w_o.T, trace.projections.b_o)
    error = (trace.output - trace.contributions[off].sum(0) - by_torch).abs().max()
    return [check("heads.check_off", error, 1e-5 * largest(trace.output)), *_end_checks(scene, heads_off)]


def _end_checks(scene: Scene, heads_off: frozenset[Head]) -> list[Check]:
    """A random token's state behind the layer without these heads, where it is known, by the model's own layer."""
    source, layer = scene.choice.source, scene.choice.layer
    place = random_place(len(scene.capture.tokens.ids), source, layer, "without")
    off = recount.without_error(source, layer, heads_off, place)
    if off is None:
        return []
    return [check("heads.check_end", off, 1e-4, layer=scene.layer_number, n=len(heads_off), place=place)]
