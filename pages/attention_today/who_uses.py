"""Twenty published models by their features, and how far each variant is from the standard at its switch, now."""

from collections.abc import Mapping

import torch

from pages.attention_today.context import TodayContext
from pages.attention_today.models import FEATURES, Model, models
from pages.attention_today.parameters import FEATURE, STANDARD
from viz.core.heads import HeadWeights
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.core.variants.today.switches import SWITCHES, standard
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_table

MOST_WORDS = 24
"""Tokens that the switches are tried on: the check is of formulas, and the layer's are compared in float64."""


def draw(context: TodayContext) -> list[Check]:
    """The table, the models of one feature if one is chosen, and how many have it."""
    t = context.t
    codes = ("all", *FEATURES, STANDARD)
    feature = FEATURE.selectbox(
        t("attention_today.who_uses.feature"), codes, says=lambda code: t(f"attention_today.feature.{code}"), width=300
    )
    show_table([_row(context, model) for model in models() if has(model, feature)])
    counts = {code: sum(has(model, code) for model in models()) for code in codes}
    say(t("attention_today.who_uses.says", **counts))
    found = differences(context)
    return [check(f"attention_today.who_uses.check_{name}", off, 1e-6) for name, off in found.items()]


def has(model: Model, feature: str) -> bool:
    """Return True if a model has a feature; of "off", if it has none, and of "all" always."""
    return feature == "all" or (not model.features if feature == STANDARD else feature in model.features)


def _row(context: TodayContext, model: Model) -> dict[str, str]:
    t = context.t
    features = [f"{t(f'attention_today.feature.{code}')}: {size}" for code, size in model.features.items()]
    return {
        t("attention_today.who_uses.model"): model.name,
        t("attention_today.who_uses.year"): str(model.year),
        t("attention_today.who_uses.heads"): model.heads,
        t("attention_today.who_uses.beside"): "; ".join(features) or "–",
    }


def differences(context: TodayContext) -> Mapping[str, float]:
    """Return how far each variant is from standard attention at its switch, on the text's vectors and seeded heads."""
    x = torch.nn.functional.layer_norm(context.layer.x, context.layer.x.shape[-1:])[:MOST_WORDS, :48]
    n, width = x.shape
    weights = HeadWeights.random(AttentionSpec(d_model=width, n_heads=2 if width % 2 == 0 else 1), seed=0)
    made = standard(x, weights, allowed=causal(n, n))
    return {name: switch(made) for name, switch in SWITCHES.items()}
