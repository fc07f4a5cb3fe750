"""Thirty published models by their features, and how far each variant is from the standard at its switch, now."""

from collections.abc import Mapping

import streamlit as st
import torch

from pages.attention_today.context import TodayContext
from pages.attention_today.models import FEATURES, Model, models
from viz.components.matrix import Axis, Matrix
from viz.core.heads import HeadWeights
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.core.variants.today.switches import SWITCHES, standard
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_matrix, show_table
from viz.text import Translate

UNITS = ("mla", "window", "nope", "partial_rope", "top_k", "compressed", "depth")
"""Features whose figures are counts of something."""
SHAPE = (23, 48)
"""Seeded vectors that the switches are tried on: the check is of formulas, whatever the text."""


def draw(context: TodayContext) -> list[Check]:
    """Draw who has which feature, say how many have it, and show the sizes in a table."""
    t = context.t
    counts = {code: sum(code in model.features for model in models()) for code in FEATURES}
    features = sorted(FEATURES, key=counts.__getitem__, reverse=True)
    model, year, heads, beside = (
        t(f"attention_today.who_uses.{name}") for name in ("model", "year", "heads", "beside")
    )
    matrix = Matrix(
        values=torch.tensor([[1.0 if code in of.features else torch.nan for code in features] for of in models()]),
        rows=Axis([of.name for of in models()], model),
        columns=Axis([t(f"attention_today.feature.{code}") for code in features], beside),
        kind="sizes",
        hover=[[f"{of.name} ({of.year}, {of.heads}) · {_sized(t, of, code)}" for code in features] for of in models()],
        scale=False,
    )
    show_matrix(t, matrix, key="who_uses", alt=t("attention_today.who_uses.lead"))
    standard_models = sum(not of.features for of in models())
    say(t("attention_today.who_uses.says", all=len(models()), off=standard_models, **counts))
    with st.expander(t("attention_today.who_uses.sizes")):
        rows = [(of, "; ".join(_sized(t, of, code) for code in of.features)) for of in models()]
        show_table([{model: of.name, year: str(of.year), heads: of.heads, beside: has or "–"} for of, has in rows])
        from_papers = [of.name for of in models() if of.features and not of.config]
        st.caption(t("attention_today.who_uses.sources", names=", ".join(from_papers)))
    return [check(f"attention_today.who_uses.check_{name}", off, 1e-6) for name, off in differences().items()]


def _sized(t: Translate, model: Model, feature: str) -> str:
    size = model.features.get(feature)
    return f"{t(f'attention_today.feature.{feature}')}: {size_text(t, feature, size) if size else '–'}"


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
