"""Locality by depth: entropy and mean distance of the heads, layer by layer."""

import numpy as np
import streamlit as st
import torch

from pages.stacking import compute
from pages.stacking.context import StackingContext, layer_options, weights_check
from viz.core.analysis.checks import added_to_scores
from viz.core.analysis.head_statistics import HeadStatistics
from viz.figures.curves import Curve, depth
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import blocks
from viz.frame.format import at_most, number
from viz.frame.modes import say
from viz.frame.show import show_lines

Layers = tuple[HeadStatistics, ...]


def draw(context: StackingContext) -> list[Check]:
    """Draw the heads' entropy and mean distance layer by layer, beside an even spread."""
    t, special = context.t, any(context.tokens.special)
    portraits, even = compute.portraits(context.source, context.plan, context.mask)
    curves = {"entropy": _entropy(context, portraits, even), "distance": _distance(context, portraits, even)}
    for column, (code, lines) in zip(st.columns(2), curves.items(), strict=True):
        title = t(f"stacking.locality.{code}")
        with column:
            fig = depth(lines, x_title=t("stacking.layer"), y_title=title)
            show_lines(fig, key=f"broad_{code}", alt=t("stacking.locality.alt", what=title))
    distance = "plain_distance" if special else "distance"
    _verdict(context, {"entropy": curves["entropy"][0], distance: curves["distance"][int(special)]})
    return _checks(context, portraits, even)


def _entropy(context: StackingContext, portraits: Layers, even: Layers) -> list[Curve]:
    t = context.t
    heads = _band(t("stacking.locality.heads"), portraits, "entropy")
    return [heads, _baseline(t("stacking.locality.even"), even, "entropy")]


def _distance(context: StackingContext, portraits: Layers, even: Layers) -> list[Curve]:
    """Return the curves with special tokens, if there are any, and without."""
    t, special = context.t, any(context.tokens.special)
    names = [("all_tokens" if special else "heads", "even", "distance")]
    if special:
        names.append(("plain_tokens", "even_plain", "distance_plain"))
    return [
        *(_band(t(f"stacking.locality.{name}"), portraits, measure) for name, _, measure in names),
        *(_baseline(t(f"stacking.locality.{name}"), even, measure) for _, name, measure in names),
    ]


def _band(name: str, portraits: Layers, measure: str) -> Curve:
    heads = torch.stack([getattr(layer, measure) for layer in portraits])
    return Curve(name=name, values=heads.mean(-1), low=heads.amin(-1), high=heads.amax(-1))


def _baseline(name: str, even: Layers, measure: str) -> Curve:
    return Curve(name=name, values=torch.cat([getattr(layer, measure) for layer in even]), baseline=True)


def _verdict(context: StackingContext, curves: dict[str, Curve]) -> None:
    """Count the rises and falls of the mean, and measure the spread of the heads within a layer."""
    t, n_heads = context.t, context.scene.trace.projections.spec.H
    if context.depth < 2 or n_heads < 2 or context.tokens.special.count(False) < 2:
        return
    for code, curve in curves.items():
        steps, change = curve.values.diff(), curve.values.max() - curve.values.min()
        assert curve.low is not None
        assert curve.high is not None
        say(
            t(
                "stacking.locality.counted",
                what=t(f"stacking.locality.{code}_word"),
                up=int((steps > 0).sum()),
                down=int((steps < 0).sum()),
                change=at_most(float(change)),
                spread=number(float((curve.high - curve.low).mean())),
            )
        )


def _checks(context: StackingContext, portraits: Layers, even: Layers) -> list[Check]:
    """Check both measures by numpy from the heads' weights and from even spreads, which come last."""
    maps = compute.attention_maps(context.source, context.plan, context.mask).double().numpy()
    spreads = np.stack([even_by_hand(context, layer) for layer in range(context.depth)])
    maps = np.concatenate([maps, np.broadcast_to(spreads[:, None], maps.shape)])
    places = np.arange(maps.shape[-1])
    logarithms = np.log(np.where(maps > 0, maps, 1.0))
    entropy = -(maps * logarithms).sum(-1).mean(-1)
    distance = (maps * np.abs(places - places[:, None])).sum(-1).mean(-1)
    n_heads = maps.shape[1]
    page_values = {
        code: torch.stack([getattr(head_statistics, code).expand(n_heads) for head_statistics in (*portraits, *even)])
        for code in ("entropy", "distance")
    }
    return [
        check("stacking.check_entropy", np.abs(entropy - page_values["entropy"].numpy()).max(), 1e-4),
        check("stacking.check_distance", np.abs(distance - page_values["distance"].numpy()).max(), 1e-4 * len(places)),
        weights_check(context),
    ]


def even_by_hand(context: StackingContext, layer: int) -> np.ndarray:
    """Return rows spread evenly over the cells visible in a layer, (T, T)."""
    trace, options = blocks(context.source, context.plan, context.mask)[layer].attention, layer_options(context, layer)
    added = added_to_scores(trace.q, trace.k, **options)
    visible = np.ones(trace.weights.shape[-2:])
    # A model's own mask may be the lowest finite number in place of -inf.
    if added is not None:
        visible = (added > torch.finfo(added.dtype).min / 2).expand_as(trace.weights).any(0).numpy()
    return visible / np.maximum(visible.sum(-1, keepdims=True), 1)
