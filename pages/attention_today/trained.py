"""Small decoders trained with a sink, a gate, the delta rule or a latent vector, each beside its standard twin."""

from collections.abc import Mapping, Sequence

import streamlit as st
import torch

from pages.attention_today import compute
from pages.attention_today.context import TodayContext
from viz.figures.bar_table import Bar, bar_table
from viz.figures.growth import learning
from viz.frame.checks import Check, check
from viz.frame.format import amount, part, span
from viz.frame.show import show_lines
from viz.models.trained import twins
from viz.models.trained.today.modules import DeltaAttention, LatentAttention
from viz.models.trained.today.summary import BASELINES, MEASURES, Spread, measure, summarise
from viz.models.trained.today.train import RECIPE, VARIANTS, Heads, Trained, digest, recorded_digest, trainings
from viz.text import Translate

SHOWN = ("first_share", "induction", "loss")
"""The measures of the table, in this order."""
FOUR_LAYERS = "standard_4"

ByVariant = Mapping[str, Sequence[Trained]]


def draw(context: TodayContext) -> list[Check]:
    """Draw the loss during training, and the table."""
    t, by_variant = context.t, _by_variant()
    summaries = {code: summarise(runs) for code, runs in by_variant.items()}
    seeds = len(by_variant[FOUR_LAYERS])
    _curves(t, by_variant, seeds)
    _table(t, by_variant, summaries)
    st.caption(t("attention_today.trained.runs", seeds=seeds, steps=RECIPE.steps))
    st.caption(t("attention_today.trained.even", even=part(even_share(RECIPE.length)), n=RECIPE.length))
    return _checks(by_variant, summaries)


def _by_variant() -> dict[str, list[Trained]]:
    return {code: [training for training in trainings() if training.variant == code] for code in VARIANTS}


def describe(t: Translate, code: str) -> str:
    """Return a sentence on one variant: each measure, from the lowest to the highest seed, beside the standard's."""
    runs = _by_variant()
    values = {"name": t(f"attention_today.trained.name_{code}"), "seeds": len(runs[code])}
    for suffix, variant in (("", code), ("_standard", BASELINES[code])):
        summary = summarise(runs[variant])
        values |= {
            f"{name}{suffix}": span(write(summary[name].low), write(summary[name].high))
            for name, write in (("first_share", part), ("loss", "{:.2f}".format))
        }
    return t("attention_today.trained.says", **values)


def _table(t: Translate, by_variant: ByVariant, summaries: Mapping[str, Mapping[str, Spread]]) -> None:
    """Draw every measure as bars: a row for each decoder, with its sizes below its name."""
    names = {
        t(f"attention_today.trained.name_{code}"): t(
            "attention_today.trained.sizes", layers=len(VARIANTS[code]), parameters=amount(runs[0].parameters)
        )
        for code, runs in by_variant.items()
    }
    columns = {
        t(f"attention_today.trained.t_{name}"): [
            Bar(spread.mean, spread.low, spread.high, 2 if name == "loss" else 3)
            for spread in (summary[name] for summary in summaries.values())
        ]
        for name in SHOWN
    }
    st.html(bar_table(t("attention_today.trained.t_variant"), names, columns))


def _curves(t: Translate, by_variant: ByVariant, seeds: int) -> None:
    for column, depth in zip(st.columns(2), (2, 4), strict=True):
        curves = {
            t(f"attention_today.trained.name_{code}"): [training.run.loss for training in runs]
            for code, runs in by_variant.items()
            if len(VARIANTS[code]) == depth
        }
        title = t("attention_today.trained.loss", layers=depth)
        steps = by_variant[FOUR_LAYERS][0].run.steps
        with column:
            fig = learning(steps, curves, x_title=t("attention_today.trained.steps"), y_title=title)
            show_lines(fig, key=f"today_loss_{depth}", alt=t("attention_today.trained.alt", layers=depth, seeds=seeds))


def even_share(length: int) -> float:
    """Return the mean share of the first token in even rows behind a causal mask, without the first row."""
    return sum(1 / n for n in range(2, length + 1)) / (length - 1)


def parameters_by_formula(code: str) -> int:
    """Return the parameters of a variant: word tables, norms, feed-forward parts, and each layer's attention."""
    d, H, words = RECIPE.d_model, RECIPE.n_heads, len(twins.words()) + 1
    d_head, latent, rope = d // H, LatentAttention.D_LATENT, LatentAttention.D_ROPE
    standard = 4 * d * d
    delta = 5 * d * d + 3 * d * DeltaAttention.KERNEL + H // 2 * (2 * d + 2) + 2 * d_head
    attention = {
        "sink": standard + H,
        "gate": standard + d * d,
        "latent": d * H * (d_head + rope) + d * (latent + rope) + latent + 2 * latent * d + d * d,
    }
    layers = [delta if module is DeltaAttention else attention.get(code, standard) for module in VARIANTS[code]]
    return 2 * words * d + d + sum(layers) + len(layers) * (3 * d * RECIPE.d_ff + 2 * d)


def _checks(by_variant: ByVariant, summaries: Mapping[str, Mapping[str, Spread]]) -> list[Check]:
    """Check the record: its recipe, its sizes, the untrained heads that are measured again now, and the summaries."""
    sizes = [
        abs(training.parameters - parameters_by_formula(code)) for code, runs in by_variant.items() for training in runs
    ]
    before = [
        _apart(runs[0].before, compute.untrained_heads(code, runs[0].run.seed)) for code, runs in by_variant.items()
    ]
    again = [
        abs(a - b)
        for code, runs in by_variant.items()
        for name in MEASURES
        for a, b in zip(_limits_by_hand(runs, name), vars(summaries[code][name]).values(), strict=True)
    ]
    return [
        check("attention_today.trained.check_recipe", float(recorded_digest() != digest(RECIPE)), 0.0),
        check("attention_today.trained.check_sizes", max(sizes), 0.0),
        check("attention_today.trained.check_before", max(before), 1e-4),
        check("attention_today.trained.check_spread", max(again), 1e-6),
    ]


def _apart(record: Heads, heads: Heads) -> float:
    """Return the largest difference between two measurements of the same heads."""
    return max(
        abs(a - b)
        for name, rows in vars(record).items()
        for row, row_now in zip(rows, vars(heads)[name], strict=True)
        for a, b in zip(row, row_now, strict=True)
    )


def _limits_by_hand(runs: Sequence[Trained], name: str) -> tuple[float, float, float]:
    """Return mean, lowest and highest of a measure, by torch and from the sorted values."""
    values = torch.tensor([measure(training, name) for training in runs], dtype=torch.float64).sort().values
    return float(values.mean()), float(values[0]), float(values[-1])
