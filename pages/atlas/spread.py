"""Histogram of one score over all heads, beside random weights."""

import math

import streamlit as st
import torch

from pages.atlas.checks import head_checks
from pages.atlas.context import AtlasContext, format_score
from pages.atlas.head import draw_head, highest, say_even_on_text
from pages.atlas.parameters import score
from pages.atlas.rule_checks import rule_checks
from viz.components.bars import BarChart
from viz.core.analysis.atlas.summary import histogram
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.show import show_bars

SCORE = score("atlas_of", "first")
"""The score it opens on."""
BINS = 20


def draw(context: AtlasContext | None) -> list[Check]:
    """Render the score, its histogram and the selected head."""
    if context is None:
        return []
    picture = st.container()
    t, name = context.t, context.choose_score(SCORE)
    st.caption(t(f"atlas.d_{name}"))
    layer, head = context.chosen(name)
    score = context.score(name)
    trained, chance = score.mean.flatten(), score.random.flatten()
    edges, (counts, by_chance) = histogram([trained, chance], BINS)
    labels = [number(float(low), 4) for low in edges[:-1]]
    series = {t("atlas.trained"): counts} | ({t("atlas.by_chance"): by_chance} if by_chance.any() else {})
    title = t("atlas.from_on", score=context.title(name), width=number(float(edges[1] - edges[0]), 4))
    chart = BarChart(labels, series, title=title, value_title=t("atlas.heads"))
    with picture:
        show_bars(chart, key="atlas_spread", alt=t("atlas.spread_alt", score=context.title(name)))
    context.say_which()
    middle = format_score(name, float(trained.quantile(0.5)))
    above = int((trained > highest(score)).sum())
    key = "atlas.spread_found" if by_chance.any() else "atlas.spread_alone"
    say(t(key, middle=middle, above=above, all=len(trained), models=len(context.atlas.seeds)))
    draw_head(context, "spread", name, (layer, head))
    return [
        *head_checks(context, name, layer, head),
        *rule_checks(context, name, layer, head),
        _check_counts(trained, edges, counts),
    ]


def formula(context: AtlasContext | None) -> None:
    """Show the quartiles and the level of chance; there is no formula."""
    if context is not None:
        name = SCORE.read(context.names)
        score, models = context.score(name), len(context.atlas.seeds)
        low, high = score.mean.flatten().quantile(torch.tensor([0.25, 0.75])).tolist()
        say(context.t("atlas.spread_half", low=format_score(name, low), high=format_score(name, high)))
        if math.isfinite(most := highest(score)):
            say(context.t("atlas.spread_chance", models=models, chance=format_score(name, most)))
        say_even_on_text(context, name)


def _check_counts(values: torch.Tensor, edges: torch.Tensor, counts: torch.Tensor) -> Check:
    """Torch's own histogram, between the same ends."""
    expected = torch.histc(values.double(), len(counts), float(edges[0]), float(edges[-1]))
    # A value on an edge may fall to either side: the sums up to each edge differ by those values alone.
    on_edge = (values[:, None] - edges).abs().min(-1).values < 1e-5 * float(edges[-1] - edges[0])
    off = float((expected.cumsum(0) - counts.double().cumsum(0)).abs().max())
    return check("atlas.check_counts", max(0.0, off - float(on_edge.sum())), 0.0, n=len(values))
