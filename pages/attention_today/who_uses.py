"""Twenty published models by their features, and how far each variant is from the standard at its switch, now."""

from collections.abc import Mapping

import streamlit as st
import torch

from pages.attention_today.context import TodayContext
from pages.attention_today.models import FEATURES, Model, models
from viz.core.heads import HeadWeights
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.core.variants.today.switches import SWITCHES, standard
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_table
from viz.text import Translate

UNITS = ("mla", "window", "nope", "partial_rope", "top_k")
"""Features whose figures are counts of something."""
SHAPE = (23, 48)
"""Seeded vectors that the switches are tried on: the check is of formulas, whatever the text."""


def draw(context: TodayContext) -> list[Check]:
    """The table, and how many models have each feature."""
    t = context.t
    show_table([_row(context, model) for model in models()])
    counts = {code: sum(code in model.features for model in models()) for code in FEATURES}
    standard_models = sum(not model.features for model in models())
    say(t("attention_today.who_uses.says", all=len(models()), off=standard_models, **counts))
    from_papers = [model.name for model in models() if model.features and not model.config]
    st.caption(t("attention_today.who_uses.sources", names=", ".join(from_papers)))
    return [check(f"attention_today.who_uses.check_{name}", off, 1e-6) for name, off in differences().items()]


def _row(context: TodayContext, model: Model) -> dict[str, str]:
    t = context.t
    features = [
        f"{t(f'attention_today.feature.{code}')}: {size_text(t, code, size)}" for code, size in model.features.items()
    ]
    return {
        t("attention_today.who_uses.model"): model.name,
        t("attention_today.who_uses.year"): str(model.year),
        t("attention_today.who_uses.heads"): model.heads,
        t("attention_today.who_uses.beside"): "; ".join(features) or "–",
    }


def size_text(t: Translate, feature: str, size: str) -> str:
    """Return the size of a feature: a word in the user's language, or figures with their unit, if they have one."""
    if size.isidentifier():
        return t(f"attention_today.size.{size}")
    return t(f"attention_today.unit.{feature}", size=size) if feature in UNITS else size


def differences() -> Mapping[str, float]:
    """Return how far each variant is from standard attention at its switch, on seeded vectors and heads."""
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0))
    weights = HeadWeights.random(AttentionSpec(d_model=SHAPE[1], n_heads=2), seed=0)
    trace = standard(x, weights, allowed=causal(SHAPE[0], SHAPE[0]))
    return {name: switch(trace) for name, switch in SWITCHES.items()}
