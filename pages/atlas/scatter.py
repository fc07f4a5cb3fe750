"""Two scores of every head against each other, beside those of random weights."""

import math

import streamlit as st
import torch

from pages.atlas.checks import head_checks
from pages.atlas.context import AtlasContext, format_score
from pages.atlas.head import draw_head
from pages.atlas.parameters import score
from pages.atlas.rule_checks import rule_checks
from viz.core.analysis.atlas.summary import correlation
from viz.figures.head_points import Points, head_points
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.show import show
from viz.text import paragraph

X, Y = score("atlas_x", "first"), score("atlas_y", "entropy")
"""The scores it opens on."""


def draw(context: AtlasContext | None) -> list[Check]:
    """The two scores, the cloud, how they go together, the head that is chosen."""
    if context is None:
        return []
    t, picture = context.t, st.container()
    with st.container(horizontal=True, gap="small"):
        across, upwards = context.choose_score(X), context.choose_score(Y)
    st.caption(
        paragraph(
            *(t("atlas.what", score=context.title(name), what=t(f"atlas.d_{name}")) for name in (across, upwards))
        )
    )
    layer, head = context.chosen(across)
    x, y = context.score(across), context.score(upwards)
    selected = layer * context.atlas.size[1] + head
    trained, by_chance = (
        Points(
            name=t(f"atlas.{name}"),
            x=xs.flatten(),
            y=ys.flatten(),
            says=_describe_points(context, across, upwards, xs, ys),
        )
        for name, xs, ys in (("trained", x.mean, y.mean), ("by_chance", x.random, y.random))
    )
    fig = head_points(trained, by_chance, selected, x_title=context.title(across), y_title=context.title(upwards))
    names = {"x": context.title(across), "y": context.title(upwards)}
    with picture:
        show(fig, key="atlas_scatter", alt=t("atlas.scatter_alt", **names))
    context.say_which()
    r = float(correlation(x.mean.flatten(), y.mean.flatten()))
    if math.isfinite(r):
        say(t("atlas.correlated", r=number(r), n=x.mean.numel(), **names))
    draw_head(context, "scatter", across, (layer, head))
    return [
        *head_checks(context, across, layer, head),
        *rule_checks(context, across, layer, head),
        _check_r(x.mean, y.mean, r),
    ]


def _describe_points(context: AtlasContext, across: str, upwards: str, xs: torch.Tensor, ys: torch.Tensor) -> list[str]:
    heads = context.atlas.size[1]
    pairs = zip(xs.flatten().tolist(), ys.flatten().tolist(), strict=True)
    return [
        context.t(
            "atlas.hover_two", layer=i // heads, head=i % heads,
            x=context.title(across), y=context.title(upwards), a=format_score(across, a), b=format_score(upwards, b),
        )
        for i, (a, b) in enumerate(pairs)
    ]  # fmt: skip


def _check_r(x: torch.Tensor, y: torch.Tensor, r: float) -> Check:
    """Torch's own correlation, in float64."""
    expected = float(torch.corrcoef(torch.stack([x.flatten(), y.flatten()]).double())[0, 1])
    off = 0.0 if math.isnan(r) and math.isnan(expected) else abs(r - expected)
    return check("atlas.check_r", off, 1e-5)
